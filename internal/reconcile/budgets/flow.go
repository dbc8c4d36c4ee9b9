package budgets

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Flow carries declarations of budgets out, for one cluster and one store.
type Flow struct {
	// Cluster returns the Kubernetes cluster. It is not called where no budgets
	// are declared, and else several times: it must return the same. Nil where
	// there is none.
	Cluster func(ctx context.Context) (Cluster, error)
	Keeper  record.Keeper
	Teller  outcome.Teller
	// Clock is this machine's.
	Clock func() time.Time
	// FreezeLag is how long API servers may go on admitting pods after a freeze:
	// nobody is evicted before. Zero means budget.FreezeLag.
	FreezeLag time.Duration

	outbox record.Outbox
}

// records is the life of the store's budgets.
func (f *Flow) records() record.Life[budget.Declaration] { return record.Budgets(f.Keeper) }

func (f *Flow) accountant() accounting.Accountant {
	return accounting.Accountant{Keeper: f.Keeper, Clock: f.Clock}
}

func (f *Flow) now() time.Time { return f.Clock() }

// Outbox is what is to be told of budgets.
func (f *Flow) Outbox() *record.Outbox { return &f.outbox }

// report reports to the history what an operation did.
func (f *Flow) report(ctx context.Context) {
	f.Keeper.ReportAfter(ctx, &f.outbox, f.Clock, f.Teller.HistoryLacks)
}

// whose is what needs a cluster, in errors.
const whose = "budgets"

// cluster returns the cluster at hand, with its identity.
func (f *Flow) cluster(ctx context.Context) (Cluster, string, error) {
	return record.Reach(ctx, f.Cluster, whose)
}

// clusterOf returns the cluster at hand, if it is the budget's.
func (f *Flow) clusterOf(ctx context.Context, d budget.Declaration) (Cluster, error) {
	return record.ReachOwn(ctx, f.Cluster, whose, d.Object(), d.ClusterUID)
}
