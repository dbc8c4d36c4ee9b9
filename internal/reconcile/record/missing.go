package record

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Missing is the journal of an active pool that the store lacks.
type Missing struct {
	Document store.Key
	remedy   string
}

// String names the document and the remedy.
func (m Missing) String() string { return m.Document.String() + " " + m.remedy }

// MissingJournals finds the active pools without a journal. Records that can't be read are
// left out.
func MissingJournals(ctx context.Context, from Lister) ([]Missing, error) {
	spot, err := withoutJournal(ctx, from, SpotPools(Repository{}), store.Journals, JournalName,
		"is missing: do not restore a copy. The next terraform apply or gpupool reconcile writes a new one, and launches nothing for 10 minutes, "+
			"until each earlier launch is listed")
	if err != nil {
		return nil, err
	}
	stock, err := withoutJournal(ctx, from, StockPools(Repository{}), store.StockJournals, func(_, uid string) string { return uid },
		"is missing: restore it from a copy; or run terraform destroy for this stock pool, which keeps its Deployment, and then terraform import")
	return append(spot, stock...), err
}

func withoutJournal[D Declaration[D]](ctx context.Context, from Lister, l Lifecycle[D], journals store.Kind, name func(key, uid string) string,
	remedy string) ([]Missing, error) {
	records, err := from.List(ctx, l.kind)
	if err != nil {
		return nil, err
	}
	docs, err := from.List(ctx, journals) // after the records: each is there before its record is active
	if err != nil {
		return nil, err
	}
	there := map[store.Key]bool{}
	for _, doc := range docs {
		there[doc.Key] = true
	}
	var missing []Missing
	for _, doc := range records {
		r, err := l.decode(doc.Key.String(), doc.Data)
		if err != nil || r.Phase != declaration.Active {
			continue
		}
		uid, _ := r.Declaration.Identity()
		if key := (store.Key{Kind: journals, Name: name(doc.Key.Name, uid)}); !there[key] {
			missing = append(missing, Missing{Document: key, remedy: remedy})
		}
	}
	return missing, nil
}
