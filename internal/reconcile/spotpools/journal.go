package spotpools

import (
	"context"
	"errors"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

type (
	stored   = record.Stored[spotpool.Declaration]
	document = record.Document[journal.Journal]
)

// journals keep the pools' journals, and what is to be told of pools.
type journals struct {
	*Ports

	outbox record.Outbox
}

func journalName(d spotpool.Declaration) string { return record.JournalName(d.Key(), d.UID) }

func (k *journals) loadJournal(ctx context.Context, d spotpool.Declaration) (document, error) {
	return record.Load[journal.Journal](ctx, k.Repository.Store, store.Journals, journalName(d))
}

// listJournals reads the journals of many pools at once, each to be taken once.
func (k *journals) listJournals(ctx context.Context) (take func(d spotpool.Declaration) (document, error), err error) {
	docs, err := k.Repository.Store.List(ctx, store.Journals)
	if err != nil {
		return nil, err
	}
	listed := make(map[string]store.Document, len(docs))
	for _, doc := range docs {
		listed[doc.Key.Name] = doc
	}
	return func(d spotpool.Declaration) (document, error) {
		doc, ok := listed[journalName(d)]
		if !ok {
			return document{}, nil
		}
		delete(listed, journalName(d))
		value, err := record.DecodeListed[journal.Journal](ctx, k.Repository.Store, doc)
		return document{Value: value, Revision: doc.Revision}, err
	}, nil
}

// saveJournal writes a journal, and takes up what it has to tell. One in the place of a
// lost one gets its salt once it says since when.
func (k *journals) saveJournal(ctx context.Context, d spotpool.Declaration, j document, value journal.Journal) (document, error) {
	if !value.LostAt.IsZero() {
		value = value.Salted(record.NewID())
	}
	value.Unreported = k.outbox.Sign(value.Unreported, k.Repository.Actor)
	saved, err := record.Save(ctx, k.Repository.Store, store.Journals, journalName(d), j, value.Stored())
	if err == nil {
		k.outbox.Note(value.Unreported...)
	}
	return saved, err
}

// unreported is a journal without what the history is known to have of it.
func (k *journals) unreported(j journal.Journal) journal.Journal {
	return j.WithoutReported(k.outbox.Has)
}

// keepJournal writes down what an observation without the pool's lock noticed. Where
// someone else has the lock, or wrote the journal meanwhile, they notice the same, and
// nothing is written.
func (k *journals) keepJournal(ctx context.Context, d spotpool.Declaration, j document, value journal.Journal) error {
	if record.Same(j.Value, value) {
		return nil
	}
	err := k.Repository.WithLock(ctx, d.Object(), 0, func(ctx context.Context) error {
		// No journal is written for a pool that was destroyed since the observation.
		if r, err := k.records().Load(ctx, d.Key()); err != nil || !r.Exists() || r.Value.Declaration.UID != d.UID {
			return err
		}
		_, err := k.saveJournal(ctx, d, j, value)
		return err
	})
	if record.IsLocked(err) || errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// journalLost is the error of a pool that stays short since its journal was lost.
func journalLost(p decide.Plan) error {
	if why := p.Journal.WhyLost(); why != "" && p.Shortfall > 0 {
		return errors.New(why)
	}
	return nil
}

// createLock is the lock of who creates a pool, for as long as that takes.
func createLock(d spotpool.Declaration) string { return "create/" + d.Object() }

// splitKey takes "ap-singapore/train" apart.
func splitKey(key string) (region, name string, ok bool) {
	region, name, ok = strings.Cut(key, "/")
	return region, name, ok && region != "" && name != ""
}
