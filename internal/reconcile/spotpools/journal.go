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

// journals loads and saves the pools' journals, and collects their events.
type journals struct {
	*Ports

	outbox record.Outbox
}

func journalName(d spotpool.Declaration) string { return record.JournalName(d.Key(), d.UID) }

func (k *journals) loadJournal(ctx context.Context, d spotpool.Declaration) (document, error) {
	return record.Load[journal.Journal](ctx, k.Repository.Store, store.Journals, journalName(d))
}

// listJournals reads the journals of many pools at once. Take each of them once.
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

// saveJournal writes a journal, and collects its events. The journal after a lost one gets its
// salt with the time of the loss.
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

// unreported returns a journal without the events that the history has.
func (k *journals) unreported(j journal.Journal) journal.Journal {
	return j.WithoutReported(k.outbox.Has)
}

// keepJournal writes the journal after an observation without the pool's lock. If another
// process has the lock, or wrote the journal meanwhile, nothing is written: that process
// observes the same.
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

// journalLost returns the error of a pool that stays short because its journal was lost.
func journalLost(p decide.Plan) error {
	if why := p.Journal.LossReason(); !why.IsZero() && p.Shortfall > 0 {
		return errors.New(why.String())
	}
	return nil
}

// createLock returns the name of the lock of a creation.
func createLock(d spotpool.Declaration) string { return "create/" + d.Object() }

// splitKey splits "ap-singapore/train".
func splitKey(key string) (region, name string, ok bool) {
	region, name, ok = strings.Cut(key, "/")
	return region, name, ok && region != "" && name != ""
}
