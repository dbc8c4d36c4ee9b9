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

// ClusterReader changes nothing.
type ClusterReader interface {
	budgets.PodReader
	budgets.WorkloadReader
	spotpools.NodeReader
	stockpools.Reader
}

// connectAs returns a connection that narrows or wraps the cluster; nil for nil.
func connectAs[C any](connect func(context.Context) (Cluster, error), as func(Cluster) C) func(context.Context) (C, error) {
	if connect == nil {
		return nil
	}
	return func(ctx context.Context) (none C, err error) {
		c, err := connect(ctx)
		if err != nil {
			return none, err
		}
		return as(c), nil
	}
}
