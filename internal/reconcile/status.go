package reconcile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// StatusReport is what is declared beside what is there.
type StatusReport struct {
	SchemaVersion int                     `json:"schema_version"`
	At            time.Time               `json:"at"`
	Store         string                  `json:"store"`
	LastRun       *declaration.RunSummary `json:"last_run"` // null where no run was recorded
	SpotPools     []PoolStatus            `json:"spot_pools"`
	Budgets       []BudgetStatus          `json:"budgets"`
	StockPools    []struct{}              `json:"stock_pools"`
	Warnings      []string                `json:"warnings"`
}

// PoolStatus is one pool, with its machines.
type PoolStatus struct {
	PoolReport
	Phase     declaration.Phase   `json:"phase"`
	Decisions []spotpool.Decision `json:"decisions"` // what a run would do now
	Machines  []spotpool.Member   `json:"machines"`
	Cooldowns []spotpool.Cooldown `json:"cooldowns"`
	Intents   int                 `json:"open_intents"`
}

// lastRun is the name of the document that holds the last run's summary.
const lastRun = "last_run"

func (r *run) saveStatus(ctx context.Context) error {
	old, err := load[declaration.RunSummary](ctx, r.Store, store.Statuses, lastRun)
	if err != nil {
		// A damaged status is replaced: nothing depends on it.
		r.warn(err.Error())
		if doc, readErr := r.Store.Read(ctx, store.Key{Kind: store.Statuses, Name: lastRun}); readErr == nil {
			old.revision = doc.Revision
		}
	}
	failed, _ := r.report.Failures()
	_, err = save(ctx, r.Store, store.Statuses, lastRun, old, declaration.RunSummary{
		RunID: r.report.RunID, StartedAt: r.report.StartedAt, FinishedAt: r.report.FinishedAt,
		Failed: failed, Decisions: len(r.report.Decisions), BudgetErrors: budgetErrors(r.report.Budgets),
	})
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// The bounds of what a run's summary keeps of errors: a store's documents have one.
const (
	errorsAtMost      = 500
	errorLengthAtMost = 400 // bytes
)

// budgetErrors is what budgets failed with.
func budgetErrors(budgets []BudgetReport) map[string]string {
	var failed []BudgetReport
	for _, b := range budgets {
		if b.Outcome == Failed && b.Error != nil {
			failed = append(failed, b)
		}
	}
	slices.SortFunc(failed, func(a, b BudgetReport) int { return strings.Compare(a.Name, b.Name) })
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

// Status observes all that is declared, without any lock, and decides without
// acting.
func (e *Engine) Status(ctx context.Context) (StatusReport, error) {
	report := StatusReport{
		SchemaVersion: ReportSchemaVersion, At: time.Now().UTC(), Store: e.Store.String(),
		SpotPools: []PoolStatus{}, Budgets: []BudgetStatus{}, StockPools: []struct{}{},
	}
	r := &run{Engine: e, options: RunOptions{DryRun: true}}
	budgets, err := r.budgetStatuses(ctx)
	if err != nil {
		return report, err
	}
	report.Budgets = budgets
	pools, err := r.declared(ctx)
	if err != nil {
		return report, err
	}
	for _, broken := range r.report.SpotPools {
		report.SpotPools = append(report.SpotPools, PoolStatus{PoolReport: broken})
	}
	for region, targets := range byRegion(pools) {
		view, err := e.lookFor(ctx, region, targets)
		for _, t := range targets {
			report.SpotPools = append(report.SpotPools, r.poolStatus(ctx, t, view, err))
		}
	}
	slices.SortFunc(report.SpotPools, func(a, b PoolStatus) int {
		return strings.Compare(a.Region+"/"+a.Name, b.Region+"/"+b.Name)
	})
	if last, err := load[declaration.RunSummary](ctx, e.Store, store.Statuses, lastRun); err == nil && last.exists() {
		report.LastRun = &last.value
		for n := range report.Budgets {
			report.Budgets[n].LastRunError = last.value.BudgetErrors[report.Budgets[n].Name]
		}
	}
	report.Warnings = append([]string{}, r.report.Warnings...)
	return report, nil
}

func (r *run) poolStatus(ctx context.Context, t target, view *regionView, err error) PoolStatus {
	d := t.declaration
	if err == nil && view.accountID != d.AccountID {
		err = &AccountError{Object: d.Object(), Pool: d.AccountID, Credentials: view.accountID}
	}
	if err != nil {
		return PoolStatus{PoolReport: newPoolReport(d, nil, Failed, err), Phase: t.phase}
	}
	for _, text := range append(view.markets.warnings(d.Region, t.spot()), view.warnings...) {
		r.warn(text)
	}
	plan := spotpool.Decide(spotpool.Situation{
		Declaration: d, Observation: view.observation(d), Journal: t.journal.value, Now: view.at, Gate: r.gate(ctx, d),
	})
	outcome := idleOutcome(plan)
	if len(plan.Decisions) > 0 {
		outcome = Planned
	}
	if t.phase != declaration.Active {
		// A creation is for terraform apply to go on with, and a deletion launches nothing.
		plan.Decisions, plan.Short, outcome = nil, nil, Skipped
	}
	return PoolStatus{
		PoolReport: newPoolReport(d, &plan, outcome, nil), Phase: t.phase, Decisions: plan.Decisions,
		Machines: plan.Members, Cooldowns: plan.Journal.Cooldowns, Intents: len(plan.Journal.Intents),
	}
}
