package decide

import "time"

// Phase is the phase of a stock pool. A stock pool that could not be observed has none.
type Phase string

// The phases. One that could not be observed has none.
const (
	Pending     Phase = "Pending"     // no pod is ready yet
	Progressing Phase = "Progressing" // a rollout is in progress
	Ready       Phase = "Ready"       // everything is in sync and ready
	Degraded    Phase = "Degraded"    // pods are missing, and nothing is in progress
	Pausing     Phase = "Pausing"     // a budget scaled it to zero, and pods still hold GPUs
	Paused      Phase = "Paused"      // a budget scaled it to zero, and no pod holds a GPU
)

// Phases are all phases, the best first.
func Phases() []Phase { return []Phase{Ready, Progressing, Pending, Pausing, Paused, Degraded} }

// Status is how a stock pool is.
type Status struct {
	// The phase. Absent if the stock pool could not be observed.
	Phase Phase `json:"phase,omitempty"`
	// The desired number of pods.
	Desired int `json:"desired"`
	// The number of pods.
	Replicas int `json:"replicas"`
	// Pods in use.
	Allocated int `json:"allocated"`
	// Pods that are ready and not in use.
	Available int `json:"available"`
	// Pods that no node has room for.
	Waiting int `json:"waiting"`
	// Fewest is how many a scale-down has to leave so that none in use ends.
	Fewest int `json:"-"`
	// The generation of the declaration that was last applied.
	ObservedGeneration int64 `json:"observed_generation"`
	// When the Deployment was last in sync.
	SyncedAt time.Time `json:"synced_at,omitzero"`
	// The UID of its Deployment.
	DeploymentUID string `json:"deployment_uid,omitempty"`
	// The conditions.
	Conditions []Condition `json:"conditions,omitempty"`
}

// Condition is one thing that is so or not, and why.
type Condition struct {
	// The type of the condition.
	Type string `json:"type"`
	// `True`, `False` or `Unknown`.
	Status string `json:"status"`
	// The reason in one word.
	Reason string `json:"reason"`
	// The details. For `Scheduled`, the message of the scheduler, and the spot pools that could run
	// the pods.
	Message string `json:"message,omitempty"`
}

const yes, no, unknown = "True", "False", "Unknown"

// The types of conditions.
const (
	Synced       = "Synced"       // the Deployment is as declared
	WithinBudget = "WithinBudget" // no budget holds it back
	Scheduled    = "Scheduled"    // each pod has a node
	Started      = "Started"      // each pod with a node runs
	RolledOut    = "RolledOut"    // all pods are as the Deployment is now
	Stocked      = "Stocked"      // as many are available as are to be kept so; where that is kept
)

// Of is a condition of a type; the zero value where there is none.
func (s Status) Of(kind string) Condition {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return Condition{}
}

// Settled says whether nothing is under way that would make more pods ready: they are,
// or a budget or the maximum keeps the others back.
func (s Status) Settled() bool {
	held := s.Of(WithinBudget).Status != yes || s.Of(Stocked).Reason == AtMaximum
	all := s.Of(RolledOut).Status == yes && s.Allocated+s.Available >= s.Desired
	return s.Phase == Ready || s.Phase == Paused || held && all
}

// AtMaximum is the reason of Stocked where the pool may have no more pods.
const AtMaximum = "AtMaximum"
