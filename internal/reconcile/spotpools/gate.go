package spotpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// gates reads the budgets of pools.
type gates struct{ *Ports }

// Gate returns whether a pool's budget blocks launches, by the status of the last run in the
// store. The gate is closed while the budget is exceeded, or its usage is unknown. Then the
// error, and the gate's reason, say why.
func (g gates) Gate(ctx context.Context, d spotpool.Declaration) (spotpool.Gate, error) {
	return g.gateBy(ctx, d, nil)
}

// gate is Gate for callers that show the reason and need no error.
func (g gates) gate(ctx context.Context, d spotpool.Declaration) spotpool.Gate {
	gate, _ := g.Gate(ctx, d)
	return gate
}

// updateGate reads the gate again if the budget was not declared: the apply of the pool may
// have declared it meanwhile.
func (p *pass) updateGate(ctx context.Context) {
	if p.gate.Undeclared && p.latest != nil {
		p.gate = p.flow.gate(ctx, p.declaration)
		p.latest.plan = decide.Decide(p.situation(p.latest.observation, p.latest.plan.Journal))
	}
}

// gateBy prefers the statuses of the current run to those in the store.
func (g gates) gateBy(ctx context.Context, d spotpool.Declaration, made map[string]budget.Status) (spotpool.Gate, error) {
	if d.Budget == "" {
		return spotpool.Gate{}, nil
	}
	status, found, err := g.budgetStatus(ctx, d.Budget, made)
	if err == nil {
		err = cmp.Or(requireSameCluster(d, found), declaration.Trust(found, status, g.now()))
	}
	if err != nil {
		why := reason.BudgetUnknown
		var undeclared *record.UndeclaredError
		if errors.As(err, &undeclared) {
			why = reason.BudgetUndeclared
		}
		blocked := why(reason.Object("budget/"+d.Budget), reason.Failure(err))
		return spotpool.Gate{Closed: true, Unknown: true, Undeclared: undeclared != nil, Reason: blocked}, &reason.Error{Reason: blocked, Err: err}
	}
	if !status.Usage.Exceeded() {
		return spotpool.Gate{}, nil
	}
	return spotpool.Gate{Closed: true, Certain: status.Certain, Reason: exceededReason(status)}, nil
}

func exceededReason(s budget.Status) reason.Reason {
	of, used, limit, at := reason.Object("budget/"+s.Name), reason.Amount(budget.Hours(s.Usage.Consumed)), reason.Amount(budget.Hours(s.Usage.Limit)),
		reason.Instant{Time: s.At}
	if end := s.Usage.WindowEnd; end.After(s.At) {
		return reason.BudgetUsedUpUntil(of, used, limit, at, reason.Instant{Time: end})
	}
	return reason.BudgetUsedUp(of, used, limit, at)
}

// budgetStatus returns the status of a budget, and its record.
func (g gates) budgetStatus(ctx context.Context, name string, made map[string]budget.Status) (budget.Status, declaration.Budget, error) {
	r, err := g.Repository.NamedBudget(ctx, name)
	if err != nil {
		return budget.Status{}, r.Value, err
	}
	if status, ok := made[name]; ok {
		return status, r.Value, nil
	}
	status, known, err := g.Repository.LimitedStatus(ctx, r.Value.Declaration, g.now())
	if err == nil && !known {
		err = fmt.Errorf("it has no status in the store %s yet: run gpupool reconcile", g.Repository.Store)
	}
	return status, r.Value, err
}
