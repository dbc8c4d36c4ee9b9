package stockpools

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Cluster is what stock pools need of a Kubernetes cluster. Errors name the verb and the
// object, and wrap the API's own. Changes apply only to the observed object, by its UID; if it
// was replaced, the error is stockpool.ErrChanged.
type Cluster interface {
	Reader
	Changes
}

// Reader observes stock pools in a cluster.
type Reader interface {
	record.Cluster
	// Stock observes all objects with the label of stock pools.
	Stock(ctx context.Context) (stockpool.Observations, error)
	// StockOf observes the objects with one pool's name, managed or foreign.
	StockOf(ctx context.Context, namespace, name string) (stockpool.Observation, error)
	// PriorityClasses returns the values of the priority classes, by name.
	PriorityClasses(ctx context.Context) (map[string]int32, error)

	// Autoscaler names the autoscaler of a workload; empty if there is none.
	Autoscaler(ctx context.Context, w budget.Workload) (budget.Autoscaler, error)
	// PreviewStock returns the result of a dry run of ApplyStock. If additions of others to the
	// live Deployment are refused, it returns an error and live without those.
	PreviewStock(ctx context.Context, live, wanted *appsv1.Deployment) (*appsv1.Deployment, error)
}

// Changes are the calls by which stock pools change a cluster.
type Changes interface {
	// CreateStock creates a Deployment; one with the same name is an error.
	CreateStock(ctx context.Context, of *appsv1.Deployment) (*appsv1.Deployment, error)
	// ScaleStock sets only the replicas of a Deployment that is unchanged since the
	// observation.
	ScaleStock(ctx context.Context, live *appsv1.Deployment, replicas int) error
	// ApplyStock applies wanted to a Deployment.
	ApplyStock(ctx context.Context, live, wanted *appsv1.Deployment) (*appsv1.Deployment, error)
	// DeleteStock deletes a Deployment and its pods. It is no error if the Deployment is gone.
	DeleteStock(ctx context.Context, of *appsv1.Deployment) error
	// GuardStock creates a PodDisruptionBudget, or changes live if it is not nil.
	GuardStock(ctx context.Context, live, wanted *policyv1.PodDisruptionBudget) error
	// UnguardStock deletes a PodDisruptionBudget. It is no error if it is gone.
	UnguardStock(ctx context.Context, of *policyv1.PodDisruptionBudget) error
	// SpareStockPod marks a pod so that a scale-down deletes others first, or unmarks it.
	SpareStockPod(ctx context.Context, namespace string, p stockpool.Pod, spare bool) error
}
