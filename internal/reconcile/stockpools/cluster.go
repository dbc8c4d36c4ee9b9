package stockpools

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Cluster is what stock pools need of a Kubernetes cluster. Errors name the verb and the
// object, and wrap the API's own. What changes an object is done to exactly the one that
// was seen, by its uid; the error is stockpool.ErrChanged where that is another by now.
type Cluster interface {
	// UID is that of the namespace kube-system: a cluster's identity.
	UID(ctx context.Context) (string, error)
	// Now is the API server's clock, by its last answer; zero before the first.
	Now() time.Time
	// Stock looks at all that bears the label of stock pools.
	Stock(ctx context.Context) (stockpool.Look, error)
	// StockOf looks afresh at what has one pool's name, whosever it is.
	StockOf(ctx context.Context, namespace, name string) (stockpool.Seen, error)
	// PriorityClasses are the values of the priority classes, by name.
	PriorityClasses(ctx context.Context) (map[string]int32, error)

	// Autoscaler says which autoscaler scales a workload, or nothing.
	Autoscaler(ctx context.Context, w budget.Workload) (string, error)

	// CreateStock creates a Deployment, where there is none of its name.
	CreateStock(ctx context.Context, of *appsv1.Deployment) (*appsv1.Deployment, error)
	// ApplyStock has a Deployment be as wanted; a dry run changes nothing, and says what
	// that would come to.
	ApplyStock(ctx context.Context, live, wanted *appsv1.Deployment, dryRun bool) (*appsv1.Deployment, error)
	// DeleteStock has a Deployment and its pods be deleted; one that is gone is no error.
	DeleteStock(ctx context.Context, of *appsv1.Deployment) error
	// GuardStock has a PodDisruptionBudget be as wanted, a new one where live is nil.
	GuardStock(ctx context.Context, live, wanted *policyv1.PodDisruptionBudget) error
	// UnguardStock deletes a PodDisruptionBudget; one that is gone is no error.
	UnguardStock(ctx context.Context, of *policyv1.PodDisruptionBudget) error
	// SpareStockPod has a scale-down end others before a pod, or no longer.
	SpareStockPod(ctx context.Context, namespace string, p stockpool.Pod, spare bool) error
	// Calls counts the API calls made so far, by verb and resource.
	Calls() map[string]int
}

// Unchanged is a cluster that can be looked at, and refuses to be changed: for a dry run.
// Its refusal is outcome.ErrPlanned.
func Unchanged(c Cluster) Cluster { return unchanged{c} }

type unchanged struct{ Cluster }

func (unchanged) CreateStock(context.Context, *appsv1.Deployment) (*appsv1.Deployment, error) {
	return nil, outcome.ErrPlanned
}

func (u unchanged) ApplyStock(ctx context.Context, live, wanted *appsv1.Deployment, dryRun bool) (*appsv1.Deployment, error) {
	if !dryRun {
		return nil, outcome.ErrPlanned
	}
	return u.Cluster.ApplyStock(ctx, live, wanted, true)
}

func (unchanged) DeleteStock(context.Context, *appsv1.Deployment) error { return outcome.ErrPlanned }

func (unchanged) GuardStock(context.Context, *policyv1.PodDisruptionBudget, *policyv1.PodDisruptionBudget) error {
	return outcome.ErrPlanned
}

func (unchanged) UnguardStock(context.Context, *policyv1.PodDisruptionBudget) error {
	return outcome.ErrPlanned
}

func (unchanged) SpareStockPod(context.Context, string, stockpool.Pod, bool) error {
	return outcome.ErrPlanned
}
