package wording_test

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

func Example() {
	ids := []string{"ins-1", "ins-2", "ins-3", "ins-4", "ins-5", "ins-6", "ins-7"}
	fmt.Println(wording.Because("terminate "+wording.Some(ids), []string{"total 9 is above maximum 2"}))
	// Output: terminate ins-1, ins-2, ins-3, ins-4 and 3 more: total 9 is above maximum 2
}
