package budgets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

type budgetStatus = record.Document[declaration.BudgetStatus]

// previousStatus is the status of the last run.
type previousStatus struct {
	document budgetStatus
	err      error // *declaration.NewerError if a newer gpupool wrote it
}

// previousStatuses reads the statuses of all budgets. It warns of a damaged one, which is then replaced.
// One of a newer gpupool stops its budget, and newer measurements stop all budgets.
func (k *kind) previousStatuses(ctx context.Context) (map[string]previousStatus, error) {
	listed, usage, lost, err := k.flow.Repository.BudgetStatuses(ctx)
	if err != nil {
		return nil, err
	}
	k.measured.last = usage
	unmeasured := k.irreplaceable(lost)
	statuses := map[string]previousStatus{}
	for name, l := range listed {
		statuses[name] = previousStatus{document: l.Document, err: cmp.Or(k.irreplaceable(l.Err), unmeasured)}
	}
	return statuses, nil
}

// irreplaceable returns the error of a document of a newer gpupool, which must not be replaced. It only
// warns of other errors.
func (k *kind) irreplaceable(err error) error {
	var newer *declaration.NewerError
	if errors.As(err, &newer) {
		return err
	}
	if err != nil {
		k.warnings.Warn(reason.DocumentFailed(reason.Failure(err)))
	}
	return nil
}

// forgetStatuses removes the statuses of budgets that were destroyed while a run wrote them. Without a
// tombstone, the record was lost, and the status stays to report that.
func (k *kind) forgetStatuses(ctx context.Context, previous map[string]previousStatus) {
	without := maps.Clone(previous)
	for _, key := range k.run.Keys() {
		delete(without, key)
	}
	for _, name := range slices.Sorted(maps.Keys(without)) {
		tombstone, err := k.flow.Repository.Tombstone(ctx, previous[name].document.Value.UID)
		if err != nil || !tombstone.Exists() {
			continue
		}
		if err := record.Remove(ctx, k.flow.Repository.Store, store.Statuses, record.BudgetStatusName(name), previous[name].document.Revision); err != nil {
			k.warnings.Warn(reason.DocumentFailed(reason.Failure(err)))
		}
	}
}

// measured are the measurements of a run for budgets whose statuses do not change otherwise.
type measured struct {
	mu   sync.Mutex
	last record.Document[declaration.BudgetUsage] // of earlier runs
	now  []remeasured
	// unsaved has the errors of those that could not be written, by the budget's name.
	unsaved map[string]error
}

// remeasured is a status that differs from the last one only in measurements.
type remeasured struct {
	document    budgetStatus // the last one
	status      budget.Status
	measurement budget.Measurement
}

// keepStatus writes a budget's status, or keeps it for saveMeasured if only measurements differ.
func (k *kind) keepStatus(ctx context.Context, previous budgetStatus, status budget.Status) error {
	now := status.Stored()
	now.RunID = previous.Value.RunID
	m := budget.Measurement{Of: now.RunID, At: now.At, Usage: now.Usage, Warnings: now.Warnings}
	if m.Of == "" || !record.Same(previous.Value.Measured(m), now) {
		_, err := k.saveStatus(ctx, previous, status)
		return err
	}
	k.measured.mu.Lock()
	defer k.measured.mu.Unlock()
	k.measured.now = append(k.measured.now, remeasured{previous, status, m})
	return nil
}

// saveMeasured writes the kept statuses as one document or, if the store rejects it, one by one.
func (k *kind) saveMeasured(ctx context.Context) {
	m := &k.measured
	if len(m.now) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	next := declaration.BudgetUsage{Budgets: map[string]budget.Measurement{}}
	for uid, of := range m.last.Value.Budgets {
		if k.run.Recorded(uid) {
			next.Budgets[uid] = of
		}
	}
	for _, of := range m.now {
		next.Budgets[of.status.UID] = of.measurement
	}
	if k.flow.Repository.SaveBudgetUsage(ctx, m.last, next) == nil {
		return
	}
	m.unsaved = map[string]error{}
	for _, of := range m.now {
		if _, err := k.saveStatus(ctx, of.document, of.status); err != nil {
			m.unsaved[of.status.Name] = err
		}
	}
}

// saveStatus replaces a budget's status, even if another process wrote it meanwhile, and keeps its unreported events.
func (k *kind) saveStatus(ctx context.Context, previous budgetStatus, status budget.Status) (budgetStatus, error) {
	name := record.BudgetStatusName(status.Name)
	status.Unreported = k.flow.outbox.Sign(status.Unreported, k.flow.Repository.Actor)
	for range 3 {
		saved, err := record.Save(ctx, k.flow.Repository.Store, store.Statuses, name, previous, status.Stored())
		if err == nil {
			k.flow.outbox.Note(status.Unreported...)
		}
		if !errors.Is(err, store.ErrConflict) {
			return saved, err
		}
		doc, err := k.flow.Repository.Store.Read(ctx, store.Key{Kind: store.Statuses, Name: name})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return previous, err
		}
		previous.Revision = doc.Revision
		if theirs, err := declaration.Decode[declaration.BudgetStatus](name, doc.Data); err == nil && theirs.UID == status.UID {
			status.Unreported, _ = history.Merge(theirs.WithoutReported(k.flow.outbox.Has).Unreported, status.Unreported...)
		}
	}
	return previous, fmt.Errorf("the status of budget/%s was not written: other processes wrote it repeatedly", status.Name)
}
