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
// object, and wrap the API's own. What changes an object is done to exactly the one that
// was observed, by its uid; the error is stockpool.ErrChanged where that is another by now.
type Cluster interface {
	Reader
	Changes
}

// Reader changes nothing.
type Reader interface {
	record.Cluster
	// Stock observes all that bears the label of stock pools.
	Stock(ctx context.Context) (stockpool.Observations, error)
	// StockOf observes afresh what has one pool's name, whosever it is.
	StockOf(ctx context.Context, namespace, name string) (stockpool.Observation, error)
	// PriorityClasses are the values of the priority classes, by name.
	PriorityClasses(ctx context.Context) (map[string]int32, error)

	// Autoscaler says which autoscaler scales a workload, or nothing.
	Autoscaler(ctx context.Context, w budget.Workload) (string, error)
	// PreviewStock says what ApplyStock would come to. Beside an error by which the live
	// Deployment's own additions are refused, the answer is live without those.
	PreviewStock(ctx context.Context, live, wanted *appsv1.Deployment) (*appsv1.Deployment, error)
}

// Changes are all changes of a cluster that stock pools make.
type Changes interface {
	// CreateStock creates a Deployment, where there is none of its name.
	CreateStock(ctx context.Context, of *appsv1.Deployment) (*appsv1.Deployment, error)
	// ScaleStock has a Deployment that is as it was observed ask for so many pods, and changes
	// nothing else.
	ScaleStock(ctx context.Context, live *appsv1.Deployment, replicas int) error
	// ApplyStock has a Deployment be as wanted.
	ApplyStock(ctx context.Context, live, wanted *appsv1.Deployment) (*appsv1.Deployment, error)
	// DeleteStock has a Deployment and its pods be deleted; one that is gone is no error.
	DeleteStock(ctx context.Context, of *appsv1.Deployment) error
	// GuardStock has a PodDisruptionBudget be as wanted, a new one where live is nil.
	GuardStock(ctx context.Context, live, wanted *policyv1.PodDisruptionBudget) error
	// UnguardStock deletes a PodDisruptionBudget; one that is gone is no error.
	UnguardStock(ctx context.Context, of *policyv1.PodDisruptionBudget) error
	// SpareStockPod has a scale-down end others before a pod, or no longer.
	SpareStockPod(ctx context.Context, namespace string, p stockpool.Pod, spare bool) error
}
