package budget

import "fmt"

// Unrecognized is an object with a label of gpupool that this one gives no meaning: most
// likely an older gpupool left it, and no run changes it.
type Unrecognized struct {
	Object string // as kubectl has it, such as "deployment/serve in the namespace ml"
	Label  string
	Means  string // what the label meant
	Remedy string // commands
}

// String warns of it, and says how to remove it.
func (u Unrecognized) String() string {
	return fmt.Sprintf("%s has the label %s, which this gpupool does not know there: %s, and no run changes it. %s", u.Object, u.Label, u.Means, u.Remedy)
}
