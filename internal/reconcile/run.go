package reconcile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/jobs"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
)

// RunOptions say what a run may do, and for how long.
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
	// AcceptLoss is the operator's reason to continue although part of the ledger is lost.
	AcceptLoss string
	// Names limit the run to these objects; empty means all. The others are neither observed
	// nor changed. Tombstones, the ledger's retention and the summary concern the whole store,
	// and are left to a run of all.
	Names declaration.Names
	// KeepHistory is how much of the history is kept. Zero means
	// history.DefaultRetention.
	KeepHistory history.Retention
	// Assume are attributes that a dry run takes to be other than declared.
	Assume []Assumption
	// State adds declarations out of Terraform state to those of the store.
	State *declaration.TerraformState
}

const runLock = "run"

// RunLockedError reports that another run is under way.
type RunLockedError struct{ Err error }

// Error says who holds the run lock.
func (e *RunLockedError) Error() string { return "another run is under way: " + e.Err.Error() }

// Unwrap returns the lock's error.
func (e *RunLockedError) Unwrap() error { return e.Err }

// Run brings everything declared in the store in sync, once. The report is complete even if the
// context is canceled. An error means that no run took place: another one has the run lock, the
// store is unreadable, or a name is unknown (*declaration.UnknownNameError).
func (r *Runner) Run(ctx context.Context, o RunOptions) (Report, error) {
	if o.DryRun { // what is written goes to a draft, and nothing settles
		r, o.Wait = r.world.Dry().Runner(), false
	}
	one := r.begin(o)
	ctx = outcome.WithRun(ctx, one.report.RunID)
	err := one.locked(ctx)
	if record.IsLocked(err) {
		err = &RunLockedError{Err: err}
	}
	report := one.finished()
	if !report.FinishedAt.IsZero() {
		one.logDone(ctx, report)
	}
	return report, err
}

type run struct {
	runner     *Runner
	repository record.Repository
	options    RunOptions
	warnings   *outcome.Warnings
	report     Report
	kinds      []listed
	pools      *spotpools.Run
	budgets    *budgets.Run
	stock      *stockpools.Run
	jobs       *jobs.Run
	// events are those that the history got.
	events []history.Event
	// unreported are failures that the history may lack: the next run reports them again.
	unreported []history.Event
	// notifications are nil in a dry run. notifiedUntil is zero if not all claimed their events.
	notifications *notifications.Run
	notifiedUntil time.Time
	// interrupted reports that the run was stopped before it was done.
	interrupted bool
}

func (r *Runner) begin(o RunOptions) *run {
	w := r.world
	one := &run{runner: r, repository: w.repository(), options: o, warnings: &outcome.Warnings{}}
	one.report = Report{SchemaVersion: ReportSchemaVersion, RunID: record.NewID(), StartedAt: w.Now().UTC(), DryRun: o.DryRun, Names: o.Names}
	one.kinds = one.kindsOf(o)
	return one
}

// locked runs under the run lock, and records what the run did.
func (r *run) locked(ctx context.Context) (err error) {
	ctx, release, err := r.repository.Lock(ctx, runLock, r.options.RunLockTimeout)
	if err != nil {
		return err
	}
	defer release(&err)
	err = r.run(ctx)
	var unknown *declaration.UnknownNameError
	if errors.As(err, &unknown) {
		return err // no run took place
	}
	r.events = r.addHistory(ctx, err)
	r.claimNotifications(ctx, err)
	defer r.deliverNotifications(ctx)
	r.finishJobs(ctx, err, r.events)
	if err == nil {
		if err = r.save(ctx); err == nil {
			return nil
		}
		r.addHistory(ctx, err)
	}
	if len(r.options.Names) == 0 {
		r.saveFailure(ctx, err)
	}
	return err
}

func (r *run) now() time.Time { return r.runner.world.Now() }

func (r *run) run(ctx context.Context) error {
	r.logBegun(ctx)
	before := r.runner.calls()
	if r.options.State != nil {
		if err := r.takeOver(ctx, r.options.State); err != nil {
			return err
		}
	}
	if r.options.DryRun { // which alone has a draft to write them to
		if err := r.assume(ctx); err != nil {
			return err
		}
	}
	r.beginJobs(ctx)
	if err := r.read(ctx); err != nil {
		return err
	}
	for _, k := range r.kinds {
		k.Reconcile(ctx)
	}
	r.report.FinishedAt = r.now().UTC()
	r.report.Calls = callsSince(before, r.runner.calls())
	r.interrupted = ctx.Err() != nil
	if len(r.options.Names) == 0 && !r.interrupted { // else how it ended is recorded, and nothing else is begun
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
		defer cancel()
		r.checkTombstones(ctx)
		r.warnOrphans(ctx)
		r.saveDay(ctx)
	}
	return nil
}

// save writes the summary of the run after its events, which its counters count.
func (r *run) save(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	if len(r.options.Names) > 0 {
		return r.amendSummary(ctx)
	}
	return r.saveSummary(ctx)
}

// read reads what is declared. The error is *declaration.UnknownNameError where a name
// fits nothing of it.
func (r *run) read(ctx context.Context) error {
	for _, k := range r.kinds {
		if err := k.Read(ctx); err != nil {
			return err
		}
	}
	var objects []string
	for kind, keys := range map[string][]string{"spot_pool/": r.pools.Keys(), "stock_pool/": r.stock.Keys(), "budget/": r.budgets.Keys()} {
		for _, key := range keys {
			objects = append(objects, kind+key)
		}
	}
	return r.options.Names.Among(r.repository.Store.String(), objects)
}

// takeOver brings declarations out of Terraform state into the store where the store
// has none or an older one. A newer record wins, and a tombstone refuses.
func (r *run) takeOver(ctx context.Context, state *declaration.TerraformState) error {
	state.LeaveToOthers(r.runner.world.rememberedStore(ctx))
	r.warnings.Warn(state.Warnings...)
	r.warnings.Warn(r.runner.world.Notifications().NotTakenOver(ctx, state.Notifications)...)
	older, err := r.repository.Older(ctx, state)
	if err != nil {
		return err
	}
	if older != "" {
		r.warnings.Warn(reason.StoreWins(reason.NewForeign(older)))
	}
	for _, k := range r.kinds {
		k.takeOver(ctx, state, older)
	}
	return nil
}

// finished is the report on everything done so far.
func (r *run) finished() Report {
	report := r.report
	report.Decisions = []outcome.Result{}
	for _, k := range r.kinds {
		k.report(&report)
		report.Decisions = append(report.Decisions, k.Results()...)
	}
	slices.SortStableFunc(report.Decisions, func(a, b outcome.Result) int { return strings.Compare(a.Object(), b.Object()) })
	report.Warnings = r.warnings.List()
	if r.options.DryRun {
		return report.planned()
	}
	return report
}
