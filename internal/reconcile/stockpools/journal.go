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

// journals reads and writes journals, and reports their events.
type journals struct {
	Ports
	outbox record.Outbox
}

func (k *journals) Outbox() *record.Outbox { return &k.outbox }

// report reports the events of an operation to the history, and returns how many it lacks.
func (k *journals) report(ctx context.Context) (unreported int) {
	return k.Repository.ReportAfter(ctx, &k.outbox, k.Clock, k.Reporter.HistoryLacks).Unreported
}

func (k *journals) loadJournal(ctx context.Context, d stockpool.Declaration) (journal, error) {
	if d.UID == "" {
		return journal{}, nil
	}
	return record.Load[declaration.StockJournal](ctx, k.Repository.Store, store.StockJournals, d.UID)
}

// saveJournal writes a journal if it changed, and queues its events.
func (k *journals) saveJournal(ctx context.Context, j journal, value stockpool.Journal) (journal, error) {
	value = value.WithoutReported(k.outbox.Has)
	value.Unreported = k.outbox.Sign(value.Unreported, k.Repository.Actor)
	if j.Exists() && record.Same(j.Value, value.Stored()) {
		return j, nil
	}
	saved, err := record.Save(ctx, k.Repository.Store, store.StockJournals, value.PoolUID, j, value.Stored())
	if err == nil {
		k.outbox.Note(value.Unreported...)
	}
	return saved, err
}

// listJournals reads the journals of all stock pools, by UID. An unreadable one fails only its
// own pool.
func (k *journals) listJournals(ctx context.Context) (map[string]record.Excepted[journal], error) {
	docs, err := k.Repository.Store.List(ctx, store.StockJournals)
	if err != nil {
		return nil, err
	}
	all := make(map[string]record.Excepted[journal], len(docs))
	for _, doc := range docs {
		value, err := record.DecodeListed[declaration.StockJournal](ctx, k.Repository.Store, doc)
		all[doc.Key.Name] = record.Excepted[journal]{Value: journal{Value: value, Revision: doc.Revision}, Err: err}
	}
	return all, nil
}
