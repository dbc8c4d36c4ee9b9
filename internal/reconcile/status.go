package reconcile

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// StatusReport is everything declared, beside what there is of it.
type StatusReport struct {
	SchemaVersion int                     `json:"schema_version"`
	At            time.Time               `json:"at"`
	Store         string                  `json:"store"`
	LastRun       *declaration.RunSummary `json:"last_run"` // null where no run was recorded
	SpotPools     []spotpools.Overview    `json:"spot_pools"`
	Budgets       []budgets.Overview      `json:"budgets"`
	StockPools    []struct{}              `json:"stock_pools"`
	Warnings      []string                `json:"warnings"`
}

// lastRun is the name of the document that holds the last run's summary.
const lastRun = "last_run"

func (r *run) saveSummary(ctx context.Context) error {
	old, err := record.Load[declaration.RunSummary](ctx, r.keeper.Store, store.Statuses, lastRun)
	if err != nil {
		// A damaged summary is replaced: nothing depends on it.
		r.warnings.Add(err.Error())
		if doc, readErr := r.keeper.Store.Read(ctx, store.Key{Kind: store.Statuses, Name: lastRun}); readErr == nil {
			old.Revision = doc.Revision
		}
	}
	report := r.finished()
	failed, _ := report.Failures()
	_, err = record.Save(ctx, r.keeper.Store, store.Statuses, lastRun, old, declaration.RunSummary{
		RunID: report.RunID, StartedAt: report.StartedAt, FinishedAt: report.FinishedAt,
		Failed: failed, Decisions: len(report.Decisions), BudgetErrors: budgetErrors(report.Budgets),
	})
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// amendSummary brings the summary of the last run of all up to what this one of some
// made of its budgets. It says nothing else: the others were not looked at.
func (r *run) amendSummary(ctx context.Context) error {
	old, err := record.Load[declaration.RunSummary](ctx, r.keeper.Store, store.Statuses, lastRun)
	if err != nil || !old.Exists() {
		return nil //nolint:nilerr // the next run of all replaces what is damaged
	}
	reports := r.budgets.Reports()
	summary, now := old.Value, budgetErrors(reports)
	summary.BudgetErrors = maps.Clone(summary.BudgetErrors)
	for _, b := range reports {
		delete(summary.BudgetErrors, b.Name)
	}
	for name, text := range now {
		if summary.BudgetErrors == nil {
			summary.BudgetErrors = map[string]string{}
		}
		if len(summary.BudgetErrors) < errorsAtMost {
			summary.BudgetErrors[name] = text
		}
	}
	if maps.Equal(summary.BudgetErrors, old.Value.BudgetErrors) {
		return nil
	}
	_, err = record.Save(ctx, r.keeper.Store, store.Statuses, lastRun, old, summary)
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// The bounds on the errors in a run's summary, since the store's documents have a
// bound.
const (
	errorsAtMost      = 500
	errorLengthAtMost = 400 // bytes
)

// budgetErrors are the errors of the budgets that failed, by name.
func budgetErrors(reports []budgets.Report) map[string]string {
	var failed []budgets.Report
	for _, b := range reports {
		if b.Outcome == outcome.Failed && b.Error != nil {
			failed = append(failed, b)
		}
	}
	slices.SortFunc(failed, func(a, b budgets.Report) int { return strings.Compare(a.Name, b.Name) })
	var errs map[string]string
	for _, b := range failed[:min(len(failed), errorsAtMost)] {
		if errs == nil {
			errs = map[string]string{}
		}
		text := b.Error.Message
		if len(text) > errorLengthAtMost {
			text = strings.ToValidUTF8(text[:errorLengthAtMost], "") + "…"
		}
		errs[b.Name] = text
	}
	return errs
}

// Status observes all that is declared, or what is named of it, without any lock,
// and decides without acting. The error is *declaration.UnknownNameError where a
// name fits nothing.
func (e *Engine) Status(ctx context.Context, names ...string) (StatusReport, error) {
	report := StatusReport{
		SchemaVersion: ReportSchemaVersion, At: e.now().UTC(), Store: e.Store.String(),
		SpotPools: []spotpools.Overview{}, Budgets: []budgets.Overview{}, StockPools: []struct{}{},
	}
	r := e.begin(RunOptions{Names: names})
	if err := r.read(ctx); err != nil {
		return report, err
	}
	for _, k := range r.kinds {
		k.status(ctx, &report)
	}
	if last, err := record.Load[declaration.RunSummary](ctx, e.Store, store.Statuses, lastRun); err == nil && last.Exists() {
		report.LastRun = &last.Value
		for n := range report.Budgets {
			report.Budgets[n].LastRunError = last.Value.BudgetErrors[report.Budgets[n].Name]
		}
	}
	report.Warnings = r.warnings.Texts()
	return report, nil
}
