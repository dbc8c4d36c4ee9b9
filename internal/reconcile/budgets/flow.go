package budgets

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Flow carries out declarations of budgets, for one cluster and one store.
type Flow struct {
	// Cluster returns the Kubernetes cluster, always the same one. It is called only if budgets are
	// declared; nil if there is no cluster.
	Cluster    func(ctx context.Context) (Cluster, error)
	Repository record.Repository
	Reporter   outcome.Reporter
	// Clock is this machine's.
	Clock func() time.Time
	// FreezeLag is how long API servers may continue to admit pods after a freeze: no pod is evicted
	// before. Zero means budget.FreezeLag.
	FreezeLag time.Duration

	outbox record.Outbox
}

func (f *Flow) records() record.Lifecycle[budget.Declaration] { return record.Budgets(f.Repository) }

func (f *Flow) accountant() accounting.Accountant {
	return accounting.Accountant{Repository: f.Repository, Clock: f.Clock}
}

func (f *Flow) now() time.Time { return f.Clock() }

// Outbox returns the events to report.
func (f *Flow) Outbox() *record.Outbox { return &f.outbox }

// report reports the events of an operation to the history.
func (f *Flow) report(ctx context.Context) {
	f.Repository.ReportAfter(ctx, &f.outbox, f.Clock, f.Reporter.HistoryLacks)
}

const whose = "budgets"

// cluster returns the cluster with its UID.
func (f *Flow) cluster(ctx context.Context) (Cluster, string, error) {
	return record.Reach(ctx, f.Cluster, whose)
}

// clusterOf returns the cluster if it is the budget's.
func (f *Flow) clusterOf(ctx context.Context, d budget.Declaration) (Cluster, error) {
	return record.ReachOwn(ctx, f.Cluster, whose, d.Object(), d.ClusterUID)
}
