package decide

import (
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Phase is the phase of a stock pool. A stock pool that could not be observed has none.
type Phase string

// A pool that was not observed has no phase.
const (
	Pending     Phase = "Pending"     // no pod is ready yet
	Progressing Phase = "Progressing" // a rollout is in progress
	Ready       Phase = "Ready"       // everything is in sync and ready
	Degraded    Phase = "Degraded"    // pods are missing, and nothing is in progress
	Pausing     Phase = "Pausing"     // a budget scaled it to zero, and pods still hold GPUs
	Paused      Phase = "Paused"      // a budget scaled it to zero, and no pod holds a GPU
)

// Phases returns all phases, the best first.
func Phases() []Phase { return []Phase{Ready, Progressing, Pending, Pausing, Paused, Degraded} }

// Status is the observed state of a stock pool.
type Status struct {
	// The phase.
	Phase Phase `json:"phase"`
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
	// Fewest is how many a scale-down must leave so that it deletes none in use.
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

// Condition is like a condition of a Kubernetes object.
type Condition struct {
	// The type of the condition.
	Type string `json:"type"`
	// `True`, `False` or `Unknown`.
	Status string `json:"status"`
	// The reason in one word.
	Reason string `json:"reason"`
	// The details. For `Scheduled`, the message of the scheduler.
	Message reason.Reason `json:"message,omitzero"`
	// For `Scheduled`, the spot pools that could run the pods, or why none can.
	Rooms reason.Reasons `json:"rooms,omitempty"`
}

// For returns the condition as a reader of the stock pool may see it.
func (c Condition) For(reader reason.Renderer) Condition {
	c.Message, c.Rooms = reader.Redact(c.Message), reader.RedactAll(c.Rooms)
	return c
}

// Text returns the details for a reader of the whole installation, each on a line of its own.
func (c Condition) Text() string {
	return strings.Join(append([]string{c.Message.String()}, c.Rooms.Texts()...), "\n")
}

const yes, no, unknown = "True", "False", "Unknown"

// Types of conditions.
const (
	Synced       = "Synced"       // the Deployment is in sync
	WithinBudget = "WithinBudget" // no budget limits it
	Scheduled    = "Scheduled"    // each pod has a node
	Started      = "Started"      // each pod with a node runs
	RolledOut    = "RolledOut"    // all pods are up to date
	Stocked      = "Stocked"      // enough pods are available; only with replicas_policy = "available"
)

// Of returns the condition of a type; the zero value if there is none.
func (s Status) Of(kind string) Condition {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return Condition{}
}

// Settled reports whether no more pods are about to become ready: all are, or a budget or the
// maximum blocks the rest.
func (s Status) Settled() bool {
	held := s.Of(WithinBudget).Status != yes || s.Of(Stocked).Reason == AtMaximum
	all := s.Of(RolledOut).Status == yes && s.Allocated+s.Available >= s.Desired
	return s.Phase == Ready || s.Phase == Paused || held && all
}

// AtMaximum is the reason of Stocked if the pool is at its maximum.
const AtMaximum = "AtMaximum"
