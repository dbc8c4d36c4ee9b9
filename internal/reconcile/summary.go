package reconcile

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// The documents that hold the last run's summary, and how all went over the last day.
const (
	lastRun = "last_run"
	lastDay = "last_day"
)

func (r *run) saveSummary(ctx context.Context) error {
	old := r.lastSummary(ctx)
	report := r.finished()
	failed, _ := report.Failures()
	summary := old.Value.WithFailing()
	met := r.meetings()
	skipped := func(object string) bool { return slices.Contains(met.skipped, object) }
	summary.Failing = summary.Failing.After(report.StartedAt, met.processed, skipped)
	summary.Skipped = summary.Skipped.After(report.StartedAt, met.passedOver, none)
	summary.Starts = summary.Begun(report.StartedAt)
	summary.RunID, summary.StartedAt, summary.FinishedAt = report.RunID, report.StartedAt, report.FinishedAt
	summary.Failed, summary.Decisions = failed, len(report.Decisions)
	if failed == 0 && !r.interrupted {
		summary.SucceededAt = summary.FinishedAt
	}
	summary.Leftovers = r.budgets.Leftovers()
	summary.Counters = r.count(ctx, old.Value.Counters)
	return r.writeSummary(ctx, old, summary)
}

// saveFailure records that the run failed as a whole. It keeps the states of the objects, which
// were not observed.
func (r *run) saveFailure(ctx context.Context, failed error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	old := r.lastSummary(ctx)
	summary := old.Value.WithFailing()
	summary.Failing = summary.Failing.After(r.report.StartedAt, []declaration.Met{r.met(history.Run, outcome.NewErrorReport(failed))}, all)
	summary.Starts = summary.Begun(r.report.StartedAt)
	summary.RunID, summary.StartedAt, summary.FinishedAt = r.report.RunID, r.report.StartedAt, r.now().UTC()
	summary.Failed, summary.Decisions = 0, 0
	if err := r.writeSummary(ctx, old, summary); err != nil {
		r.warnings.Warn(reason.Explain(err)) // often of what the run failed with
	}
}

// amendSummary updates the summary of the last full run with the objects of this partial run.
// It keeps the others, which were not observed.
func (r *run) amendSummary(ctx context.Context) error {
	old, err := record.Load[declaration.RunSummary](ctx, r.repository.Store, store.Statuses, lastRun)
	if err != nil || !old.Exists() {
		return nil //nolint:nilerr // the next run of all replaces what is damaged
	}
	report := r.finished()
	summary := old.Value.WithFailing()
	met := r.meetings()
	seen := func(object string) bool {
		return slices.ContainsFunc(met.processed, func(m declaration.Met) bool { return m.Object == object })
	}
	others := func(object string) bool { return !seen(object) }
	summary.Failing = summary.Failing.After(report.StartedAt, met.processed, others)
	summary.Skipped = summary.Skipped.After(report.StartedAt, met.passedOver, others)
	if len(report.Decisions) == 0 && record.Same(summary, old.Value) {
		return nil
	}
	return r.writeSummary(ctx, old, summary)
}

func all(string) bool  { return true }
func none(string) bool { return false }

// lastSummary is what the store keeps of the last run. A damaged one is replaced:
// nothing depends on it.
func (r *run) lastSummary(ctx context.Context) record.Document[declaration.RunSummary] {
	old, err := record.Load[declaration.RunSummary](ctx, r.repository.Store, store.Statuses, lastRun)
	if err != nil {
		r.warnings.Warn(lostSummary(err))
		old.Value = declaration.RunSummary{}
	}
	return old
}

func (r *run) writeSummary(ctx context.Context, old record.Document[declaration.RunSummary], summary declaration.RunSummary) error {
	decided := map[string]int{}
	for _, k := range r.kinds {
		for _, d := range k.Results() {
			decided[d.Kind()+"/"+string(d.Outcome)]++
		}
	}
	if len(r.options.Names) == 0 {
		summary.Outcomes, summary.Calls = decided, r.report.Calls
		summary.NotifiedUntil = slices.MaxFunc([]time.Time{summary.NotifiedUntil, r.notifiedUntil}, time.Time.Compare)
	}
	summary.Counters = summary.Counters.Plus(r.now().Sub(r.report.StartedAt), decided, r.report.Calls)
	r.report.Counters = summary.Counters
	_, err := record.Save(ctx, r.repository.Store, store.Statuses, lastRun, old, summary)
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// meetings has the results of a run for the objects that it processed or skipped.
type meetings struct {
	processed, passedOver []declaration.Met
	skipped               []string
}

func (r *run) meetings() meetings {
	var m meetings
	for _, s := range r.finished().Declarations() {
		switch s.Outcome {
		case outcome.Skipped:
			m.skipped = append(m.skipped, s.Object())
			m.passedOver = append(m.passedOver, met(s.Object(), s.Error))
			continue
		case outcome.Failed:
			if r.interrupted { // it is unknown whether it would have
				m.skipped = append(m.skipped, s.Object())
				continue
			}
			m.processed = append(m.processed, r.met(s.Object(), s.Error))
			continue
		}
		m.processed = append(m.processed, declaration.Met{Object: s.Object()})
	}
	return m
}

// met is the failure of an object, and whether the history lacks it.
func (r *run) met(object string, failed *outcome.ErrorReport) declaration.Met {
	of := met(object, failed)
	of.Unreported = slices.ContainsFunc(r.unreported, func(e history.Event) bool { return e.Object == object })
	return of
}

func met(object string, failed *outcome.ErrorReport) declaration.Met {
	of := declaration.Met{Object: object}
	if failed != nil {
		of.Error, of.Reason = new(historyError(failed)), failed.Reason
	}
	return of
}

// FailedRun keeps in the store, and in its history, that a run could not begin, such as
// for want of credentials. Where another run is under way, or nothing can be written,
// it keeps nothing.
func (r *Runner) FailedRun(ctx context.Context, o RunOptions, failed error) {
	one := r.begin(o)
	_ = one.repository.WithLock(ctx, runLock, 0, func(ctx context.Context) error {
		one.events = one.addHistory(ctx, failed)
		one.claimNotifications(ctx, failed)
		one.saveFailure(ctx, failed)
		one.deliverNotifications(ctx)
		return nil
	})
}

// saveDay notes how large pools and how used budgets are now. It writes at most once a
// quarter hour, and nothing where nothing changed; a failure is a warning, as nothing
// depends on it.
func (r *run) saveDay(ctx context.Context) {
	old, err := record.Load[declaration.LastDay](ctx, r.repository.Store, store.Statuses, lastDay)
	if err != nil {
		if !old.Exists() {
			r.warnings.Warn(reason.Explain(err))
			return
		}
		old.Value = declaration.LastDay{} // a damaged one is replaced
	}
	report := r.finished()
	sizes, unseen := report.sizes(), map[string]bool{}
	for _, s := range report.Declarations() {
		unseen[s.Object()] = !s.Deleted
	}
	for _, s := range sizes {
		delete(unseen, s.Object)
	}
	next, changed := old.Value.After(r.now(), sizes, func(object string) bool { return unseen[object] })
	if !changed {
		return
	}
	_, err = record.Save(ctx, r.repository.Store, store.Statuses, lastDay, old, next)
	if err != nil && !errors.Is(err, store.ErrConflict) {
		r.warnings.Warn(reason.Explain(err))
	}
}

func (r Report) sizes() []declaration.Size {
	var list []declaration.Size
	for _, b := range r.Budgets {
		if b.UsageReport != nil && b.UsedPercent != nil {
			list = append(list, declaration.Size{Object: b.Summary().Object(), Value: *b.UsedPercent, Of: 100})
		}
	}
	for _, p := range r.SpotPools {
		if p.Counts != nil && !p.Deleted {
			list = append(list, declaration.Size{Object: p.Summary().Object(), Value: int64(p.Capacity), Of: int64(p.Minimum)})
		}
	}
	return list
}

// lostSummary reports that the summary of the last run is unreadable, and the consequence.
func lostSummary(err error) reason.Reason {
	var damaged *declaration.DamagedError
	if errors.As(err, &damaged) {
		return reason.SummaryDamaged(reason.NewForeign(damaged.What), reason.NewForeign(damaged.Reason))
	}
	return reason.SummaryUnknown(reason.Failure(err))
}
