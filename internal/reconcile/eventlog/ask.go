package eventlog

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Answer is the result of a query.
type Answer struct {
	Events []history.Event // in the order of their time
	// Objects are all objects with events in the documents that were read, also if the
	// query does not select them.
	Objects []string
	// Lost describes the parts of the history that cannot be read.
	Lost reason.Reasons
	// KeptSince is the time before which events were dropped. It is zero if no document
	// reports dropped events.
	KeptSince time.Time
}

// probed is the most days that are read by name. For more days, all documents are listed.
const probed = 62

// Ask returns the events that the query selects. It fails if the store cannot be read at
// all.
func (m *Log) Ask(ctx context.Context, q history.Query) (Answer, error) {
	var events []history.Event
	answer, err := m.Walk(ctx, q, func(e *history.Event) error {
		events = append(events, *e)
		return nil
	})
	answer.Events = events
	return answer, err
}

// Walk calls yield with each event that the query selects, in the order of their time. The
// answer has everything except the events. Walk keeps only the events of documents whose
// times overlap in memory. It fails if yield fails, or if the store cannot be read at all.
func (m *Log) Walk(ctx context.Context, q history.Query, yield func(*history.Event) error) (Answer, error) {
	d, err := m.documents()
	if err != nil {
		return Answer{}, err
	}
	w := walk{documents: d, query: q, yield: yield, seen: history.EventSet{}, objects: map[string]bool{}}
	days, err := w.days(ctx, m.Now())
	if err != nil {
		return Answer{}, err
	}
	for _, day := range days {
		if err := w.day(ctx, day); err != nil {
			return Answer{}, err
		}
	}
	w.answer.Objects = slices.Sorted(maps.Keys(w.objects))
	return w.answer, nil
}

type walk struct {
	*documents
	query   history.Query
	yield   func(*history.Event) error
	last    time.Time // the time of the last event
	seen    history.EventSet
	answer  Answer
	objects map[string]bool
}

func (w *walk) days(ctx context.Context, now time.Time) ([]history.Day, error) {
	since, until := w.query.Since, w.query.Until
	if until.IsZero() { // clocks can be ahead of this one
		until = later(now.Add(24*time.Hour), since.Add((probed-1)*24*time.Hour))
	}
	if !since.IsZero() && until.Sub(since) < probed*24*time.Hour {
		var days []history.Day
		for day := history.DayOf(since); day.Begin().Before(until); day = day.Next() {
			days = append(days, day)
		}
		return days, nil
	}
	if err := w.list(ctx); err != nil {
		return nil, err
	}
	days := map[history.Day]bool{}
	for name := range w.listed {
		if day, _, ok := history.ParseName(name); ok && w.query.Overlaps(day.Begin(), day.Next().Begin()) {
			days[day] = true
		}
	}
	return slices.Sorted(maps.Keys(days)), nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// errMoved reports that a segment is missing: another process may have compacted it into
// another one.
var errMoved = errors.New("it is missing: restore it from a copy")

// day yields the selected events of a day. It reads the day again if another process
// compacts it meanwhile.
func (w *walk) day(ctx context.Context, day history.Day) error {
	const attempts = 3
	for n := 1; ; n++ {
		sources, err := w.heads(ctx, day, n == attempts || w.listed != nil)
		if err != nil {
			return err
		}
		since := w.last // earlier events were yielded
		err = history.InOrder(sources, func(e *history.Event) error {
			if e.At.Before(since) || w.seen.Again(e) {
				return nil
			}
			w.last = e.At
			return w.yield(e)
		})
		if !errors.Is(err, errMoved) {
			return err
		}
	}
}

// heads reads the heads of a day. It returns their events and the segments that they list
// as sources.
func (w *walk) heads(ctx context.Context, day history.Day, finally bool) ([]history.Source, error) {
	var sources []history.Source
	listed, damaged := map[string]bool{}, false
	for number := 1; ; number++ {
		name := day.HeadName(number)
		doc, found, err := w.read(ctx, name)
		if err != nil {
			return nil, err
		}
		if !found {
			break
		}
		h, err := w.codec.Head(name, doc.Data, w.query)
		if err != nil {
			w.lose(day, time.Time{}, time.Time{}, err)
			damaged = true
			continue
		}
		w.note()
		sources = append(sources, source(h.Events, func() ([]history.Event, error) { return h.Events, nil }))
		if h.KeptSince.After(w.answer.KeptSince) {
			w.answer.KeptSince = h.KeptSince
		}
		for _, s := range h.Segments {
			listed[s.Name] = true
			if from, to := s.Span(); w.query.Overlaps(from, to) {
				sources = append(sources, history.Source{From: s.From, Fetch: func() ([]history.Event, error) { return w.segment(ctx, day, s, finally) }})
			}
		}
	}
	if !damaged {
		return sources, nil
	}
	unlisted, err := w.unlistedSegments(ctx, day, listed)
	return append(sources, unlisted...), err
}

// source returns a source whose events were read before, at least to find the time of the
// first one.
func source(events []history.Event, fetch func() ([]history.Event, error)) history.Source {
	if len(events) == 0 {
		return history.Source{Fetch: fetch}
	}
	return history.Source{From: events[0].At.UnixMilli(), Fetch: fetch}
}

// segment reads the selected events of a segment. If the segment is missing, it fails with
// errMoved, or with finally, records the segment as lost.
func (w *walk) segment(ctx context.Context, day history.Day, s history.Segment, finally bool) ([]history.Event, error) {
	from, to := s.Span()
	doc, found, err := w.read(ctx, s.Name)
	switch {
	case err != nil:
		return nil, err
	case !found && !finally:
		return nil, errMoved
	case !found:
		w.lose(day, from, to, errMoved)
		return nil, nil
	}
	events, err := w.codec.Segment(s.Name, doc.Data, w.query)
	if err != nil {
		w.lose(day, from, to, err)
		return nil, nil
	}
	w.note()
	return events, nil
}

// unlistedSegments returns the segments of a day that no readable head lists. They are read
// to find the time of their first event, and again in their turn.
func (w *walk) unlistedSegments(ctx context.Context, day history.Day, listed map[string]bool) ([]history.Source, error) {
	if err := w.list(ctx); err != nil {
		return nil, err
	}
	var sources []history.Source
	for _, name := range w.names(day) {
		if _, head, ok := history.ParseName(name); !ok || head > 0 || listed[name] {
			continue
		}
		read := func() ([]history.Event, error) { return w.codec.Segment(name, w.listed[name].Data, w.query) }
		events, err := read()
		if err != nil {
			w.lose(day, time.Time{}, time.Time{}, err)
			continue
		}
		w.note()
		sources = append(sources, source(events, read))
	}
	return sources, nil
}

// note adds the objects of the document that was read last.
func (w *walk) note() {
	for _, object := range w.codec.Objects() {
		w.objects[object] = true
	}
}

func (w *walk) lose(day history.Day, from, to time.Time, err error) {
	w.answer.Lost = w.answer.Lost.With(lost(day, from, to, err))
}
