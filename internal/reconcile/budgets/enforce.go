package budgets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// enforcer carries out the decisions about one budget under its lock.
type enforcer struct {
	*judging
	declaration budget.Declaration
	plan        budget.Plan
	results     []outcome.Result
	done        []budget.Decision
	// notFrozen says that the freeze failed: what is evicted then comes back.
	notFrozen bool
	// failure is the first that failed; nil where none did.
	failure error
	// stopped says why some decisions were not come to, if any.
	stopped error
	// untold says that an Event about what was done could not be made.
	untold bool
	// frozenAt is when this run's own freeze began.
	frozenAt time.Time
	// withdrawn are the uids of waiting pods whose owners this run suspended: their
	// controllers are about to delete them.
	withdrawn []string
}

// failuresAtMost is how many evictions of a run may fail, other than by being
// blocked, before no more pods are tried in their place: what fails each time is
// not the pod's.
const failuresAtMost = 10

// run does one decision after the other. Evictions without effect are replaced
// by the next in reserve, whatever prevented them.
func (a *enforcer) run(ctx context.Context) {
	if a.plan.EnsureFreeze {
		a.uphold(ctx)
	}
	reserves, failed := a.plan.Reserves, 0
	for queue := slices.Clone(a.plan.Decisions); len(queue) > 0; queue = queue[1:] {
		d := queue[0]
		switch {
		case d.Kind == budget.KindEvict:
			a.awaitFreeze(ctx)
		case d.Kind == budget.KindSuspend && len(d.Waiting) == 0:
			a.awaitWithdrawn(ctx)
		}
		if ctx.Err() != nil {
			_, a.stopped = stopped(ctx)
			a.results = append(a.results, outcome.Of(d, outcome.Skipped, a.stopped))
			continue
		}
		if d.Kind == budget.KindEvict && a.notFrozen {
			a.results = append(a.results, outcome.Of(d, outcome.Skipped, errNotFrozen))
			continue
		}
		a.flow.Teller.Tell(d.Object, d.Summary(), nil)
		a.flow.Teller.Logger().Info("enforcing", "decision", d)
		calling, release := record.Outliving(ctx)
		err := a.do(calling, d)
		if err == nil {
			a.announce(calling, d)
		}
		release()
		became := a.outcome(d, err)
		a.results = append(a.results, outcome.Of(d, became, err))
		var left *budget.NotPausedError
		if became == outcome.Done || errors.As(err, &left) && left.Released {
			a.done = append(a.done, d)
			a.withdrawn = append(a.withdrawn, d.Waiting...)
		}
		victim := d.Kind == budget.KindEvict && !d.Pod.Waiting
		if became == outcome.Failed && victim {
			failed++
		}
		if victim && became != outcome.Done && failed <= failuresAtMost && len(reserves) > 0 {
			queue = append(queue, reserves[0])
			reserves = reserves[1:]
		}
	}
}

// uphold makes sure of the freeze that is in force. It is told of only where it
// fails.
func (a *enforcer) uphold(ctx context.Context) {
	calling, release := record.Outliving(ctx)
	defer release()
	if err := a.books.cluster.Freeze(calling, a.freeze()); err != nil {
		d := budget.Decision{Kind: budget.KindFreeze, Object: a.declaration.Object(), Reasons: []string{"its freeze is to stay in force as declared"}}
		a.results = append(a.results, outcome.Of(d, a.outcome(d, err), err))
	}
}

// awaitFreeze waits until a freeze of this very run is heeded: a pod that is
// evicted before comes straight back.
func (a *enforcer) awaitFreeze(ctx context.Context) {
	if a.frozenAt.IsZero() || a.notFrozen {
		return
	}
	heeded := time.NewTimer(time.Until(a.frozenAt.Add(a.flow.freezeLag())))
	defer heeded.Stop()
	select {
	case <-ctx.Done():
	case <-heeded.C:
	}
}

// awaitWithdrawn gives controllers as long as a freeze takes to be heeded to delete
// the waiting pods of what was suspended, before what makes room for them is. Where
// that takes longer, or can't be told, the next run tells of those that started.
func (a *enforcer) awaitWithdrawn(ctx context.Context) {
	left := a.withdrawn
	a.withdrawn = nil
	if len(left) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, a.flow.freezeLag())
	defer cancel()
	for {
		pods, err := a.books.cluster.WaitingPods(ctx, a.declaration.Selector.Namespaces, a.books.rules)
		if err != nil || !slices.ContainsFunc(pods, func(s gpu.Sighting) bool { return slices.Contains(left, s.UID) }) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}

var errNotFrozen = errors.New("the freeze failed, so what is evicted would come back at once: nothing is evicted")

func (a *enforcer) outcome(d budget.Decision, err error) outcome.Outcome {
	var blocked *budget.EvictionBlockedError
	var left *budget.NotPausedError
	switch {
	case err == nil:
		return outcome.Done
	case errors.As(err, &blocked), errors.As(err, &left):
		a.flow.Teller.Tell(d.Object, err.Error(), nil)
		return outcome.Skipped
	}
	a.notFrozen = a.notFrozen || d.Kind == budget.KindFreeze
	a.failure = cmp.Or(a.failure, err)
	a.flow.Teller.Logger().Error("decision failed", "decision", d, "error", err)
	a.flow.Teller.Tell(d.Object, err.Error(), nil)
	return outcome.Failed
}

func (a *enforcer) do(ctx context.Context, d budget.Decision) error {
	c, uid := a.books.cluster, a.declaration.UID
	switch d.Kind {
	case budget.KindAlert:
		return a.alert(ctx, d)
	case budget.KindFreeze:
		err := c.Freeze(ctx, a.freeze())
		a.frozenAt = time.Now()
		return err
	case budget.KindUnfreeze:
		return c.Unfreeze(ctx, uid)
	case budget.KindSuspend:
		return pausing{a.flow, c, a.declaration}.pause(ctx, *d.Owner)
	case budget.KindResume:
		return pausing{a.flow, c, a.declaration}.resume(ctx, *d.Owner)
	case budget.KindEvict, budget.KindShorten:
		e := budget.Eviction{
			PodRef: budget.PodRef{Namespace: d.Pod.Namespace, Name: d.Pod.Name, UID: d.Pod.UID}, Grace: a.declaration.Enforce.GraceOf(d.Pod.Grace),
		}
		if d.Pod.Waiting {
			e.Waiting = d.Pod.ResourceVersion
		}
		return c.Evict(ctx, e)
	}
	return fmt.Errorf("nobody knows how to %s", d.Kind)
}

// freeze is what keeps the budget's new pods out, and leaves alone what
// enforcement must.
func (a *enforcer) freeze() budget.FreezeRule {
	d := a.declaration
	f := budget.FreezeRule{
		Budget: d.Name, BudgetUID: d.UID, Selector: d.Selector, ProtectedNamespaces: slices.Clone(d.Enforce.ProtectedNamespaces),
		IgnorePodProtection: !d.Enforce.HonoursPods(),
	}
	if namespace := storeNamespace(a.flow.Keeper.Store.String()); namespace != "" {
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
