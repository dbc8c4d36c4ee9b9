package spotpools

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// work is the work of a run on one pool.
type work struct {
	*kind
	target target
	region *region

	gate spotpool.Gate
	// trouble says why the pool's gate is unknown, or its nodes were not observed. Such a pool
	// counts as failed, whatever else is done to it.
	trouble error
	seen    *decide.Plan // by the observation of the region; nil if that lacks the pool
	pass    *pass        // nil if there was no action
	deleted bool

	// launched and status are used after the report. The plan, with all of a pool's instances,
	// is dropped earlier.
	launched []string
	status   *declaration.PoolStatus // nil if the pool was skipped
}

// Observe decides by the observation of the region, and continues deletions. After Act, it
// waits for the effects.
func (w *work) Observe(ctx context.Context) (loop.Next, error) {
	if w.pass != nil {
		return loop.Done, w.result(w.pass.settle(ctx, w.options.WaitTimeout))
	}
	if err := w.decide(ctx); err != nil {
		return 0, err
	}
	t := w.target
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case t.phase == declaration.Creating: // terraform apply resumes it
		unmade := w.Records().UnfinishedCreation(ctx, t.declaration, createLock(t.declaration), t.updatedAt)
		if unmade.Forgotten.IsZero() {
			return 0, loop.Skip(unmade)
		}
		return 0, unmade
	case t.phase == declaration.Deleting:
		return loop.Done, w.finishDeletion(ctx)
	case len(w.seen.Decisions) > 0 || len(w.seen.Unmarked)+len(w.seen.Marked) > 0:
		return loop.Act, nil
	}
	if err := w.flow.keepJournal(ctx, t.declaration, t.journal, w.seen.Journal); err != nil {
		w.warnings.Warn(reason.Explain(err))
	}
	return loop.Done, nil
}

// decide decides by the observation of the region.
func (w *work) decide(ctx context.Context) error {
	d, j, observed := w.target.decided(), w.target.journal.Value, w.region.observation
	if err := w.region.err; err != nil {
		return err
	}
	if err := sameConnection(d, observed.account); err != nil {
		return err
	}
	var gateErr error
	w.gate, gateErr = w.flow.gateBy(ctx, d, w.statuses)
	observation := observed.pool(w.target)
	nodes := w.flow.observePoolNodes(ctx, d, j, observation, actMaxAge, false)
	if err := nodes.refusal(); err != nil {
		return err
	}
	if !nodes.remark.IsZero() {
		w.warnings.Warn(nodes.remark)
	}
	plan := decide.Decide(situation(d, observation, nodes, w.flow.unreported(j), w.gate, w.target.hold))
	w.seen, w.trouble = &plan, cmp.Or(gateErr, nodes.err, journalLost(plan))
	return nil
}

// Act carries decisions out, after another observation.
func (w *work) Act(ctx context.Context, now stored) (loop.Next, error) {
	w.pass = &pass{flow: w.flow, declaration: now.Value.Declaration, gate: w.gate, gone: w.region.observation.gone}
	w.pass.note(*w.seen, w.region.observation.pool(w.target))
	err := w.pass.act(ctx)
	if err == nil && w.options.Wait {
		return loop.Observe, nil
	}
	return loop.Done, w.result(err)
}

// result returns the error of the pool, after the pass returned one.
func (w *work) result(err error) error {
	if err == nil && !errors.Is(w.pass.failure, errNotYet) {
		return w.pass.failure
	}
	return err
}

// finishDeletion resumes a deletion that was interrupted.
func (w *work) finishDeletion(ctx context.Context) (err error) {
	wait := 30 * time.Second
	if w.options.Wait {
		wait = w.options.WaitTimeout
	}
	w.pass, err = deletion{w.flow}.terminateAndRemove(ctx, w.target.declaration, time.Now().Add(wait), false)
	if w.deleted = err == nil; isOnHold(err) {
		return loop.Skip(err)
	}
	return err
}

// Report reports on the pool.
func (w *work) Report(_ context.Context, e loop.Ending) (report Report, results []outcome.Result) {
	d, plan := w.target.declaration, w.seen
	defer func() {
		w.launched, w.status = launched(results), w.poolStatus(d, report, results)
		w.seen, w.pass = nil, nil
	}()
	if w.target.phase == declaration.Deleting {
		return w.reportDeletion(e)
	}
	became := idleOutcome
	if p := w.pass; p != nil {
		d, plan, results = p.declaration, p.plan(), p.results
		became = func(plan decide.Plan) outcome.Outcome { return actedOutcome(plan, results) }
		w.trouble = cmp.Or(w.trouble, p.nodes.err)
	}
	if e.Became == outcome.Done {
		if e.Became = became(*plan); w.trouble != nil {
			e = loop.Ending{Became: outcome.Failed, Why: w.trouble}
		}
	}
	return newReport(d, plan, e), results
}

// reportDeletion reports on a pool that is being deleted, as it was observed last.
func (w *work) reportDeletion(e loop.Ending) (Report, []outcome.Result) {
	d, plan := w.target.declaration, w.seen
	d.Budget = "" // its gate is of no account
	if w.pass == nil {
		return newReport(d, plan, e), nil
	}
	if w.deleted {
		d.Minimum, d.Maximum = 0, 0
		plan = &decide.Plan{Result: decide.Result{
			Messages: reason.Reasons{reason.DeletionComplete()}, Warnings: w.pass.leftovers(),
		}}
	} else if last := w.pass.plan(); last != nil {
		plan = last
	}
	report := newReport(d, plan, e)
	report.Deleted, report.Short, report.ShortReasons = w.deleted, nil, nil
	return report, w.pass.results
}

func idleOutcome(p decide.Plan) outcome.Outcome {
	if p.Shortfall > 0 {
		return outcome.Short
	}
	return outcome.Done
}

// actedOutcome returns the outcome of a pool after actions. Launching counts as done.
func actedOutcome(p decide.Plan, results []outcome.Result) outcome.Outcome {
	if outcome.AnyPlanned(results) {
		return outcome.Planned
	}
	if p.Shortfall > 0 && len(p.Decisions) == 0 {
		return outcome.Short
	}
	return outcome.Done
}
