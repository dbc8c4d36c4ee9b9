package weight_test

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// Seven slices of a seventh are one GPU: weights are exact.
func ExampleParse() {
	slice, _ := weight.Parse("1/7")
	sum, _ := weight.Parse("0")
	for range 7 {
		sum.Add(sum, slice)
	}
	fmt.Println(sum.RatString())
	// Output: 1
}
