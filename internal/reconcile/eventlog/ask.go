package eventlog

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// Answer is what the history tells.
type Answer struct {
	Events []history.Event // in the order of their time
	// Objects are those of which anything is told in the documents that were read,
	// whether asked for or not.
	Objects []string
	// Lost says what of it can't be read.
	Lost []string
	// KeptSince is up to when events were dropped, as far as was seen; zero where none
	// were.
	KeptSince time.Time
}

// probed is how many days are looked for one by one; of more, all documents are listed.
const probed = 62

// Ask returns the events that are asked for. The error says that the store can't be
// read at all.
func (m *Log) Ask(ctx context.Context, q history.Query) (Answer, error) {
	var events []history.Event
	answer, err := m.Walk(ctx, q, func(e *history.Event) error {
		events = append(events, *e)
		return nil
	})
	answer.Events = events
	return answer, err
}

// Walk tells the events that are asked for one by one, in the order of their time, and
// holds no more of them than documents have whose times overlap. The answer has all but
// the events. The error is that of who is told, or says that the store can't be read at
// all.
func (m *Log) Walk(ctx context.Context, q history.Query, tell func(*history.Event) error) (Answer, error) {
	d, err := m.documents()
	if err != nil {
		return Answer{}, err
	}
	a := asking{documents: d, query: q, tell: tell, seen: history.Seen{}, objects: map[string]bool{}}
	days, err := a.days(ctx, m.Now())
	if err != nil {
		return Answer{}, err
	}
	for _, day := range days {
		if err := a.day(ctx, day); err != nil {
			return Answer{}, err
		}
	}
	a.answer.Objects = slices.Sorted(maps.Keys(a.objects))
	return a.answer, nil
}

type asking struct {
	*documents
	query   history.Query
	tell    func(*history.Event) error
	last    time.Time // of what was told
	seen    history.Seen
	answer  Answer
	objects map[string]bool
}

func (a *asking) days(ctx context.Context, now time.Time) ([]history.Day, error) {
	since, until := a.query.Since, a.query.Until
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
	if err := a.list(ctx); err != nil {
		return nil, err
	}
	days := map[history.Day]bool{}
	for name := range a.listed {
		if day, _, ok := history.ParseName(name); ok && a.query.Overlaps(day.Begin(), day.Next().Begin()) {
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

// errMoved says that a segment was made into another one meanwhile.
var errMoved = errors.New("it is missing: restore it from a copy")

// day tells what is asked for of a day. What someone else makes compact meanwhile is
// read again.
func (a *asking) day(ctx context.Context, day history.Day) error {
	const attempts = 3
	for n := 1; ; n++ {
		sources, err := a.heads(ctx, day, n == attempts || a.listed != nil)
		if err != nil {
			return err
		}
		since := a.last // before which all was told that was there
		err = history.InOrder(sources, func(e *history.Event) error {
			if e.At.Before(since) || a.seen.Again(e) {
				return nil
			}
			a.last = e.At
			return a.tell(e)
		})
		if !errors.Is(err, errMoved) {
			return err
		}
	}
}

// heads reads the heads of a day. Sources are what these have, and the segments that
// they tell of.
func (a *asking) heads(ctx context.Context, day history.Day, finally bool) ([]history.Source, error) {
	var sources []history.Source
	told, damaged := map[string]bool{}, false
	for number := 1; ; number++ {
		name := day.HeadName(number)
		doc, found, err := a.read(ctx, name)
		if err != nil {
			return nil, err
		}
		if !found {
			break
		}
		h, err := a.codec.Head(name, doc.Data, a.query)
		if err != nil {
			a.lose(day, time.Time{}, time.Time{}, err)
			damaged = true
			continue
		}
		a.note()
		sources = append(sources, source(h.Events, func() ([]history.Event, error) { return h.Events, nil }))
		if h.KeptSince.After(a.answer.KeptSince) {
			a.answer.KeptSince = h.KeptSince
		}
		for _, s := range h.Segments {
			told[s.Name] = true
			if from, to := s.Span(); a.query.Overlaps(from, to) {
				sources = append(sources, history.Source{From: s.From, Fetch: func() ([]history.Event, error) { return a.segment(ctx, day, s, finally) }})
			}
		}
	}
	if !damaged {
		return sources, nil
	}
	untold, err := a.untold(ctx, day, told)
	return append(sources, untold...), err
}

// source is one of events that were read already, at least to see when they begin.
func source(events []history.Event, fetch func() ([]history.Event, error)) history.Source {
	if len(events) == 0 {
		return history.Source{Fetch: fetch}
	}
	return history.Source{From: events[0].At.UnixMilli(), Fetch: fetch}
}

// segment reads what is asked for of a segment. The error is errMoved where it is not
// there, unless it is finally said to be lost.
func (a *asking) segment(ctx context.Context, day history.Day, s history.Segment, finally bool) ([]history.Event, error) {
	from, to := s.Span()
	doc, found, err := a.read(ctx, s.Name)
	switch {
	case err != nil:
		return nil, err
	case !found && !finally:
		return nil, errMoved
	case !found:
		a.lose(day, from, to, errMoved)
		return nil, nil
	}
	events, err := a.codec.Segment(s.Name, doc.Data, a.query)
	if err != nil {
		a.lose(day, from, to, err)
		return nil, nil
	}
	a.note()
	return events, nil
}

// untold are the segments of a day whose head can't be read. They are read to see when
// they begin, and again when it is their turn.
func (a *asking) untold(ctx context.Context, day history.Day, told map[string]bool) ([]history.Source, error) {
	if err := a.list(ctx); err != nil {
		return nil, err
	}
	var sources []history.Source
	for _, name := range a.names(day) {
		if _, head, ok := history.ParseName(name); !ok || head > 0 || told[name] {
			continue
		}
		read := func() ([]history.Event, error) { return a.codec.Segment(name, a.listed[name].Data, a.query) }
		events, err := read()
		if err != nil {
			a.lose(day, time.Time{}, time.Time{}, err)
			continue
		}
		a.note()
		sources = append(sources, source(events, read))
	}
	return sources, nil
}

// note notes of what the document tells that was read last.
func (a *asking) note() {
	for _, object := range a.codec.Objects() {
		a.objects[object] = true
	}
}

func (a *asking) lose(day history.Day, from, to time.Time, err error) {
	if text := lost(day, from, to, err); !slices.Contains(a.answer.Lost, text) {
		a.answer.Lost = append(a.answer.Lost, text)
	}
}
