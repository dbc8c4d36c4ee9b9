package budget

import (
	"fmt"
	"strings"
)

// Unrecognized is an object with a gpupool label that this version does not use. Most likely an older
// version left it, and no run changes it.
type Unrecognized struct {
	Object   string // as in kubectl: "deployment/serve in the namespace ml"
	Label    string
	Means    string   // what the label meant
	Commands []string // that resume and remove it
}

// String returns a warning with one command per line.
func (u Unrecognized) String() string {
	return fmt.Sprintf("%s has the label %s, which this gpupool does not use there: %s, and no run changes it. To remove it:\n%s", u.Object, u.Label, u.Means,
		strings.Join(u.Commands, "\n"))
}
