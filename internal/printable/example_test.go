package printable_test

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// A tenant chooses the names of pods, which must not steer an operator's terminal.
func ExampleLine() {
	fmt.Println(printable.Line("pod\x1b[2J\nno pods"))
	// Output: pod\u001b[2J\u000ano pods
}
