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

// enforcement is one budget that is acted on, by turns with others.
type enforcement struct {
	budget.Situation
	// enforcer is nil before the first turn.
	enforcer *enforcer
}

// enforceAll gives each of the budgets a turn, and again, until nothing is left to
// do of any.
func (j *judging) enforceAll(ctx context.Context) {
	list := make([]*enforcement, len(j.busy))
	for n, s := range j.busy {
		list[n] = &enforcement{Situation: s}
	}
	for len(list) > 0 {
		list = slices.DeleteFunc(list, func(e *enforcement) bool { return j.turn(ctx, e) })
	}
}

// turn decides about one budget on a fresh look, once, and carries some of the
// decisions out under its lock. It says whether that was all.
func (j *judging) turn(ctx context.Context, e *enforcement) (over bool) {
	d := e.Declaration
	if j.changed && e.enforcer == nil { // others paused some meanwhile
		j.pausedSets, j.changed = j.books.pausedSets(j.paused), false
	}
	e.Paused = j.pausedSets
	err := j.flow.records().Locked(ctx, d, func(ctx context.Context) error {
		// The declaration may have changed since it was listed.
		now, err := j.flow.records().Still(ctx, d, declaration.Active)
		if err != nil {
			return err
		}
		if now == nil || now.Value.Declaration.Generation != d.Generation {
			return errBudgetChanged
		}
		if e.enforcer == nil {
			plan, err := j.decide(ctx, e.Situation)
			if err != nil {
				return err
			}
			e.enforcer = j.begin(ctx, d, plan)
		}
		e.enforcer.turn(ctx)
		if len(e.enforcer.queue) == 0 {
			j.record(ctx, e.Situation, e.enforcer.plan, e.enforcer)
			over = true
		}
		return nil
	})
	switch {
	case err == nil:
		return over
	case over: // the lock could not be given back
		j.warnings.Add(err.Error())
	case e.enforcer == nil:
		j.unbegun(ctx, e.Situation, err)
	default:
		j.broken(ctx, e, err)
	}
	return true
}

// unbegun reports a budget whose first turn did not come to a decision.
func (j *judging) unbegun(ctx context.Context, s budget.Situation, err error) {
	switch {
	case errors.Is(err, errBudgetChanged): // or destroyed: then no status is left behind
		j.add(unjudgedReport(s.Declaration, outcome.Skipped, err), nil)
	case record.IsLocked(err):
		j.unacted(ctx, s, outcome.Skipped, err)
	case ctx.Err() != nil:
		became, err := stopped(ctx)
		j.unacted(ctx, s, became, err)
	default:
		j.unacted(ctx, s, outcome.Failed, err)
	}
}

// broken reports a budget that was acted on and to which no further turn comes.
func (j *judging) broken(ctx context.Context, e *enforcement, err error) {
	a := e.enforcer
	switch {
	case errors.Is(err, errBudgetChanged):
		a.skip(err)
		j.add(unjudgedReport(e.Declaration, outcome.Skipped, err), a.results)
		return
	case record.IsLocked(err):
		a.skip(err)
	case ctx.Err() != nil:
		_, why := stopped(ctx)
		a.skip(why)
	default:
		a.failure = errors.Join(a.failure, err)
		a.skip(err)
	}
	j.record(ctx, e.Situation, a.plan, a)
}
