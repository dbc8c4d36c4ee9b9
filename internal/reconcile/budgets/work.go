package budgets

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// work is one budget in a run.
type work struct {
	*kind
	declaration budget.Declaration
	err         error // why it was not judged, or not deleted
	deleted     bool  // with these messages
	messages    reason.Reasons
	enforcer    *enforcer // nil where it was not judged
	judgement   judgement
	actor       *actor  // of a budget with possible actions
	report      *Report // once the status is written
}

// finishDeletion continues an interrupted deletion.
func (w *work) finishDeletion(ctx context.Context, c Cluster) {
	w.err = w.Records().Locked(ctx, w.declaration, func(ctx context.Context) error {
		deleting, err := w.Records().Still(ctx, w.declaration, declaration.Deleting)
		if err != nil {
			return err
		}
		if deleting == nil {
			return &loop.GoneError{Noun: w.Records().Noun()}
		}
		w.messages, err = lifter{w.flow, c}.clear(ctx, *deleting)
		return err
	})
	w.deleted = w.err == nil
}

// Observe records the judged budget if there is nothing to do.
func (w *work) Observe(ctx context.Context) (loop.Next, error) {
	switch {
	case w.enforcer == nil:
		return loop.Done, w.err
	case w.actor != nil:
		return loop.Act, nil
	case w.judgement.blocked != nil:
		w.finish(ctx, w.judgement, ending{became: outcome.Failed, why: w.judgement.blocked})
	default:
		w.finish(ctx, w.judgement, ending{became: outcome.Done})
	}
	return loop.Done, nil
}

// Act decides about the budget once, on a fresh observation, and carries out some of the decisions.
func (w *work) Act(ctx context.Context, now record.Stored[budget.Declaration]) (loop.Next, error) {
	if now.Value.Declaration.Generation != w.declaration.Generation {
		return 0, &loop.GoneError{Noun: w.Records().Noun()}
	}
	a := w.actor
	if !a.decided {
		if err := a.decide(ctx, w.enforcer.inForce.paused); err != nil {
			return 0, err
		}
	}
	if a.doSome(ctx); len(a.queue) > 0 {
		return loop.Act, nil
	}
	w.finish(ctx, a.judgement, a.ending())
	w.statuses[w.declaration.Name] = a.judgement.plan.Settle(a.done) // with the requests to stock pools
	return loop.Done, nil
}

// Report reports the budget, and writes its status if no turn did.
func (w *work) Report(ctx context.Context, e loop.Ending) (Report, []outcome.Result) {
	e = stopped(e)
	if w.enforcer == nil {
		report := w.unjudged(w.declaration, e)
		report.Messages, report.Deleted = w.messages, w.deleted
		return report, nil
	}
	a := w.actor
	var gone *loop.GoneError
	switch {
	case w.report != nil:
		if e.Why != nil { // the lock could not be released
			w.warnings.Warn(reason.LockKept(reason.Failure(e.Why)))
		}
	case errors.As(e.Why, &gone): // destroyed budgets leave no status
		a.giveUp(ctx, e)
		return w.unjudged(w.declaration, e), a.results
	default:
		if e.Became == outcome.Failed {
			a.failure = errors.Join(a.failure, e.Why)
		}
		a.giveUp(ctx, e)
		w.finish(ctx, a.judgement, a.ending())
	}
	if a == nil {
		return *w.report, nil
	}
	return *w.report, a.results
}

// ending is the outcome of one budget. The zero value counts as failed.
type ending struct {
	became outcome.Outcome
	why    error // the failure, or what the budget waits for; nil otherwise
	// done had their effect; planned were refused by a dry run.
	done, planned []budget.Decision
	// unknown failed, and may still have had their effect.
	unknown []budget.Decision
}

// finish writes and reports a budget's status after the actions, even if they failed: the gates of
// pools depend on it.
func (w *work) finish(ctx context.Context, j judgement, end ending) {
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	status := j.plan.StatusBefore(end.done, end.unknown)
	if previous := j.situation.Previous; j.blocked != nil && w.enforcer.inForce.err != nil && previous != nil {
		status.Enforced, status.Effects, status.EffectsLeftOut = previous.Enforced, previous.Effects, previous.EffectsLeftOut
	}
	if f := w.enforcer.inForce; !j.situation.Unseen { // after the actions of this run
		status = status.WithPaused(append(decide.PausedBy(status.UID, f.paused), f.lost[status.UID]...))
	}
	e := loop.Ending{Became: cmp.Or(end.became, outcome.Failed), Why: end.why}
	if err := w.keepStatus(recording, j.document, status); err != nil {
		e = loop.Ending{Became: outcome.Failed, Why: errors.Join(e.Why, err)}
	}
	// Enforced is what is in force, not what would be.
	status.Fired = j.plan.Settle(slices.Concat(end.done, end.planned)).Fired
	report := newReport(w.declaration, status, e)
	w.report = &report
}
