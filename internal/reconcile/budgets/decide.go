package budgets

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/pauses"
)

// decide plans once more, on a fresh observation of the pods if the budget enforces. It
// repairs a freeze that stays. Owners that can't be looked up fail the budget, but what
// needs none of them is still done.
func (a *actor) decide(ctx context.Context, paused []decide.Paused) error {
	s, second := a.judgement.situation, decide.Observation{Paused: paused}
	if wanted := s.WantsPods(); wanted != decide.NoPods {
		pods, err := a.books.Live(ctx, s.Declaration, wanted)
		switch {
		case err == nil:
			second.Pods = pods
			a.failure = a.fillOwners(ctx, &second)
			second.Owned = wanted == decide.AllPods && a.failure == nil
		case wanted == decide.WaitingPods: // they are told of, no more
			a.failure = err
		default:
			return err
		}
	}
	plan := decide.Decide(s, &second)
	a.judgement.plan, a.decided, a.queue, a.reserves = plan, true, slices.Clone(plan.Decisions), plan.Reserves
	if len(plan.Ineffective) > 0 {
		a.failure = errors.Join(a.failure, &budget.IneffectiveError{Effects: plan.Ineffective})
	}
	if plan.EnsureFreeze {
		a.ensureFreeze(ctx)
	}
	if len(plan.Undone) > 0 {
		if err := a.pauser.MarkStarted(ctx, plan.Undone); err != nil && !errors.Is(err, pauses.ErrNotBegun) {
			a.warnings.Add(fmt.Sprintf("%s: that someone started again what it had paused could not be noted: %v", a.declaration.Object(), err))
		}
	}
	return nil
}

// fillOwners looks up whose the pods are, where it decides what becomes of them: of which
// workload, and whether a stock pool keeps that.
func (a *actor) fillOwners(ctx context.Context, second *decide.Observation) error {
	owned := a.judgement.situation.WantsOwners(*second)
	if len(owned) == 0 {
		return nil
	}
	owners, err := a.cluster.Owners(ctx, owned, gpu.Rules{Weights: a.declaration.ResourceWeights})
	stock, unread := a.flow.Keeper.StockDeployments(ctx)
	err = errors.Join(err, unread)
	for n := range second.Pods {
		p := &second.Pods[n]
		p.Of = owners[p.UID]
		p.Of.Keeper = stock[p.Of.Workload.UID]
		if err != nil {
			p.Of = budget.Ownership{Reason: "whose it is can't be told"}
		}
	}
	return err
}
