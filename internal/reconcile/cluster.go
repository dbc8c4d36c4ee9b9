package reconcile

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
)

// Cluster is all that runs need of a Kubernetes cluster.
type Cluster interface {
	budgets.Cluster
	spotpools.Cluster
	stockpools.Cluster
}

// clusterFor is the engine's cluster as one kind sees it; nil where there is none.
func clusterFor[C any](e *Engine, as func(Cluster) C) func(context.Context) (C, error) {
	if e.Cluster == nil {
		return nil
	}
	return func(ctx context.Context) (none C, err error) {
		c, err := e.Cluster(ctx)
		if err != nil {
			return none, err
		}
		e.reached.Store(&c)
		return as(c), nil
	}
}

// forBudgets is the cluster as budgets see it.
func (e *Engine) forBudgets(c Cluster) budgets.Cluster {
	if e.planning {
		return budgets.Dry(c)
	}
	return c
}

// forPools is the cluster as pools see it.
func (e *Engine) forPools(c Cluster) spotpools.Cluster {
	if e.planning {
		return spotpools.DryCluster(c)
	}
	return c
}

// forStock is the cluster as stock pools see it.
func (e *Engine) forStock(c Cluster) stockpools.Cluster {
	if e.planning {
		return stockpools.Dry(c)
	}
	return c
}

// clusterCalls counts the calls made so far to the cluster, by verb and resource.
func (e *Engine) clusterCalls() map[string]int {
	if c := e.reached.Load(); c != nil {
		return (*c).Calls()
	}
	return nil
}
