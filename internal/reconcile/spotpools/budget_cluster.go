package spotpools

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// BudgetClusterError says that a pool's nodes and its budget's pods are in two clusters.
type BudgetClusterError struct{ Object, Pool, Budget, Cluster string }

// Because says which clusters.
func (e *BudgetClusterError) Because() reason.Reason {
	return reason.BudgetOfOtherCluster(reason.Object("budget/"+e.Budget), reason.Word(e.Cluster), reason.Object(e.Object), reason.Word(e.Pool))
}

// Error is Because as text.
func (e *BudgetClusterError) Error() string { return e.Because().String() }

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
