package budgets

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// ensureFreeze makes sure of the freeze that is in force. It is told of only where it
// fails.
func (a *actor) ensureFreeze(ctx context.Context) {
	calling, release := record.Outliving(ctx)
	defer release()
	if err := a.cluster.Freeze(calling, a.freezeRule()); err != nil && !errors.Is(err, outcome.ErrPlanned) {
		d := budget.Decision{Kind: budget.KindFreeze, Object: a.declaration.Object(), Reasons: []string{"its freeze is to stay in force as declared"}}
		a.noteResult(ctx, d, a.outcome(d, err), err)
	}
}

// freezeRule is what keeps the budget's new pods out, and leaves alone what
// enforcement must.
func (a *actor) freezeRule() budget.FreezeRule {
	d := a.declaration
	f := budget.FreezeRule{
		Budget: d.Name, BudgetUID: d.UID, Selector: d.Selector, ProtectedNamespaces: slices.Clone(d.Enforce.ProtectedNamespaces),
		IgnorePodProtection: !d.Enforce.HonoursPods(), RecoversAt: a.judgement.plan.FreezeRecoversAt,
	}
	if namespace := a.flow.Keeper.Store.Location().Namespace; namespace != "" {
		f.ProtectedNamespaces = append(f.ProtectedNamespaces, namespace)
	}
	for resource, text := range d.ResourceWeights {
		if gpus, err := weight.Parse(text); err == nil && gpus.Sign() == 0 {
			f.Ignored = append(f.Ignored, resource)
		} else {
			f.Resources = append(f.Resources, resource)
		}
	}
	slices.Sort(f.Resources)
	slices.Sort(f.Ignored)
	return f
}

// awaitFreeze waits until a freeze of this very run is heeded: a pod that is
// evicted before comes straight back.
func (a *actor) awaitFreeze(ctx context.Context) {
	if a.frozenAt.IsZero() || a.notFrozen {
		return
	}
	heeded := time.NewTimer(a.frozenAt.Add(a.freezeLag()).Sub(a.flow.now()))
	defer heeded.Stop()
	select {
	case <-ctx.Done():
	case <-heeded.C:
	}
}

// awaitWithdrawn gives controllers as long as a freeze takes to be heeded to delete
// the waiting pods of what was suspended, before what makes room for them is. Where
// that takes longer, or can't be told, the next run tells of those that started.
func (a *actor) awaitWithdrawn(ctx context.Context) {
	left := a.withdrawn
	a.withdrawn = nil
	if len(left) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, a.freezeLag())
	defer cancel()
	for {
		pods, err := a.cluster.WaitingPods(ctx, a.declaration.Selector.Namespaces, a.books.Rules)
		if err != nil || !slices.ContainsFunc(pods, func(s gpu.Pod) bool { return s.Deletion == 0 && slices.Contains(left, s.UID) }) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (a *actor) freezeLag() time.Duration {
	if a.flow.FreezeLag <= 0 {
		return budget.FreezeLag
	}
	return a.flow.FreezeLag
}
