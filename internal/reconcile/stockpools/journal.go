package stockpools

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

type (
	stored  = record.Stored[stockpool.Declaration]
	journal = record.Document[declaration.StockJournal]
)

func (f *Flow) loadJournal(ctx context.Context, d stockpool.Declaration) (journal, error) {
	if d.UID == "" {
		return journal{}, nil
	}
	return record.Load[declaration.StockJournal](ctx, f.Keeper.Store, store.StockJournals, d.UID)
}

// saveJournal writes a journal where it says something else, and takes up what it has to
// tell.
func (f *Flow) saveJournal(ctx context.Context, j journal, value stockpool.Journal) (journal, error) {
	value = value.Told(f.outbox.Has)
	value.Untold = f.outbox.Sign(value.Untold, f.Keeper.Actor)
	if j.Exists() && record.Same(j.Value, value.Stored()) {
		return j, nil
	}
	saved, err := record.Save(ctx, f.Keeper.Store, store.StockJournals, value.PoolUID, j, value.Stored())
	if err == nil {
		f.outbox.Note(value.Untold...)
	}
	return saved, err
}

// journals reads those of all stock pools, by the pool's uid. One that can't be read
// fails its own pool alone.
func (f *Flow) journals(ctx context.Context) (map[string]record.Excepted[journal], error) {
	docs, err := f.Keeper.Store.List(ctx, store.StockJournals)
	if err != nil {
		return nil, err
	}
	all := make(map[string]record.Excepted[journal], len(docs))
	for _, doc := range docs {
		value, err := record.DecodeListed[declaration.StockJournal](ctx, f.Keeper.Store, doc)
		all[doc.Key.Name] = record.Excepted[journal]{Value: journal{Value: value, Revision: doc.Revision}, Err: err}
	}
	return all, nil
}
