package conservation_test

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// lose loses one document of the store: it is removed, cut short or zeroed. Later losses
// are of the same document.
func (w *world) lose(which, how int) {
	kinds := []store.Kind{
		store.Ledger, store.SpotPools, store.Journals, store.Ledger, store.SpotPools, store.Ledger, store.Statuses, store.Budgets, store.StockPools,
		store.StockJournals, store.Pauses, store.Grants,
	}
	w.loseOf(kinds[which%len(kinds)], how/3, how)
}

// loseJournal moves a spot pool's journal away, or damages it before.
func (w *world) loseJournal(which, how int) {
	if how%3 == 2 {
		how = 0
	}
	w.loseOf(store.Journals, which, how)
}

func (w *world) loseOf(kind store.Kind, which, how int) {
	ctx := context.Background()
	key := w.lost
	if key == (store.Key{}) {
		docs, _ := w.store.List(ctx, kind)
		doc, ok := pick(docs, which)
		if !ok {
			return
		}
		key = doc.Key
	}
	doc, err := w.store.Read(ctx, key)
	if err != nil {
		return
	}
	w.lost = key
	data := doc.Data
	switch how % 3 {
	case 0:
		err = w.store.Delete(ctx, key, doc.Revision)
	case 1:
		_, err = w.store.Write(ctx, key, data[:len(data)/2], doc.Revision)
	default:
		_, err = w.store.Write(ctx, key, make([]byte, len(data)), doc.Revision)
	}
	w.logf("%s is %s: %v", key, []string{"removed", "cut short", "zeroed"}[how%3], err)
}
