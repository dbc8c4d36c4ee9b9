package eventlog

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Log is the history of a store.
type Log struct {
	Store store.Store
	// Keep is the retention. Its zero value is history.DefaultRetention.
	Keep history.Retention
	// AddOnly skips the removal of old events and the compaction of days. A process that does
	// not know the retention must not apply it.
	AddOnly bool
	Now     func() time.Time
}

func (m *Log) keep() history.Retention {
	if m.Keep == (history.Retention{}) {
		return history.DefaultRetention
	}
	return m.Keep
}

func key(name string) store.Key { return store.Key{Kind: store.History, Name: name} }

// documents reads the documents of the history for one command.
type documents struct {
	store store.Store
	codec *history.Codec
	// listed has all documents; nil until they are listed.
	listed map[string]store.Document
}

func (m *Log) documents() (*documents, error) {
	codec, err := history.NewCodec()
	if err != nil {
		return nil, err
	}
	return &documents{store: m.Store, codec: codec}, nil
}

func (d *documents) list(ctx context.Context) error {
	if d.listed != nil {
		return nil
	}
	list, err := d.store.List(ctx, store.History)
	if err != nil {
		return err
	}
	d.listed = make(map[string]store.Document, len(list))
	for _, doc := range list {
		d.listed[doc.Key.Name] = doc
	}
	return nil
}

// read reads one document. A damaged one is returned without contents; an error means that
// nothing can be read.
func (d *documents) read(ctx context.Context, name string) (doc store.Document, found bool, err error) {
	if d.listed == nil {
		doc, err = d.store.Read(ctx, key(name))
		if errors.Is(err, store.ErrNotFound) {
			return doc, false, nil
		}
		if err == nil || ctx.Err() != nil {
			return doc, err == nil, err
		}
		// A list shows whether only this document is unreadable.
		if err := d.list(ctx); err != nil {
			return doc, false, err
		}
	}
	doc, found = d.listed[name]
	return doc, found, nil
}

func (d *documents) forgetList() { d.listed = nil }

// names returns the names of the listed documents of a day.
func (d *documents) names(day history.Day) []string {
	var names []string
	for name := range d.listed {
		if strings.HasPrefix(name, string(day)+"/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// create writes a segment. An existing segment of this name has the same events: a process was
// killed before it added the segment to the head.
func (d *documents) create(ctx context.Context, segment history.Document) error {
	_, err := d.store.Write(ctx, key(segment.Name), segment.Data, "")
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	there, err := d.store.Read(ctx, key(segment.Name))
	if err == nil && slices.Equal(there.Data, segment.Data) {
		return nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	_, err = d.store.Write(ctx, key(segment.Name), segment.Data, there.Revision)
	return err
}

// remove removes a document, if it exists.
func (d *documents) remove(ctx context.Context, name string) error {
	doc, found, err := d.read(ctx, name)
	if err != nil || !found {
		return err
	}
	err = d.store.Delete(ctx, doc.Key, doc.Revision)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func lost(day history.Day, from, to time.Time, err error) reason.Reason {
	of, why := reason.Word(day), reason.Failure(err)
	if from.IsZero() {
		return reason.HistoryLost(of, why)
	}
	return reason.HistoryPartLost(of, reason.Word(from.Format("15:04")), reason.Word(to.Format("15:04Z")), why)
}
