package budgets

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Cluster is the part of a Kubernetes cluster that budgets need. Errors name the verb and the object,
// and wrap that of the API.
type Cluster interface {
	PodReader
	WorkloadReader
	Changes
}

// PodReader reads pods and namespaces.
type PodReader interface {
	record.Cluster
	accounting.Cluster
	// Namespaces returns the labels of all namespaces, by name.
	Namespaces(ctx context.Context) (map[string]map[string]string, error)
	// PriorityClasses returns the values of all priority classes, by name.
	PriorityClasses(ctx context.Context) (map[string]int32, error)
}

// WorkloadReader reads freezes and workloads.
type WorkloadReader interface {
	// Freezes lists the budgets whose freeze is in force, and who last wrote what a freeze would use.
	Freezes(ctx context.Context) ([]budget.FreezeRule, budget.SlotWrite, error)
	// FreezePolicy returns why a freeze would fail, as far as a read shows it.
	FreezePolicy(ctx context.Context) error
	// Unrecognized lists the objects with a gpupool label that this version does not use. If it
	// returns an error, the list is incomplete.
	Unrecognized(ctx context.Context) ([]budget.Unrecognized, error)
	// Owners returns the workloads that would be paused for pods, by the pod's UID.
	Owners(ctx context.Context, pods []budget.Pod, rules gpu.Rules) (map[string]budget.Ownership, error)
	// Workload observes a workload. The error is *budget.NotPausedError if it does not exist or
	// cannot be paused.
	Workload(ctx context.Context, w budget.Workload) (budget.WorkloadState, error)
	// Autoscaler returns the autoscaler that scales a workload; zero if there is none.
	Autoscaler(ctx context.Context, w budget.Workload) (budget.Autoscaler, error)
}

// Changes are the changes that budgets make to a cluster.
type Changes interface {
	// Alert creates a Kubernetes Event about a budget.
	Alert(ctx context.Context, a budget.Event) error
	// Freeze blocks new GPU pods. It is idempotent.
	Freeze(ctx context.Context, f budget.FreezeRule) error
	// Unfreeze lifts a budget's freeze, if there is one.
	Unfreeze(ctx context.Context, budgetUID string) error
	// Pause suspends a Job or a CronJob, or scales a Deployment or StatefulSet to zero. The error is
	// budget.ErrWorkloadChanged if the workload changed since the observation.
	Pause(ctx context.Context, seen budget.WorkloadState) error
	// Resume reverts a pause, with the same error.
	Resume(ctx context.Context, seen budget.WorkloadState, replicas int32) error
	// Evict requests the eviction of exactly this pod, or shortens its termination. The error is
	// *budget.EvictionBlockedError if a PodDisruptionBudget blocks it, and nil if the pod is gone.
	Evict(ctx context.Context, e budget.Eviction) error
}
