package budget

import "github.com/gpupool/terraform-provider-gpupool/internal/ledger"

// Kind is what a decision does.
type Kind string

// The kinds of decisions about budgets.
const (
	KindAlert    Kind = "alert"    // Events in the pods' namespaces, and the report
	KindFreeze   Kind = "freeze"   // bind the policy
	KindUnfreeze Kind = "unfreeze" // lift it
	KindSuspend  Kind = "suspend"  // pause one owner
	KindResume   Kind = "resume"   // undo that
	KindEvict    Kind = "evict"    // one pod
)

// Decision is one thing to do because of a budget, with its reasons.
type Decision struct {
	Kind   Kind   `json:"kind"`
	Object string `json:"object"` // "budget/team-a"
	// Threshold is the percent that an alert tells of.
	Threshold int `json:"threshold,omitempty"`
	// Namespaces are where an alert, a freeze or its end is told of.
	Namespaces []string `json:"namespaces,omitempty"`
	// Pod is the victim of an eviction.
	Pod *Pod `json:"pod,omitempty"`
	// Owner is what is suspended or resumed.
	Owner   *Workload `json:"owner,omitempty"`
	Reasons []string  `json:"reasons"`
}

// Workload names the owner of pods.
type Workload struct {
	Namespace  string `json:"namespace"`
	APIVersion string `json:"api_version"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

// Pod is a pod that holds GPUs now, as enforcement sees it.
type Pod struct {
	UID       string `json:"uid"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`

	Set *ledger.LabelSet `json:"-"` // its labels of now
	// Charged is what the ledger counts it by, frozen when it was first seen; nil
	// where the ledger has not seen it. A label edit moves neither usage nor blame.
	Charged           *ledger.LabelSet  `json:"-"`
	Owner             Workload          `json:"-"`
	Start             ledger.Time       `json:"-"`
	MilliGPUs         int64             `json:"-"`
	Priority          int32             `json:"-"`
	PriorityClassName string            `json:"-"`
	Annotations       map[string]string `json:"-"`
	Spot              bool              `json:"-"`
	Deleting          bool              `json:"-"`
	Mirror            bool              `json:"-"`
	Finished          bool              `json:"-"` // holds nothing any more
}
