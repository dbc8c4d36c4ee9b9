package record

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
)

// Outbox is what one process has to report to the history: the events of documents that it
// wrote, and those that it found unreported. A document keeps its events until a later
// write, so that what is killed in between is reported by the next process. The zero value
// is ready.
type Outbox struct {
	mu       sync.Mutex
	runID    string
	pending  map[string]history.Event // by id
	reported map[string]bool          // ids that the history has
}

// Begin begins a run, whose ID is in its events.
func (o *Outbox) Begin(runID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.runID, o.reported = runID, nil
}

// Sign adds the actor and the run to events that lack them. It does not change its argument.
func (o *Outbox) Sign(events []history.Event, actor string) []history.Event {
	if !slices.ContainsFunc(events, func(e history.Event) bool { return e.Actor == "" }) {
		return events
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	events = slices.Clone(events)
	for n := range events {
		if events[n].Actor == "" {
			events[n].Actor, events[n].RunID = actor, o.runID
		}
	}
	return events
}

// Note takes up events of a document that was written, or found.
func (o *Outbox) Note(events ...history.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range events {
		if o.reported[e.ID] {
			continue
		}
		if o.pending == nil {
			o.pending = map[string]history.Event{}
		}
		o.pending[e.ID] = e
	}
}

// Forget leaves out what is about an object: it came to nothing.
func (o *Outbox) Forget(uid string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.pending, func(_ string, e history.Event) bool { return e.ObjectUID == uid })
}

// Has reports whether the history is known to have an event.
func (o *Outbox) Has(e history.Event) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reported[e.ID]
}

// Take returns what is to be told, in order, and forgets it.
func (o *Outbox) Take() []history.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	events := slices.Collect(maps.Values(o.pending))
	o.pending = nil
	return history.Once(events)
}

// Confirm notes that the history has events.
func (o *Outbox) Confirm(events []history.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reported == nil {
		o.reported = map[string]bool{}
	}
	for _, e := range events {
		o.reported[e.ID] = true
	}
}

// Report adds to the history all that it lacks. What can't be added is reported by the
// process that next finds it in its document.
func (o *Outbox) Report(ctx context.Context, m *eventlog.Log) eventlog.Added {
	events := o.Take()
	added := m.Add(ctx, events...)
	if added.Unreported == 0 {
		o.Confirm(events)
	}
	return added
}

// History is the history of the repository's store, for who does not know how much of it is
// to be kept.
func (k Repository) History(now func() time.Time) *eventlog.Log {
	return &eventlog.Log{Store: k.Store, AddOnly: true, Now: now}
}

// ReportAfter reports the events that the history lacks, at the end of an operation that may
// have been interrupted. Failures are only warnings.
func (k Repository) ReportAfter(ctx context.Context, o *Outbox, now func() time.Time, warn func(...reason.Reason)) eventlog.Added {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Grace)
	defer cancel()
	added := o.Report(ctx, k.History(now))
	warn(added.Warnings...)
	return added
}
