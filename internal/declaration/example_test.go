package declaration_test

import (
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// A document of a newer version is an error: its unknown fields would be lost.
func ExampleDecode() {
	_, err := declaration.Decode[declaration.Budget]("team-a", []byte(`{"version": 99}`))
	fmt.Println(strings.Contains(err.Error(), "99"))
	// Output: true
}
