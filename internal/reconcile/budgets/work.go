package budgets

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// work is what a run does about one budget.
type work struct {
	*kind
	declaration budget.Declaration
	err         error // why it was not judged, or not deleted
	deleted     bool  // with these messages
	messages    []string
	enforcer    *enforcer // nil where it was not judged
	judgement   judgement
	actor       *actor  // of a budget that is, or may have to be, acted on
	report      *Report // once its status is written
}

// finishDeletion goes on with a deletion that was cut short.
func (w *work) finishDeletion(ctx context.Context, c Cluster) {
	w.err = w.Records().Locked(ctx, w.declaration, func(ctx context.Context) error {
		condemned, err := w.Records().Still(ctx, w.declaration, declaration.Deleting)
		if err != nil {
			return err
		}
		if condemned == nil {
			return &loop.GoneError{Noun: w.Records().Noun()}
		}
		w.messages, err = lifter{w.flow, c}.clear(ctx, *condemned)
		return err
	})
	w.deleted = w.err == nil
}

// Observe records the budget, as it was judged, where nothing is to be done.
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

// Act decides about the budget on a fresh observation, once, and carries some of the
// decisions out.
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
	w.statuses[w.declaration.Name] = a.judgement.plan.Settle(a.done) // which names what is left to stock pools
	return loop.Done, nil
}

// Report says how the budget ended, and writes its status where no turn came to do so.
func (w *work) Report(ctx context.Context, e loop.Ending) (Report, []outcome.Result) {
	e = stopped(e)
	if w.enforcer == nil {
		report := unjudgedReport(w.declaration, e)
		report.Messages, report.Deleted = w.messages, w.deleted
		return report, nil
	}
	a := w.actor
	var gone *loop.GoneError
	switch {
	case w.report != nil:
		if e.Why != nil { // the lock could not be given back
			w.warnings.Add(e.Why.Error())
		}
	case errors.As(e.Why, &gone): // or destroyed: then no status is left behind
		a.giveUp(ctx, e)
		return unjudgedReport(w.declaration, e), a.results
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

// ending is how a run ended with one budget. Each way names its outcome: the zero
// value has none, and counts as failed.
type ending struct {
	became outcome.Outcome
	why    error // what went wrong, or what it waits for; nil otherwise
	// done had its effect; planned was refused by a port that changes nothing.
	done, planned []budget.Decision
	// unknown failed, and may have had their effect all the same.
	unknown []budget.Decision
}

// finish writes a budget's status, as what was done leaves it, and reports it. What
// could not be enforced is written too: the gates of its pools go by it.
func (w *work) finish(ctx context.Context, j judgement, end ending) {
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	status := j.plan.AboutTo(end.done, end.unknown)
	if previous := j.situation.Previous; j.blocked != nil && w.enforcer.inForce.err != nil && previous != nil {
		status.Enforced, status.Effects, status.EffectsLeftOut = previous.Enforced, previous.Effects, previous.EffectsLeftOut
	}
	e := loop.Ending{Became: cmp.Or(end.became, outcome.Failed), Why: end.why}
	if err := w.keepStatus(recording, j.document, status); err != nil {
		e = loop.Ending{Became: outcome.Failed, Why: errors.Join(e.Why, err)}
	}
	// What is enforced is what is in force, not what would be.
	status.Fired = j.plan.Settle(slices.Concat(end.done, end.planned)).Fired
	report := newReport(w.declaration, status, e)
	w.report = &report
}
