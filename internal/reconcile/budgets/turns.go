package budgets

import (
	"context"
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// takeTurns gives each of the budgets a turn, and again, until nothing is left to
// do of any.
func (e *enforcer) takeTurns(ctx context.Context) {
	list := make([]*actor, len(e.busy))
	for n, j := range e.busy {
		d := j.situation.Declaration
		list[n] = &actor{flow: e.flow, books: e.books, pauser: e.pauser(d), warnings: e.warnings, declaration: d, judgement: j}
	}
	for len(list) > 0 {
		list = slices.DeleteFunc(list, func(a *actor) bool { return e.turn(ctx, a) })
	}
}

// turn decides about one budget on a fresh look, once, and carries some of the
// decisions out under its lock. It says whether that was all.
func (e *enforcer) turn(ctx context.Context, a *actor) (over bool) {
	err := e.flow.records().Locked(ctx, a.declaration, func(ctx context.Context) error {
		// The declaration may have changed since it was listed.
		now, err := e.flow.records().Still(ctx, a.declaration, declaration.Active)
		if err != nil {
			return err
		}
		if now == nil || now.Value.Declaration.Generation != a.declaration.Generation {
			return errBudgetChanged
		}
		if !a.decided {
			a.judgement.situation.Paused = e.inForce.paused // others paused some meanwhile
			if err := a.decide(ctx); err != nil {
				return err
			}
		}
		a.doSome(ctx)
		if len(a.queue) == 0 {
			e.finish(ctx, a.judgement, a.ending())
			over = true
		}
		return nil
	})
	switch {
	case err == nil:
		return over
	case over: // the lock could not be given back
		e.warnings.Add(err.Error())
	default:
		e.broken(ctx, a, err)
	}
	return true
}

// broken ends with a budget to which no further turn comes, or not even a first.
func (e *enforcer) broken(ctx context.Context, a *actor, err error) {
	switch {
	case errors.Is(err, errBudgetChanged): // or destroyed: then no status is left behind
		a.giveUp(ctx, err)
		e.report(unjudgedReport(a.declaration, outcome.Skipped, err), a.results)
		return
	case record.IsLocked(err):
		a.giveUp(ctx, err)
	case ctx.Err() != nil:
		a.giveUp(ctx, whyStopped(ctx))
	default:
		a.failure = errors.Join(a.failure, err)
		a.giveUp(ctx, err)
	}
	e.finish(ctx, a.judgement, a.ending())
}

// pauser is what a budget pauses and resumes by in this run: it looks out for what
// the others would pause, and they for what it has.
func (e *enforcer) pauser(d budget.Declaration) pauser {
	return pauser{
		keeper: e.flow.Keeper, clock: e.flow.Clock, cluster: e.books.cluster, budget: d, declared: e.declared,
		wanted: func(seen budget.WorkloadState) string { return e.wanted(d.UID, seen) },
		learn:  func(paused []declaration.Pause) { e.inForce.learn(d.UID, paused) },
	}
}

// wanted names a budget of this cluster, other than one, that would hold a workload,
// if any.
func (e *enforcer) wanted(uid string, seen budget.WorkloadState) string {
	paused := budget.Paused{Workload: seen.Workload, PriorityClassName: seen.PriorityClassName, Set: e.inForce.setOf(seen.Namespace, seen.Labels)}
	for _, j := range e.busy {
		if j.situation.Declaration.UID != uid && j.situation.WouldHold(paused) {
			return j.situation.Declaration.Name
		}
	}
	for _, s := range e.bystanders {
		if s.WouldHold(paused) {
			return s.Declaration.Name
		}
	}
	return ""
}
