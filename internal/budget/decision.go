package budget

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Decision is one thing to do because of a budget, with its reasons.
type Decision struct {
	Kind   Kind   `json:"kind"`
	Object string `json:"object"` // "budget/team-a"
	// Thresholds are the percents that an alert tells of, the lowest first.
	Thresholds []int `json:"thresholds,omitempty"`
	// Namespaces are where an alert, a freeze or its end is told of.
	Namespaces []string `json:"namespaces,omitempty"`
	// Pod is the victim of an eviction, or what ends already.
	Pod *Pod `json:"pod,omitempty"`
	// Rank is where a victim stands among the others, which its last reason says; nil
	// where they have no order.
	Rank *Rank `json:"-"`
	// Owner is what is suspended or resumed.
	Owner *Workload `json:"owner,omitempty"`
	// Waiting are the uids of the pods that the owner has waiting for GPUs. They are
	// to be gone before what holds GPUs is suspended.
	Waiting []string `json:"-"`
	// Holding are the owner's pods that hold GPUs.
	Holding []string `json:"-"`
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
