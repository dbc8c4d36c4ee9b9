package budgets

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// decide plans once more, on a fresh look at the pods if the budget enforces. It
// repairs a freeze that stays. Owners that can't be looked up fail the budget, but
// what needs none of them is still done.
func (a *actor) decide(ctx context.Context) error {
	s := a.judgement.situation
	if wanted := s.WantsPods(); wanted != budget.NoPods {
		pods, err := a.books.live(ctx, s.Declaration, wanted)
		switch {
		case err == nil:
			s.Pods = pods
			a.failure = a.books.fillOwners(ctx, &s)
		case wanted == budget.WaitingPods: // they are told of, no more
			a.failure = err
		default:
			return err
		}
	}
	plan := budget.Decide(s)
	a.judgement.plan, a.decided, a.queue, a.reserves = plan, true, slices.Clone(plan.Decisions), plan.Reserves
	if plan.EnsureFreeze {
		a.ensureFreeze(ctx)
	}
	if len(plan.Undone) > 0 {
		if err := a.pauser.markStarted(ctx, plan.Undone); err != nil && !errors.Is(err, errNotBegun) {
			a.warnings.Add(fmt.Sprintf("%s: that someone started again what it had paused could not be noted: %v", a.declaration.Object(), err))
		}
	}
	return nil
}

// fillOwners looks up whose the pods are, where it decides what becomes of them.
func (b *books) fillOwners(ctx context.Context, s *budget.Situation) error {
	owned := s.WantsOwners()
	if len(owned) == 0 {
		return nil
	}
	owners, err := b.cluster.Owners(ctx, owned, gpu.Rules{Weights: s.Declaration.ResourceWeights})
	for n := range s.Pods {
		p := &s.Pods[n]
		p.Of = owners[p.UID]
		if err != nil {
			p.Of = budget.Ownership{Reason: "whose it is can't be told"}
		}
	}
	return err
}
