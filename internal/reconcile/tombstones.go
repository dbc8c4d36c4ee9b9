package reconcile

import (
	"context"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// warnOrphans warns of objects whose records are lost, and returns their number.
func (r *run) warnOrphans(ctx context.Context) int {
	budgets := r.budgets.Keys()
	orphans, err := record.Orphans(ctx, r.repository.Store, record.Recorded{
		UID: func(uid string) bool {
			return r.pools.Recorded(uid) || r.budgets.Recorded(uid) || r.stock.Recorded(uid)
		},
		Budget: func(name string) bool { _, found := slices.BinarySearch(budgets, name); return found },
	})
	if err != nil {
		r.warnings.Warn(reason.OrphansUnsearched(reason.Failure(err)))
	}
	for _, of := range orphans {
		r.warnings.Warn(of.Reason())
	}
	return len(orphans)
}

// checkTombstones removes expired tombstones, of all kinds, and finds instances that are
// left of recently destroyed pools.
func (r *run) checkTombstones(ctx context.Context) {
	docs, err := r.repository.Store.List(ctx, store.Tombstones)
	if err != nil {
		r.warnings.Warn(reason.Explain(err))
		return
	}
	for _, doc := range docs {
		tombstone, err := record.DecodeListed[declaration.Tombstone](ctx, r.repository.Store, doc)
		if err == nil && tombstone.Expired(r.now()) {
			err = record.Remove(ctx, r.repository.Store, store.Tombstones, doc.Key.Name, doc.Revision)
		} else if err == nil {
			err = r.pools.FindRemaining(ctx, record.Document[declaration.Tombstone]{Value: tombstone, Revision: doc.Revision})
		}
		if err != nil {
			r.warnings.Warn(reason.Explain(err))
		}
	}
}
