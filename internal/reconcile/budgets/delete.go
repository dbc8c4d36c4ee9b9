package budgets

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/pauses"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Delete ends a budget for good: it lifts the budget's freeze and resumes
// what it paused, leaves a tombstone, and removes the record. A deletion that
// was cut short is finished by the next one, or by a run. The strings say what
// could not be undone because someone else changed it since.
func (f *Flow) Delete(ctx context.Context, d budget.Declaration) (messages []string, err error) {
	cluster, err := f.clusterOf(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("%s is not destroyed, since what it enforces can't be undone: %w", d.Object(), err)
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

// lifter lifts what destroyed budgets enforce.
type lifter struct {
	*Flow
	cluster Cluster
}

// clear undoes what a budget enforces, and removes what is recorded of it.
// One that only ever alerted needs no right to do so. The budget's lock must
// be held.
func (f lifter) clear(ctx context.Context, r record.Stored[budget.Declaration]) ([]string, error) {
	d := r.Value.Declaration
	f.records().NoteDeletion(&f.outbox, r)
	f.report(ctx)
	status, known, err := f.Keeper.BudgetStatus(ctx, d)
	onlyAlerts := err == nil && d.Enforce.Action == budget.AlertOnly && (!known || !status.Value.InForce())
	messages, resumed, err := f.release(ctx, d, status.Value)
	if onlyAlerts && pauses.Forbidden(err) {
		err = nil
	}
	if err != nil {
		return messages, fmt.Errorf("%s is not destroyed yet, since what it enforces could not be undone: %w", d.Object(), err)
	}
	if err := f.records().WriteTombstone(ctx, d, f.now()); err != nil {
		return messages, err
	}
	granted, _ := record.Grants(f.Keeper).Of(ctx, d.UID) // what can't be read goes with the budget
	ended, _ := granted.Release(d, exception.Release{At: f.now(), Who: f.Keeper.Actor, Why: "the budget is destroyed"})
	f.note(ended.Events(d, f.now())...)
	if err := f.reportLast(ctx, d, status.Value, resumed); err != nil {
		return messages, err
	}
	doc, err := f.Keeper.Store.Read(ctx, store.Key{Kind: store.Statuses, Name: record.BudgetStatusName(d.Name)})
	if err == nil {
		err = record.Remove(ctx, f.Keeper.Store, store.Statuses, doc.Key.Name, doc.Revision)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return messages, err
	}
	if err := record.Grants(f.Keeper).Forget(ctx, d.UID); err != nil {
		return messages, err
	}
	return messages, f.records().Remove(ctx, r)
}

// release lifts the freeze of a budget that is destroyed and resumes what it
// paused. The messages say what was left as someone else has it. Events tell of it on
// what was resumed, and where the last status, if any, has a freeze felt.
func (f lifter) release(ctx context.Context, d budget.Declaration, last budget.Status) (messages []string, let []budget.Workload, err error) {
	if err := f.cluster.Unfreeze(ctx, d.UID); err != nil {
		return nil, nil, err
	}
	var events []budget.Event
	if last.UID == d.UID && last.FrozenSince != nil {
		for _, namespace := range last.Usage.MostUsing() {
			event := announcement(d, budget.KindUnfreeze.Data().Event, destroyed)
			event.Namespace = namespace
			events = append(events, event)
		}
	}
	p := pauses.Pauser{Keeper: f.Keeper, Clock: f.Clock, Cluster: f.cluster, Budget: d}
	let, messages, err = p.LetGo(ctx)
	if err != nil {
		return messages, let, err
	}
	for _, w := range let {
		events = append(events, announcement(d, budget.KindResume.Data().Event, destroyed).On(w))
	}
	for _, event := range events {
		if err := f.cluster.Alert(ctx, event); err != nil {
			return append(messages, fmt.Sprintf("what was undone is not told of by Events in the cluster: %v", err)), let, nil
		}
	}
	return messages, let, nil
}

const destroyed = "the budget is destroyed"
