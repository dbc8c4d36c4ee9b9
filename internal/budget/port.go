package budget

import (
	"errors"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// PodRef names one pod, and no later one of the same name.
type PodRef struct{ Namespace, Name, UID string }

// Eviction is how one pod is to be evicted.
type Eviction struct {
	PodRef
	Grace int64 // seconds that the pod gets to end
	// Waiting is the resource version of a pod that no kubelet had accepted: it is
	// evicted only while none has. Empty for any other pod.
	Waiting string
}

// Event is a Kubernetes Event to record because of a budget.
type Event struct {
	Namespace string
	Budget    string
	BudgetUID string
	Reason    string // "GPUBudgetThreshold"
	// About is the pod or workload that it is about; nil for the namespace.
	About *Workload
	// Threshold tells alerts of one reason apart; those of the same, about the same,
	// are one Event.
	Threshold int
	Message   string
	Warning   bool
}

// On is the event about one object.
func (e Event) On(w Workload) Event {
	e.Namespace, e.About = w.Namespace, &w
	return e
}

// FreezeRule keeps new GPU pods of a budget's selector out.
type FreezeRule struct {
	Budget    string
	BudgetUID string
	Selector  Selector
	// ProtectedNamespaces are never enforced on, in addition to system namespaces.
	ProtectedNamespaces []string
	// IgnorePodProtection says that what is written on a pod itself does not let it
	// in.
	IgnorePodProtection bool
	// Resources are counted in addition to the default ones.
	Resources []string
	// Ignored are not counted, whatever is by default: resources and DRA drivers.
	Ignored []string
	// RecoversAt is about when it ends by itself, for users whose pods are blocked; zero if that
	// is not known.
	RecoversAt time.Time
}

// SlotWrite is the last write of another process to the bindings that freezes use, while they block nothing. The
// zero value is none.
type SlotWrite struct {
	Manager string // the field manager
	At      time.Time
}

// WorkloadState is a workload as it was seen.
type WorkloadState struct {
	Workload
	ResourceVersion string
	Replicas        int32 // of a Deployment or StatefulSet
	// Labels and PriorityClassName are those of its template of pods.
	Labels            map[string]string
	PriorityClassName string
	// Stopped says that it is suspended, or has no replicas.
	Stopped bool
	// PauseObstacle is why it must not be paused, such as a controller that starts and stops it; or zero.
	PauseObstacle reason.Reason
	CreatedAt     time.Time
	// Concurrent says that a CronJob may run several Jobs at once.
	Concurrent bool
}

// Autoscaler is a HorizontalPodAutoscaler that scales a workload. The zero value is none.
type Autoscaler struct {
	Name string
	// FromZero says that it also scales a workload without replicas, and so would undo a pause.
	FromZero bool
}

// Obstacle returns why the workload must not be paused; zero if it may be.
func (a Autoscaler) Obstacle() reason.Reason {
	if !a.FromZero {
		return reason.Reason{}
	}
	return reason.ScaledFromZero(reason.NewValue(a.Name))
}

func (a Autoscaler) String() string { return "the HorizontalPodAutoscaler " + a.Name + " scales it" }

// ErrWorkloadChanged says that a workload no longer is as observed.
var ErrWorkloadChanged = errors.New("another process keeps changing it")

// EvictionBlockedError says that a disruption budget does not allow an eviction.
type EvictionBlockedError struct {
	Pod PodRef
	Err error
}

// Because returns which pod, and what the API server said.
func (e *EvictionBlockedError) Because() reason.Reason {
	return reason.EvictionBlocked(reason.Workload(e.Pod.Namespace+"/"+e.Pod.Name), reason.Failure(e.Err))
}

// Error is Because as text.
func (e *EvictionBlockedError) Error() string { return e.Because().String() }

// Unwrap returns the API server's error.
func (e *EvictionBlockedError) Unwrap() error { return e.Err }

// NotPausedError says why a workload cannot be paused or resumed, or must not be.
type NotPausedError struct {
	Workload Workload
	Why      reason.Reason
	Gone     bool // it no longer exists
	Stopped  bool // another process stopped it
	// Released says that the budget no longer holds it.
	Released bool
}

// Error is Because as text.
func (e *NotPausedError) Error() string { return e.Because().String() }

// Because names the workload and the reason.
func (e *NotPausedError) Because() reason.Reason {
	return reason.LeftAsIs(reason.Workload(e.Workload.String()), e.Why)
}

// FreezeLag is how long a freeze may take to apply. An API server reads new policy bindings once a second,
// and usually learns of them by a watch first. See pkg/admission/plugin/policy/generic/policy_source.go in
// k8s.io/apiserver.
const FreezeLag = 3 * time.Second
