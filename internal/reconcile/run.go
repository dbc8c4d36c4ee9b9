package reconcile

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
)

// RunOptions say what a run may do.
type RunOptions struct {
	// DryRun decides and reports, takes no lock, and changes nothing anywhere.
	DryRun bool
	// Wait settles what was launched, for at most WaitTimeout.
	Wait        bool
	WaitTimeout time.Duration
	// RunLockTimeout bounds the wait for the run lock.
	RunLockTimeout time.Duration
	// KeepLedger is for how long the ledger keeps intervals that have ended, even
	// where no window reaches back to them. Zero means DefaultKeepLedger.
	KeepLedger time.Duration
	// AcceptLoss is the reason for which a person goes on although part of the ledger
	// is lost; empty where nobody does.
	AcceptLoss string
	// Names are of the pools and budgets that the run is about; none for all. The
	// others are neither looked at nor changed, and what is the whole store's
	// (tombstones, the ledger's retention, the summary) is left to a run of all.
	Names declaration.Names
	// State adds declarations out of Terraform state to those of the store.
	State *declaration.TerraformState
}

// RunLockedError says that another run is under way.
type RunLockedError struct{ Err error }

// Error says who holds the run lock.
func (e *RunLockedError) Error() string { return "another run is under way: " + e.Err.Error() }

// Unwrap returns the lock's error.
func (e *RunLockedError) Unwrap() error { return e.Err }

// Run brings everything declared in the store to what is declared, once. The report
// says what was done, even where the context ends in the middle. An error means that
// no run took place: another one has the run lock, the store can't be read, or a name
// fits nothing (*declaration.UnknownNameError).
func (e *Engine) Run(ctx context.Context, o RunOptions) (Report, error) {
	if o.DryRun { // what is written goes to a draft, and nothing settles
		e, o.Wait = e.dry(), false
	}
	r := e.begin(o)
	ctx = outcome.WithRun(ctx, r.report.RunID)
	err := r.keeper.WithLock(ctx, "run", o.RunLockTimeout, r.run)
	if record.IsLocked(err) {
		err = &RunLockedError{Err: err}
	}
	report := r.finished()
	if !report.FinishedAt.IsZero() {
		r.logDone(ctx, report)
	}
	return report, err
}

// run is one run.
type run struct {
	engine   *Engine
	keeper   record.Keeper
	options  RunOptions
	warnings *outcome.Warnings
	report   Report
	// The kinds, in the order in which the run takes them.
	budgets *budgets.Run
	pools   *spotpools.Run
}

func (e *Engine) begin(o RunOptions) *run {
	r := &run{engine: e, keeper: record.Keeper{Store: e.Store, Actor: e.Actor}, options: o, warnings: &outcome.Warnings{}}
	r.report = Report{SchemaVersion: ReportSchemaVersion, RunID: record.NewID(), StartedAt: time.Now().UTC(), DryRun: o.DryRun, Names: o.Names}
	r.budgets = e.Budgets().Run(budgets.Options{RunID: r.report.RunID, Names: o.Names, KeepLedger: o.KeepLedger, AcceptLoss: o.AcceptLoss}, r.warnings)
	r.pools = e.Pools().Run(spotpools.Options{Names: o.Names, Wait: o.Wait, WaitTimeout: o.WaitTimeout}, r.warnings)
	return r
}

func (r *run) run(ctx context.Context) error {
	r.logBegun(ctx)
	before := r.engine.Calls()
	if r.options.State != nil {
		if err := r.takeOver(ctx, r.options.State); err != nil {
			return err
		}
	}
	if err := r.budgets.Read(ctx); err != nil {
		return err
	}
	if err := r.pools.Read(ctx); err != nil {
		return err
	}
	if err := r.options.Names.Among(r.keeper.Store.String(), r.pools.Keys(), r.budgets.Names()); err != nil {
		return err
	}
	r.budgets.Reconcile(ctx, r.pools.Declared() > 0)
	r.pools.Reconcile(ctx, r.budgets.Statuses())
	r.report.FinishedAt = time.Now().UTC()
	r.report.Calls = callsSince(before, r.engine.Calls())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	if len(r.options.Names) > 0 {
		return r.amendSummary(ctx)
	}
	r.pools.LookAfterTombstones(ctx)
	return r.saveSummary(ctx)
}

// takeOver brings declarations out of Terraform state into the store where the store
// has none or an older one. A newer record wins, and a tombstone refuses.
func (r *run) takeOver(ctx context.Context, state *declaration.TerraformState) error {
	for _, text := range state.Warnings {
		r.warnings.Add(text)
	}
	older, err := r.keeper.Older(ctx, state)
	if err != nil {
		return err
	}
	if older != "" {
		r.warnings.Add(older + ": the store's records win")
	}
	r.pools.TakeOver(ctx, state.Pools, older)
	r.budgets.TakeOver(ctx, state.Budgets, older)
	return nil
}

// finished is the report on everything done so far.
func (r *run) finished() Report {
	report := r.report
	report.Budgets, report.SpotPools, report.StockPools = r.budgets.Reports(), r.pools.Reports(), []struct{}{}
	report.Decisions = append(append([]outcome.Result{}, r.budgets.Results()...), r.pools.Results()...)
	slices.SortStableFunc(report.Decisions, func(a, b outcome.Result) int { return strings.Compare(a.Object(), b.Object()) })
	report.Warnings = r.warnings.Texts()
	if r.options.DryRun {
		return report.planned()
	}
	return report
}
