package budgets

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// enforcer enforces the budgets of one run.
type enforcer struct {
	flow     *Flow
	books    *books
	inForce  *inForce
	declared []budget.Declaration
	busy     []judgement // those that are, or may have to be, acted on
	// bystanders are not judged by this run.
	bystanders []budget.Situation
	report     func(Report, []outcome.Result)
	warnings   *outcome.Warnings
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
	results []outcome.Result
}

// budgetsAtOnce is how many statuses are written at the same time.
const budgetsAtOnce = 16

// enforce records the budgets about which nothing is to be done, many at once, and
// then acts on the others by turns: two may have the same pods.
func (e *enforcer) enforce(ctx context.Context, judged []judgement) {
	var others errgroup.Group
	others.SetLimit(budgetsAtOnce)
	for _, j := range judged {
		end := ending{became: outcome.Done} // nothing is to be done
		switch {
		case j.blocked != nil:
			end = ending{became: outcome.Failed, why: j.blocked}
		case !j.idle():
			e.busy = append(e.busy, j)
			continue
		}
		others.Go(func() error { e.finish(ctx, j, end); return nil })
	}
	_ = others.Wait()
	slices.SortStableFunc(e.busy, func(a, b judgement) int { return cmp.Compare(rank(a.situation), rank(b.situation)) })
	e.takeTurns(ctx)
}

// rank is when a budget's turn comes among others'. What is exceeded takes hold
// before anything is let go that it holds as well. Of these, what leaves alone what
// someone started again comes after what pauses it again.
func rank(s budget.Situation) int {
	switch {
	case !s.Enforces():
		return 2
	case s.Declaration.Enforce.Action == budget.Pause && s.Declaration.Enforce.Repause:
		return 0
	}
	return 1
}

// finish writes a budget's status, as what was done leaves it, and reports it. What
// could not be enforced is written too: the gates of its pools go by it.
func (e *enforcer) finish(ctx context.Context, j judgement, end ending) {
	d := j.situation.Declaration
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	status := j.plan.AboutTo(end.done, end.unknown)
	if previous := j.situation.Previous; j.blocked != nil && e.inForce.err != nil && previous != nil {
		status.Enforced = previous.Enforced
	}
	became, why := cmp.Or(end.became, outcome.Failed), end.why
	if _, err := e.flow.saveStatus(recording, j.document, status); err != nil {
		became, why = outcome.Failed, errors.Join(why, err)
	}
	// What is enforced is what is in force, not what would be.
	status.Fired = j.plan.Settle(slices.Concat(end.done, end.planned)).Fired
	e.report(newReport(d, status, became, why), end.results)
}
