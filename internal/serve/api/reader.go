package api

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// Reader reads for the page what the operations read, with the rights of the user of the request.
type Reader struct{ api }

// NewReader returns a reader.
func NewReader(o Options) *Reader { return &Reader{api{Options: o}} }

// Overview returns the state of all objects that the user may read.
func (r *Reader) Overview(ctx context.Context) (reconcile.StatusReport, error) {
	report, err := r.Source.Status(ctx, snapshot.All)
	if err != nil {
		return report, problemOf(err)
	}
	v, err := r.view(ctx)
	if err != nil || v.all {
		return report, problemOr(err)
	}
	mine := reconcile.StatusReport{
		SchemaVersion: report.SchemaVersion, At: report.At, Store: report.Store, LastRun: report.LastRun, Overdue: report.Overdue,
		LastDay: report.LastDay, SpotPools: []spotpools.Description{}, Budgets: []budgets.Description{}, StockPools: []stockpools.Description{},
	}
	for _, p := range report.SpotPools {
		if sees, err := v.sees(ctx, p.Summary().Object()); err != nil {
			return mine, problemOf(err)
		} else if sees {
			mine.SpotPools = append(mine.SpotPools, p)
		}
	}
	for _, b := range report.Budgets {
		if sees, err := v.sees(ctx, b.Summary().Object()); err != nil {
			return mine, problemOf(err)
		} else if sees {
			mine.Budgets = append(mine.Budgets, b)
		}
	}
	for _, p := range report.StockPools {
		if sees, err := v.sees(ctx, p.Summary().Object()); err != nil {
			return mine, problemOf(err)
		} else if sees {
			mine.StockPools = append(mine.StockPools, p)
		}
	}
	mine, err = visible(ctx, v, mine)
	mine.Complete()
	return mine, problemOr(err)
}

// Explain explains an object.
func (r *Reader) Explain(ctx context.Context, object string) (reconcile.Explanation, error) {
	x, err := r.explain(ctx, object)
	return x, problemOr(err)
}

// Events returns events.
func (r *Reader) Events(ctx context.Context, q page.EventQuery) (eventlog.Report, error) {
	in := &historyQuestion{Since: q.Since, Limit: q.Limit}
	if q.Object != "" {
		in.Name = []string{q.Object}
	}
	if q.Kind != "" {
		in.Kind = []string{q.Kind}
	}
	report, err := r.history(ctx, in)
	return report, problemOr(err)
}

// BudgetUsage returns the usage of a budget by owner.
func (r *Reader) BudgetUsage(ctx context.Context, budget string) (usage.Report, error) {
	report, err := r.usage(ctx, &usageQuestion{Budget: budget, By: usage.ByOwner})
	return report, problemOr(err)
}

func problemOr(err error) error {
	if err == nil {
		return nil
	}
	return problemOf(err)
}
