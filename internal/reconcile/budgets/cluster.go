package budgets

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Cluster is what budgets need of a Kubernetes cluster. Errors name the verb and
// the object, and wrap the API's own.
type Cluster interface {
	PodReader
	WorkloadReader
	Changes
}

// PodReader reads what is judged, and changes nothing.
type PodReader interface {
	record.Cluster
	accounting.Cluster
	// Namespaces are the labels of all namespaces, by name.
	Namespaces(ctx context.Context) (map[string]map[string]string, error)
}

// WorkloadReader reads what is enforced, and on what; it changes nothing.
type WorkloadReader interface {
	// Freezes lists the budgets whose freeze is in force.
	Freezes(ctx context.Context) ([]budget.FreezeRule, error)
	// Unrecognized lists the objects with a label of gpupool that this one gives no
	// meaning. With an error it lists what was found nevertheless.
	Unrecognized(ctx context.Context) ([]budget.Unrecognized, error)
	// Owners says which workloads would be paused for pods, by the pods' uids.
	Owners(ctx context.Context, pods []budget.Pod, rules gpu.Rules) (map[string]budget.Ownership, error)
	// Workload observes a workload. The error is *budget.NotPausedError where it is
	// gone, or can't be paused.
	Workload(ctx context.Context, w budget.Workload) (budget.WorkloadState, error)
	// Autoscaler says which autoscaler scales a workload, or nothing.
	Autoscaler(ctx context.Context, w budget.Workload) (string, error)
}

// Changes are all changes of a cluster that budgets make.
type Changes interface {
	// Alert records an Event in a namespace, because of a budget.
	Alert(ctx context.Context, a budget.Event) error
	// Freeze keeps new GPU pods out; again with the same is nothing new.
	Freeze(ctx context.Context, f budget.FreezeRule) error
	// Unfreeze lifts a budget's freeze; lifting what is not in force is no error.
	Unfreeze(ctx context.Context, budgetUID string) error
	// Pause suspends a Job, or scales a Deployment or StatefulSet to zero, if it is
	// still as it was seen; else budget.ErrWorkloadChanged.
	Pause(ctx context.Context, seen budget.WorkloadState) error
	// Resume undoes a pause, if the workload is still as it was seen.
	Resume(ctx context.Context, seen budget.WorkloadState, replicas int32) error
	// Evict asks for the eviction of exactly this pod; of one that ends already, to
	// end it sooner. The error is
	// *budget.EvictionBlockedError where a disruption budget does not allow it, and nil
	// where the pod is gone already.
	Evict(ctx context.Context, e budget.Eviction) error
}
