package spotpools

import (
	"context"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// BudgetClusterError says that a pool's nodes and the pods that its budget counts are of
// two clusters.
type BudgetClusterError struct{ Object, Pool, Budget, Cluster string }

// Error says which clusters, and what to do.
func (e *BudgetClusterError) Error() string {
	return fmt.Sprintf("the budget %s counts pods of the cluster whose namespace kube-system has the uid %s, and the nodes of %s are of the one with %s. %s",
		e.Budget, e.Cluster, e.Object, e.Pool, e.Advice())
}

// Advice is what to do.
func (e *BudgetClusterError) Advice() string {
	return "Name a budget of the pool's own cluster, or none"
}

// SameBudget refuses a pool with nodes whose budget is of another cluster: what is used
// there says nothing about the pods on them. A budget that is not declared yet is left to
// the gate.
func (g gates) SameBudget(ctx context.Context, d spotpool.Declaration) error {
	if d.Nodes == nil || d.Budget == "" || d.ClusterUID == "" {
		return nil
	}
	r, err := record.Budgets(g.Repository).Load(ctx, d.Budget)
	if err != nil || !r.Exists() {
		return nil //nolint:nilerr // the gate says why
	}
	return ofSameCluster(d, r.Value)
}

func ofSameCluster(d spotpool.Declaration, b declaration.Budget) error {
	if theirs := b.Declaration.ClusterUID; d.Nodes != nil && d.ClusterUID != "" && theirs != d.ClusterUID {
		return &BudgetClusterError{Object: d.Object(), Pool: d.ClusterUID, Budget: d.Budget, Cluster: theirs}
	}
	return nil
}
