package budget

import (
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Unrecognized is an object with a gpupool label that this version does not use. Most likely an older
// version left it, and no run changes it.
type Unrecognized struct {
	Object   string // as in kubectl: "deployment/serve in the namespace ml"
	Label    string
	Means    reason.Reason // what the label meant
	Commands []string      // that resume and remove it
}

// Warning returns a warning with one command per line.
func (u Unrecognized) Warning() reason.Reason {
	return reason.Unrecognized(reason.Workload(u.Object), reason.Word(u.Label), u.Means, reason.Text(strings.Join(u.Commands, "\n")))
}
