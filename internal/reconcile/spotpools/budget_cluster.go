package spotpools

import (
	"context"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// BudgetClusterError says that a pool's nodes and its budget's pods are in two clusters.
type BudgetClusterError struct{ Object, Pool, Budget, Cluster string }

// Error says which clusters, and what to do.
func (e *BudgetClusterError) Error() string {
	return fmt.Sprintf("budget/%s counts pods of the cluster with uid %s, but the nodes of %s are in the cluster with uid %s. %s",
		e.Budget, e.Cluster, e.Object, e.Pool, e.Advice())
}

// Advice returns what to do.
func (e *BudgetClusterError) Advice() string {
	return "Set a budget of the pool's own cluster, or none"
}

// SameBudget refuses a pool with nodes whose budget is of another cluster: it does not count
// the pods on these nodes. The gate reports a budget that is not declared.
func (g gates) SameBudget(ctx context.Context, d spotpool.Declaration) error {
	if d.Nodes == nil || d.Budget == "" || d.ClusterUID == "" {
		return nil
	}
	r, err := record.Budgets(g.Repository).Load(ctx, d.Budget)
	if err != nil || !r.Exists() {
		return nil //nolint:nilerr // the gate says why
	}
	return requireSameCluster(d, r.Value)
}

func requireSameCluster(d spotpool.Declaration, b declaration.Budget) error {
	if theirs := b.Declaration.ClusterUID; d.Nodes != nil && d.ClusterUID != "" && theirs != d.ClusterUID {
		return &BudgetClusterError{Object: d.Object(), Pool: d.ClusterUID, Budget: d.Budget, Cluster: theirs}
	}
	return nil
}
