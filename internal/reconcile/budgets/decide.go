package budgets

import (
	"context"
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/pauses"
)

// decide plans again, on a fresh observation of the pods if the budget enforces, and repairs a freeze
// that stays. Owners that cannot be read fail the budget, but decisions without them are carried out.
func (a *actor) decide(ctx context.Context, paused []decide.Paused) error {
	s, second := a.judgement.situation, decide.Observation{Paused: paused}
	if wanted := s.WantsPods(); wanted != decide.NoPods {
		pods, err := a.books.Live(ctx, s.Declaration, wanted)
		switch {
		case err == nil:
			second.Pods = pods
			a.failure = a.fillOwners(ctx, &second)
			second.Owned = wanted == decide.AllPods && a.failure == nil
		case wanted == decide.WaitingPods: // they are only reported
			a.failure = err
		default:
			return err
		}
	}
	plan := decide.Decide(s, &second)
	a.judgement.plan, a.decided, a.queue, a.reserves = plan, true, slices.Clone(plan.Decisions), plan.Reserves
	a.pausing.decided(a.declaration.Name, a.queue)
	a.announceIneffective(ctx, plan.Turned)
	if plan.EnsureFreeze {
		a.ensureFreeze(ctx)
	}
	if len(plan.Undone) > 0 {
		if err := a.pauser.MarkStarted(ctx, plan.Undone); err != nil && !errors.Is(err, pauses.ErrNotStarted) {
			a.warn(reason.ResumeUnrecorded(reason.Failure(err)))
		}
	}
	return nil
}

// fillOwners fills in the workloads of the pods that a decision depends on, and their stock pools.
func (a *actor) fillOwners(ctx context.Context, second *decide.Observation) error {
	owned := a.judgement.situation.WantsOwners(*second)
	if len(owned) == 0 {
		return nil
	}
	owners, err := a.cluster.Owners(ctx, owned, gpu.Rules{Weights: a.declaration.ResourceWeights})
	stock, unread := a.flow.Repository.StockDeployments(ctx)
	err = errors.Join(err, unread)
	for n := range second.Pods {
		p := &second.Pods[n]
		p.Of = owners[p.UID]
		p.Of.StockPool = stock[p.Of.Workload.UID]
		if err != nil {
			p.Of = budget.Ownership{Reason: reason.OwnerUnknown()}
		}
	}
	return err
}
