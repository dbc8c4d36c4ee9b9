package budget

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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
	// Rank is the position of the pod in the eviction order, its last reason; nil without an order.
	Rank *Rank `json:"-"`
	// The paused or resumed workload.
	Owner *Workload `json:"owner,omitempty"`
	// Waiting are the UIDs of the owner's pods that wait for GPUs. They must be gone before a
	// workload with GPUs is paused.
	Waiting []string `json:"-"`
	// Holding are the owner's pods that hold GPUs.
	Holding []string `json:"-"`
	// CronJob is the UID of the owner's CronJob, or empty.
	CronJob string `json:"-"`
	// The reasons.
	Reasons reason.Reasons `json:"reasons"`
}

// Verb returns the first word of Summary.
func (d Decision) Verb() wording.Verb { return d.Kind.Data().Verb }

// For returns the decision as a reader of its budget may see it.
func (d Decision) For(reader reason.Renderer) Decision {
	d.Reasons = reader.RedactAll(d.Reasons)
	return d
}

// Heading returns the decision's kind, object and reasons.
func (d Decision) Heading() (kind, object string, reasons reason.Reasons) {
	return string(d.Kind), d.Object, d.Reasons
}

// Rank is the position of a pod in the eviction order.
type Rank struct {
	Number, Of int
	Order      EvictionOrder
	Why        reason.Reason // the reason for the position
}

// Reason returns the rank as a reason.
func (r Rank) Reason() reason.Reason {
	return reason.Ranked(reason.Count(r.Number), reason.Count(r.Of), reason.Word(r.Order), r.Why)
}
