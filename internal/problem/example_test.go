package problem_test

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
)

// A validation reports every problem of a declaration at once, each at its attribute.
func ExampleList() {
	var list problem.List
	list.Within("maximum", 20_000, 0, 10_000, "", "Choose fewer.")
	problem.OneOf(&list, "on_destroy", "keep", "delete", "retain")
	for _, p := range list {
		fmt.Println(p.Attribute+":", p.Summary)
	}
	// Output:
	// maximum: 20000 is out of range: it must be between 0 and 10000
	// on_destroy: "keep" is not known
}
