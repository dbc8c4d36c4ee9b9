package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// maxPaused limits how many paused workloads a status lists.
const maxPaused = 100

// PausedWorkload is a workload that a budget paused, with its size before that.
type PausedWorkload struct {
	Workload
	// The replicas to restore of a Deployment or StatefulSet.
	Replicas int32 `json:"replicas,omitempty"`
	// When the budget paused it.
	Since time.Time `json:"since,omitzero"`
}

// ResumeCommand is the kubectl command that undoes the pause. A size below 1 is unknown.
func (p PausedWorkload) ResumeCommand() string {
	kind := strings.ToLower(p.Kind)
	object := kind + "/" + p.Name + " --namespace " + p.Namespace
	if kind == "job" || kind == "cronjob" {
		return "kubectl patch " + object + ` --type merge --patch '{"spec":{"suspend":false}}'`
	}
	return fmt.Sprintf("kubectl scale %s --replicas %d", object, max(p.Replicas, 1))
}

// WithPaused returns the status with the workloads that the budget has paused.
func (s Status) WithPaused(list []PausedWorkload) Status {
	list = slices.SortedFunc(slices.Values(list), func(a, b PausedWorkload) int {
		return cmp.Or(strings.Compare(a.Workload.String(), b.Workload.String()), strings.Compare(a.UID, b.UID))
	})
	s.Paused, s.PausedLeftOut = list[:min(len(list), maxPaused)], max(len(list)-maxPaused, 0)
	return s
}

// maxLost limits how many lost pauses are listed.
const maxLost = 20

// LostPauses returns a warning for each workload that is stopped but in no document of pauses: nothing
// resumes it.
func LostPauses(list []PausedWorkload) (lost reason.Reasons) {
	for _, p := range list[:min(len(list), maxLost)] {
		lost = append(lost, reason.PauseLost(reason.Workload(p.Workload.String()), reason.Text(p.ResumeCommand())))
	}
	if more := len(list) - maxLost; more > 0 {
		lost = append(lost, reason.MorePausesLost(reason.Count(more)))
	}
	return lost
}
