package reconcile

import (
	"context"
	"errors"
	"math/big"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// Cluster is what budgets need of a Kubernetes cluster. Errors name the verb and
// the object, and wrap the API's own.
type Cluster interface {
	// UID is that of the namespace kube-system: a cluster's identity.
	UID(ctx context.Context) (string, error)
	// Now is the API server's clock, by its last answer; zero before the first.
	Now() time.Time
	// Observe looks at the cluster. With a resource version it replays the watch
	// of pods from there, and where that is complete it lists no pods.
	Observe(ctx context.Context, o ObserveOptions) (ClusterObservation, error)
	// LivePods lists afresh the pods with GPUs that a selector may cover (it may
	// answer more, never fewer), those that wait for GPUs included: what is enforced
	// is judged on these.
	LivePods(ctx context.Context, o LiveOptions) ([]gpu.Sighting, error)
	// PodEvents looks up, in the cluster's Events, when pods ended: by uid.
	PodEvents(ctx context.Context, pods []PodRef) (map[string]time.Time, error)

	// Alert records an Event in a namespace, because of a budget.
	Alert(ctx context.Context, a Alert) error
	// Freezes lists the budgets whose freeze is in force.
	Freezes(ctx context.Context) ([]Freeze, error)
	// Freeze keeps new GPU pods out; again with the same is nothing new.
	Freeze(ctx context.Context, f Freeze) error
	// Unfreeze lifts a budget's freeze; lifting what is not in force is no error.
	Unfreeze(ctx context.Context, budgetUID string) error
	// Owners says which workloads would be paused for pods, by the pods' uids.
	Owners(ctx context.Context, pods []budget.Pod, rules gpu.Rules) (map[string]budget.Ownership, error)
	// Workload looks at a workload. The error is *NotPausedError where it is gone, or
	// can't be paused.
	Workload(ctx context.Context, w budget.Workload) (WorkloadState, error)
	// Autoscaler says which autoscaler scales a workload, or nothing.
	Autoscaler(ctx context.Context, w budget.Workload) (string, error)
	// Pause suspends a Job, or scales a Deployment or StatefulSet to zero, if it is
	// still as it was seen; else ErrWorkloadChanged.
	Pause(ctx context.Context, seen WorkloadState) error
	// Resume undoes a pause, if the workload is still as it was seen.
	Resume(ctx context.Context, seen WorkloadState, replicas int32) error
	// Evict asks for the eviction of exactly this pod; of one that ends already, to
	// end it sooner. The error is
	// *EvictionBlockedError where a disruption budget does not allow it, and nil
	// where the pod is gone already.
	Evict(ctx context.Context, e Eviction) error
	// Calls counts the API calls made so far, by verb and resource.
	Calls() map[string]int
}

// PodRef names one pod, and no later one of the same name.
type PodRef struct{ Namespace, Name, UID string }

// LiveOptions say which pods to list afresh.
type LiveOptions struct {
	Selector budget.Selector
	Rules    gpu.Rules
	// Waiting asks for the pods alone that are not bound to a node.
	Waiting bool
}

// Eviction is how one pod is to be evicted.
type Eviction struct {
	PodRef
	Grace int64 // seconds that the pod gets to end
	// Waiting is the resource version of a pod that was not bound to a node: it is
	// evicted only while it is not. Empty for any other pod.
	Waiting string
}

// ObserveOptions say what to look at.
type ObserveOptions struct {
	// From is where the replay begins; empty for none.
	From string
	// Nodes are those that earlier looks saw, gone or not.
	Nodes []gpu.Node
	// List asks for a list of all pods also where the replay is complete.
	List bool
	// Relist asks for such a list by what the look shows; nil never does.
	Relist func(at time.Time, nodes []gpu.Node) bool
	Rules  gpu.Rules
}

// ClusterObservation is one look at a cluster.
type ClusterObservation struct {
	ClusterUID string
	At         time.Time // the API server's clock, from its Date header
	// ResourceVersion is where the next replay begins.
	ResourceVersion string
	Replay          Replay
	// Listed says that Pods are all pods that hold GPUs, or are to, or say so, and all that
	// have devices by claim, even where these can no longer be read. Else they are
	// those that changed since the replay's beginning.
	Listed bool
	Pods   []gpu.Sighting
	// Nodes are all nodes of the cluster, each with the most that was ever seen of
	// it.
	Nodes []gpu.Node
	// Namespaces are the labels of every namespace, by name; the annotation that
	// protects one is among them.
	Namespaces map[string]map[string]string
	// Allocatable is how many GPUs the nodes could give to pods now.
	Allocatable *big.Rat
	// PriorityClasses are the values of the priority classes, by name.
	PriorityClasses map[string]int32
	Warnings        []string
}

// Replay is what the watch told of the time since the last run.
type Replay struct {
	// Complete says that nothing can be missing between the last run and this one.
	Complete bool
	// Reason says why it is not complete.
	Reason string
	// Ended are the pods that were deleted since, as they last were.
	Ended []gpu.Sighting
	// Nodes are the nodes that it told of and that are gone. That this is not all of
	// them makes no replay incomplete: pods on the others are estimates.
	Nodes []gpu.Node
	// Former are the labels of their namespaces, by the uid of the pod, where these
	// are gone as well, or others of the same name by now; nil where nothing tells,
	// for which FormerMissing may say why.
	Former        map[string]map[string]string
	FormerMissing string
}

// Alert is an Event to record.
type Alert struct {
	Namespace string
	Budget    string
	BudgetUID string
	Reason    string // "GPUBudgetThreshold"
	// About is the pod or workload that it is about; nil for the namespace.
	About *budget.Workload
	// Threshold tells alerts of one reason apart; those of the same, about the same,
	// are one Event.
	Threshold int
	Message   string
	Warning   bool
}

// Freeze keeps new GPU pods of a budget's selector out.
type Freeze struct {
	Budget    string
	BudgetUID string
	Selector  budget.Selector
	// ProtectedNamespaces are left alone, beside those of the system.
	ProtectedNamespaces []string
	// IgnorePodProtection says that what is written on a pod itself does not let it
	// in.
	IgnorePodProtection bool
	// Resources are counted beside those that are counted by default.
	Resources []string
	// Ignored are not counted, whatever is by default: resources and DRA drivers.
	Ignored []string
}

// WorkloadState is a workload as it was seen.
type WorkloadState struct {
	budget.Workload
	ResourceVersion string
	Replicas        int32 // of a Deployment or StatefulSet
	// Labels and PriorityClassName are those of its template of pods.
	Labels            map[string]string
	PriorityClassName string
	// Stopped says that it is suspended, or has no replicas.
	Stopped bool
	// Driven says who else starts and stops it, or why else it must not be paused.
	Driven string
}

// ErrWorkloadChanged says that a workload is not as it was seen any longer.
var ErrWorkloadChanged = errors.New("it was changed by someone else again and again")

// EvictionBlockedError says that a disruption budget does not allow an eviction.
type EvictionBlockedError struct {
	Pod PodRef
	Err error
}

// Error says which pod, and what the API server said.
func (e *EvictionBlockedError) Error() string {
	return "the eviction of the pod " + e.Pod.Namespace + "/" + e.Pod.Name + " is blocked: " + e.Err.Error()
}

// Unwrap returns the API server's error.
func (e *EvictionBlockedError) Unwrap() error { return e.Err }

// NotPausedError says why a workload cannot be paused or resumed, or must not be.
type NotPausedError struct {
	Workload budget.Workload
	Reason   string
	Gone     bool // it is not there any longer
	// Released says that the budget does not hold it any longer.
	Released bool
}

// Error names the workload and the reason.
func (e *NotPausedError) Error() string {
	return e.Workload.Kind + " " + e.Workload.Namespace + "/" + e.Workload.Name + ": " + e.Reason
}
