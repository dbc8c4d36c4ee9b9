package budgets

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/pauses"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Delete destroys a budget: it lifts the freeze, resumes what the budget paused, writes a tombstone, and
// removes the record. The next deletion or run finishes an interrupted one. The messages list what was left
// because another process changed it.
func (f *Flow) Delete(ctx context.Context, d budget.Declaration) (messages reason.Reasons, err error) {
	cluster, err := f.clusterOf(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("%s is not destroyed, since its enforcement cannot be lifted: %w", d.Object(), err)
	}
	err = f.records().Locked(ctx, d, func(ctx context.Context) error {
		r, err := f.records().Deletable(ctx, d)
		if err != nil || !r.Exists() {
			return err
		}
		if r, err = f.records().BeginDeletion(ctx, r); err != nil {
			return err
		}
		messages, err = lifter{f, cluster}.clear(ctx, r)
		return err
	})
	return messages, err
}

// lifter lifts the enforcement of destroyed budgets.
type lifter struct {
	*Flow
	cluster Cluster
}

// clear lifts the enforcement of a budget and removes its documents. A budget that only alerted needs
// no rights for that. The caller holds the budget's lock.
func (f lifter) clear(ctx context.Context, r record.Stored[budget.Declaration]) (reason.Reasons, error) {
	d := r.Value.Declaration
	f.records().NoteDeletion(&f.outbox, r)
	f.report(ctx)
	status, known, err := f.Repository.BudgetStatus(ctx, d)
	lost := f.lostPauses(ctx, d, status.Value)
	onlyAlerts := err == nil && d.Enforce.Action == budget.AlertOnly && (!known || !status.Value.InForce())
	messages, resumed, err := f.release(ctx, d, status.Value)
	messages = append(messages, lost...)
	if onlyAlerts && pauses.Forbidden(err) {
		err = nil
	}
	if err != nil {
		return messages, fmt.Errorf("%s is not destroyed yet, since its enforcement could not be lifted: %w", d.Object(), err)
	}
	if err := f.records().WriteTombstone(ctx, d, f.now()); err != nil {
		return messages, err
	}
	granted, _ := record.Grants(f.Repository).Of(ctx, d.UID) // grants that cannot be read end with the budget
	ended, _ := granted.Release(d, exception.Release{At: f.now(), Who: f.Repository.Actor, Why: "the budget is destroyed"})
	f.note(ended.Events(d, f.now())...)
	if err := f.reportLast(ctx, d, status.Value, resumed); err != nil {
		return messages, err
	}
	doc, err := f.Repository.Store.Read(ctx, store.Key{Kind: store.Statuses, Name: record.BudgetStatusName(d.Name)})
	if err == nil {
		err = record.Remove(ctx, f.Repository.Store, store.Statuses, doc.Key.Name, doc.Revision)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return messages, err
	}
	if err := record.Grants(f.Repository).Forget(ctx, d.UID); err != nil {
		return messages, err
	}
	return messages, f.records().Remove(ctx, r)
}

// release lifts the freeze of a destroyed budget and resumes what it paused. The messages list what was left
// because another process changed it. It creates Events on the resumed workloads and in the namespaces of a
// freeze.
func (f lifter) release(ctx context.Context, d budget.Declaration, last budget.Status) (messages reason.Reasons, let []budget.Workload, err error) {
	if err := f.cluster.Unfreeze(ctx, d.UID); err != nil {
		return nil, nil, err
	}
	var events []budget.Event
	if last.UID == d.UID && last.FrozenSince != nil {
		for _, namespace := range last.Usage.MostUsing() {
			event := announcement(d, budget.KindUnfreeze.Data().Event, reason.BudgetDestroyed().String())
			event.Namespace = namespace
			events = append(events, event)
		}
	}
	p := pauses.Pauser{Repository: f.Repository, Clock: f.Clock, Cluster: f.cluster, Budget: d}
	let, messages, err = p.Release(ctx)
	if err != nil {
		return messages, let, err
	}
	for _, w := range let {
		events = append(events, announcement(d, budget.KindResume.Data().Event, reason.BudgetDestroyed().String()).On(w))
	}
	for _, event := range events {
		if err := f.cluster.Alert(ctx, event); err != nil {
			return append(messages, reason.LiftEventsFailed(reason.Failure(err))), let, nil
		}
	}
	return messages, let, nil
}

// lostPauses reports the workloads that stay stopped after the budget is destroyed, since the
// documents of its pauses are lost.
func (f lifter) lostPauses(ctx context.Context, d budget.Declaration, last budget.Status) reason.Reasons {
	all, err := pauses.Read(ctx, f.Repository.Store)
	if err != nil || last.UID != d.UID || all.Broken[d.UID] != nil { // which fails the deletion
		return nil
	}
	held := map[string]bool{}
	for _, own := range all.ByBudget {
		for _, p := range own.Workloads() {
			held[p.UID] = held[p.UID] || p.Phase != declaration.Started
		}
	}
	return budget.LostPauses(lostPauses(ctx, f.cluster, last, held))
}
