package exception_test

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
)

// A hold or a grant has an end, a person and a reason.
func Example() {
	now := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	hold, err := exception.Request{For: time.Hour, Who: "ana", Why: "driver upgrade"}.Begin("h-1", now)
	fmt.Println(hold, err)
	fmt.Println(len(exception.InForce([]exception.Exception{hold}, now.Add(59*time.Minute))))
	fmt.Println(len(exception.InForce([]exception.Exception{hold}, now.Add(time.Hour))))
	_, err = exception.Request{For: time.Hour, Who: "ana"}.Begin("h-2", now)
	fmt.Println(err != nil) // it has no reason
	// Output:
	// by ana until 2030-01-01T10:00:00Z: driver upgrade <nil>
	// 1
	// 0
	// true
}
