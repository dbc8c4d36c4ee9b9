package budget

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Decision is one action of a budget, with its reasons.
type Decision struct {
	// The kind of the decision.
	Kind Kind `json:"kind"`
	// The budget, such as `budget/team-a`.
	Object string `json:"object"`
	// The thresholds of an alert, in percent.
	Thresholds []int `json:"thresholds,omitempty"`
	// The namespaces of an alert or a freeze.
	Namespaces []string `json:"namespaces,omitempty"`
	// The evicted pod, or the one with a shorter grace period.
	Pod *Pod `json:"pod,omitempty"`
	// Rank is where a victim stands among the others, which its last reason says; nil
	// where they have no order.
	Rank *Rank `json:"-"`
	// The paused or resumed workload.
	Owner *Workload `json:"owner,omitempty"`
	// Waiting are the uids of the pods that the owner has waiting for GPUs. They are
	// to be gone before what holds GPUs is suspended.
	Waiting []string `json:"-"`
	// Holding are the owner's pods that hold GPUs.
	Holding []string `json:"-"`
	// The reasons, as text.
	Reasons []string `json:"reasons"`
}

// Verb is what Summary begins with.
func (d Decision) Verb() wording.Verb { return d.Kind.Data().Verb }

// Heading is the decision's kind, what it is about, and why it was made.
func (d Decision) Heading() (kind, object string, reasons []string) {
	return string(d.Kind), d.Object, d.Reasons
}

// Rank is where a victim stands among the others.
type Rank struct {
	Number, Of int
	Order      EvictionOrder
	Why        string // what places it there
}

// String says it as a reason.
func (r Rank) String() string {
	return fmt.Sprintf("it is number %d of %d by %s: %s", r.Number, r.Of, r.Order, r.Why)
}
