package budgets

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// ensureFreeze repairs the freeze in force. Only a failure is reported.
func (a *actor) ensureFreeze(ctx context.Context) {
	calling, release := record.WithGrace(ctx)
	defer release()
	if err := a.cluster.Freeze(calling, a.freezeRule()); err != nil && !errors.Is(err, outcome.ErrPlanned) {
		d := budget.Decision{Kind: budget.KindFreeze, Object: a.declaration.Object(), Reasons: reason.Reasons{reason.FreezeStays()}}
		a.addResult(ctx, d, a.outcome(d, err), err)
	}
}

// freezeRule returns the rule that blocks the budget's new pods.
func (a *actor) freezeRule() budget.FreezeRule {
	d := a.declaration
	f := budget.FreezeRule{
		Budget: d.Name, BudgetUID: d.UID, Selector: d.Selector, ProtectedNamespaces: slices.Clone(d.Enforce.ProtectedNamespaces),
		IgnorePodProtection: !d.Enforce.HonorsPods(), RecoversAt: a.judgement.plan.FreezeRecoversAt,
	}
	if namespace := a.flow.Repository.Store.Location().Namespace; namespace != "" {
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

// awaitFreeze waits until API servers respect a freeze of this run: a pod that is evicted before would
// be replaced.
func (a *actor) awaitFreeze(ctx context.Context) {
	if a.frozenAt.IsZero() || a.notFrozen {
		return
	}
	respected := time.NewTimer(a.frozenAt.Add(a.freezeLag()).Sub(a.flow.now()))
	defer respected.Stop()
	select {
	case <-ctx.Done():
	case <-respected.C:
	}
}

// awaitWithdrawn waits until controllers have deleted the waiting pods of paused workloads, for at most the
// lag of a freeze. Only then are workloads paused whose GPUs those pods would get. The next run reports pods
// that started.
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
