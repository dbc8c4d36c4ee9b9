package budgets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

type budgetStatus = record.Document[declaration.BudgetStatus]

// previousStatus is what the last run made of a budget.
type previousStatus struct {
	document budgetStatus
	err      error // *declaration.NewerError, where it is not this program's to replace
}

// previousStatuses reads the statuses of all budgets. A damaged one is told of
// and then replaced: nothing in it is lost that the ledger does not have.
func (k *kind) previousStatuses(ctx context.Context) (map[string]previousStatus, error) {
	docs, err := k.flow.Keeper.Store.List(ctx, store.Statuses)
	if err != nil {
		return nil, err
	}
	statuses := map[string]previousStatus{}
	for _, doc := range docs {
		name, ours := strings.CutPrefix(doc.Key.Name, record.BudgetStatusName(""))
		if !ours {
			continue
		}
		value, err := record.DecodeListed[declaration.BudgetStatus](ctx, k.flow.Keeper.Store, doc)
		status := previousStatus{document: budgetStatus{Value: value, Revision: doc.Revision}}
		var newer *declaration.NewerError
		switch {
		case errors.As(err, &newer):
			status.err = err
		case err != nil:
			k.warnings.Add(err.Error())
		}
		statuses[name] = status
	}
	return statuses, nil
}

// forgetStatuses removes what a run wrote of a budget that was destroyed
// meanwhile. Without a tombstone, its record was lost, and the status is what is left
// to report that by.
func (k *kind) forgetStatuses(ctx context.Context, previous map[string]previousStatus) {
	without := maps.Clone(previous)
	for _, key := range k.run.Keys() {
		delete(without, key)
	}
	for _, name := range slices.Sorted(maps.Keys(without)) {
		tombstone, err := k.flow.Keeper.Tombstone(ctx, previous[name].document.Value.UID)
		if err != nil || !tombstone.Exists() {
			continue
		}
		if err := record.Remove(ctx, k.flow.Keeper.Store, store.Statuses, record.BudgetStatusName(name), previous[name].document.Revision); err != nil {
			k.warnings.Add(err.Error())
		}
	}
}

// saveStatus replaces a budget's status, whoever wrote it meanwhile, and takes up what
// it has to tell.
func (k *kind) saveStatus(ctx context.Context, previous budgetStatus, status budget.Status) (budgetStatus, error) {
	name := record.BudgetStatusName(status.Name)
	status.Unreported = k.flow.outbox.Sign(status.Unreported, k.flow.Keeper.Actor)
	for range 3 {
		saved, err := record.Save(ctx, k.flow.Keeper.Store, store.Statuses, name, previous, status.Stored())
		if err == nil {
			k.flow.outbox.Note(status.Unreported...)
		}
		if !errors.Is(err, store.ErrConflict) {
			return saved, err
		}
		doc, err := k.flow.Keeper.Store.Read(ctx, store.Key{Kind: store.Statuses, Name: name})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return previous, err
		}
		previous.Revision = doc.Revision
		if theirs, err := declaration.Decode[declaration.BudgetStatus](name, doc.Data); err == nil && theirs.UID == status.UID {
			status.Unreported, _ = history.Merge(theirs.WithoutReported(k.flow.outbox.Has).Unreported, status.Unreported...)
		}
	}
	return previous, fmt.Errorf("the status of the budget %s was written by someone else again and again: nothing of this run's was kept", status.Name)
}
