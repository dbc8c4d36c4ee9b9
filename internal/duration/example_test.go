package duration_test

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

func Example() {
	d, err := duration.Parse("1w12h")
	fmt.Println(duration.String(d), err)
	fmt.Println(duration.Words(d + d))
	// Output:
	// 180h <nil>
	// 15d
}
