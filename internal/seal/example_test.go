package seal_test

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/seal"
)

// A sealed document is of one name: a copy under another name does not open.
func ExampleForm() {
	form := seal.Form{Magic: "example", Version: 1}
	line, _ := form.Line("2030-01-01", "cluster-1")
	document := []byte("the content " + line)
	form.Close("2030-01-01", "cluster-1", document)
	for _, name := range []string{"2030-01-01", "2030-01-02"} {
		_, err := form.Open(name, "cluster-1", document)
		fmt.Println(name, err)
	}
	document[0]++
	_, err := form.Open("2030-01-01", "cluster-1", document)
	fmt.Println(err)
	// Output:
	// 2030-01-01 <nil>
	// 2030-01-02 it was written under another name
	// its checksum is not that of its content
}
