package reconcile

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// dryCloud answers every change with outcome.ErrPlanned.
type dryCloud struct {
	spotpools.CloudReader
	planned
}

// dryCluster answers every change with outcome.ErrPlanned.
type dryCluster struct {
	ClusterReader
	planned
}

// planned embeds no port: a change that it lacks does not compile.
type planned struct{}

func (planned) Launch(context.Context, spotpool.Request) ([]string, time.Time, error) {
	return nil, time.Time{}, outcome.ErrPlanned
}

func (planned) Terminate(context.Context, string, []spotpool.Instance) ([]string, error) {
	return nil, outcome.ErrPlanned
}

func (planned) Tag(context.Context, string, []string, map[string]string) error {
	return outcome.ErrPlanned
}

func (planned) Untag(context.Context, string, []string, []string) error { return outcome.ErrPlanned }

func (planned) MarkNode(context.Context, node.Node, string) error { return outcome.ErrPlanned }

func (planned) UnmarkNode(context.Context, node.Node, string) error { return outcome.ErrPlanned }

func (planned) CordonNode(context.Context, node.Node, string) error { return outcome.ErrPlanned }

func (planned) UncordonNode(context.Context, node.Node, string) error { return outcome.ErrPlanned }

func (planned) DeleteNode(context.Context, node.Node, string) error { return outcome.ErrPlanned }

func (planned) CreateToken(context.Context, node.BootstrapToken) error { return outcome.ErrPlanned }

func (planned) TokenTaken(context.Context, node.BootstrapToken) (bool, error) {
	return false, outcome.ErrPlanned
}

func (planned) DeleteToken(context.Context, string) error { return outcome.ErrPlanned }

func (planned) Evict(context.Context, budget.Eviction) error { return outcome.ErrPlanned }

func (planned) Alert(context.Context, budget.Event) error { return outcome.ErrPlanned }

func (planned) Freeze(context.Context, budget.FreezeRule) error { return outcome.ErrPlanned }

func (planned) Unfreeze(context.Context, string) error { return outcome.ErrPlanned }

func (planned) Pause(context.Context, budget.WorkloadState) error { return outcome.ErrPlanned }

func (planned) Resume(context.Context, budget.WorkloadState, int32) error { return outcome.ErrPlanned }

func (planned) CreateStock(context.Context, *appsv1.Deployment) (*appsv1.Deployment, error) {
	return nil, outcome.ErrPlanned
}

func (planned) ApplyStock(context.Context, *appsv1.Deployment, *appsv1.Deployment) (*appsv1.Deployment, error) {
	return nil, outcome.ErrPlanned
}

func (planned) ScaleStock(context.Context, *appsv1.Deployment, int) error { return outcome.ErrPlanned }

func (planned) DeleteStock(context.Context, *appsv1.Deployment) error { return outcome.ErrPlanned }

func (planned) GuardStock(context.Context, *policyv1.PodDisruptionBudget, *policyv1.PodDisruptionBudget) error {
	return outcome.ErrPlanned
}

func (planned) UnguardStock(context.Context, *policyv1.PodDisruptionBudget) error {
	return outcome.ErrPlanned
}

func (planned) SpareStockPod(context.Context, string, stockpool.Pod, bool) error {
	return outcome.ErrPlanned
}
