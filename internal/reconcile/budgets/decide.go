package budgets

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// decide has the budget's plan be by the pods of now, where they matter, and makes
// sure of what is in force of it already. What of the pods can't be told fails it,
// and what follows from the rest is done all the same.
func (a *actor) decide(ctx context.Context) error {
	s := a.judgement.situation
	if wantsPods(s) {
		pods, err := a.books.live(ctx, s.Declaration)
		switch {
		case err == nil:
			s.Pods = pods
			a.failure = a.books.findOwners(ctx, s)
		case s.Declaration.Enforce.Action == budget.Freeze: // who waits is told, no more
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

// findOwners looks up whose the pods are, where it decides what becomes of them.
func (b *books) findOwners(ctx context.Context, s budget.Situation) error {
	action := s.Declaration.Enforce.Action
	var owned []budget.Pod
	for _, p := range s.Touchable() {
		// An eviction asks only what a waiting pod's Job would make of it.
		if action == budget.Pause || action == budget.Evict && p.Waits() && p.Controller().Kind == "Job" {
			owned = append(owned, p)
		}
	}
	if action == budget.Pause && len(owned) > 0 {
		owned = append(owned, s.Sparing()...)
	}
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
