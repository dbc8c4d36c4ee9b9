package decide

import "time"

// Phase says how a stock pool is, in a word.
type Phase string

// The phases. One that could not be observed has none.
const (
	Pending     Phase = "Pending"     // no pod of it is ready yet
	Progressing Phase = "Progressing" // a rollout is under way
	Ready       Phase = "Ready"       // all that is declared is there
	Degraded    Phase = "Degraded"    // something is missing, and nothing is under way
	Pausing     Phase = "Pausing"     // a budget has it scaled to zero, and pods still hold GPUs
	Paused      Phase = "Paused"      // a budget has it scaled to zero, and none does
)

// Phases are all phases, the best first.
func Phases() []Phase { return []Phase{Ready, Progressing, Pending, Pausing, Paused, Degraded} }

// Status is how a stock pool is.
type Status struct {
	Phase Phase `json:"phase,omitempty"`
	// Desired is how many pods it is to have now, and Replicas how many there are;
	// Allocated of these are in use, and Available are ready and not in use.
	Desired   int `json:"desired"`
	Replicas  int `json:"replicas"`
	Allocated int `json:"allocated"`
	Available int `json:"available"`
	// Waiting is how many have no node, as none has room.
	Waiting int `json:"waiting"`
	// Fewest is how many a scale-down has to leave so that none in use ends.
	Fewest int `json:"-"`
	// ObservedGeneration is that of the declaration which was last applied.
	ObservedGeneration int64       `json:"observed_generation"`
	SyncedAt           time.Time   `json:"synced_at,omitzero"`
	DeploymentUID      string      `json:"deployment_uid,omitempty"`
	Conditions         []Condition `json:"conditions,omitempty"`
}

// Condition is one thing that is so or not, and why.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"` // True, False or Unknown
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// What a condition's status is.
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
