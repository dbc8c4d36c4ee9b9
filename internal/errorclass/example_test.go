package errorclass_test

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
)

// A caller asks what helps, and not who refused.
func Example() {
	for _, class := range []errorclass.Class{errorclass.Capacity, errorclass.Authorization, errorclass.Transient} {
		switch class {
		case errorclass.Capacity, errorclass.Price:
			fmt.Println(class, "try another offering")
		case errorclass.Transient:
			fmt.Println(class, "repeat the same later")
		default:
			fmt.Println(class, "a person must change something")
		}
	}
	// Output:
	// capacity try another offering
	// authorization a person must change something
	// transient repeat the same later
}
