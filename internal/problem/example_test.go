package problem_test

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// A validation reports every problem of a declaration at once, each at its attribute.
func ExampleList() {
	var list problem.List
	list.Within("maximum", 20_000, 0, 10_000, reason.MaximumRange)
	list.Name("name", "Train\n", "stock_pool")
	problem.OneOf(&list, "on_destroy", "keep", "delete", "retain")
	for _, p := range list {
		fmt.Println(p)
	}
	// Output:
	// maximum: 20000 is out of range: it must be between 0 and 10000. Split a larger pool: more than 10000 instances cannot be listed within seconds.
	// name: "Train\n" is not a valid name of a stock pool. Use 1 to 50 lower-case letters, digits and hyphens, with a letter or digit first and last.
	// on_destroy: "keep" is not known. Choose one of "delete", "retain".
}
