package memory

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
func (m *Memory) Ask(ctx context.Context, q history.Query) (Answer, error) {
	d, err := m.documents()
	if err != nil {
		return Answer{}, err
	}
	a := asking{documents: d, query: q, objects: map[string]bool{}}
	days, err := a.days(ctx, m.Now())
	if err != nil {
		return Answer{}, err
	}
	for _, day := range days {
		if err := a.day(ctx, day); err != nil {
			return Answer{}, err
		}
	}
	a.answer.Events = history.Once(a.answer.Events)
	a.answer.Objects = slices.Sorted(maps.Keys(a.objects))
	return a.answer, nil
}

// asking is one call of Ask.
type asking struct {
	*documents
	query   history.Query
	answer  Answer
	objects map[string]bool
}

// days are those that may have what is asked for.
func (a *asking) days(ctx context.Context, now time.Time) ([]history.Day, error) {
	until := a.query.Until
	if until.IsZero() {
		until = now.Add(24 * time.Hour) // of clocks that are fast
	}
	if !a.query.Since.IsZero() && until.Sub(a.query.Since) < probed*24*time.Hour {
		var days []history.Day
		for day := history.DayOf(a.query.Since); day.Begin().Before(until); day = day.Next() {
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

// errMoved says that a segment was made into another one meanwhile.
var errMoved = errors.New("it is missing: restore it from a copy")

// day reads what is asked for of a day. What someone else makes compact meanwhile is
// read again.
func (a *asking) day(ctx context.Context, day history.Day) error {
	const attempts = 3
	for n := 1; ; n++ {
		before := a.answer
		moved, err := a.heads(ctx, day)
		if err != nil || !moved || n == attempts || a.listed != nil {
			return err
		}
		a.answer = before
	}
}

// heads reads the heads of a day, and the segments that they tell of.
func (a *asking) heads(ctx context.Context, day history.Day) (moved bool, err error) {
	told, damaged := map[string]bool{}, false
	for number := 1; ; number++ {
		name := day.HeadName(number)
		doc, found, err := a.read(ctx, name)
		if err != nil {
			return moved, err
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
		a.take(h.Events)
		if h.KeptSince.After(a.answer.KeptSince) {
			a.answer.KeptSince = h.KeptSince
		}
		for _, s := range h.Segments {
			told[s.Name] = true
			of, err := a.segment(ctx, day, s)
			if err != nil {
				return moved, err
			}
			moved = moved || of
		}
	}
	if !damaged {
		return moved, nil
	}
	return moved, a.untold(ctx, day, told)
}

// segment reads what is asked for of a segment.
func (a *asking) segment(ctx context.Context, day history.Day, s history.Segment) (moved bool, err error) {
	from, to := s.Span()
	if !a.query.Overlaps(from, to) {
		return false, nil
	}
	doc, found, err := a.read(ctx, s.Name)
	if err != nil {
		return false, err
	}
	if !found {
		a.lose(day, from, to, errMoved)
		return true, nil
	}
	events, err := a.codec.Segment(s.Name, doc.Data, a.query)
	if err != nil {
		a.lose(day, from, to, err)
		return false, nil
	}
	a.take(events)
	return false, nil
}

// untold reads the segments of a day whose head can't be read.
func (a *asking) untold(ctx context.Context, day history.Day, told map[string]bool) error {
	if err := a.list(ctx); err != nil {
		return err
	}
	for _, name := range a.names(day) {
		if _, head, ok := history.ParseName(name); !ok || head > 0 || told[name] {
			continue
		}
		events, err := a.codec.Segment(name, a.listed[name].Data, a.query)
		if err != nil {
			a.lose(day, time.Time{}, time.Time{}, err)
			continue
		}
		a.take(events)
	}
	return nil
}

// take takes events out of the document that was read last.
func (a *asking) take(events []history.Event) {
	a.answer.Events = append(a.answer.Events, events...)
	for _, object := range a.codec.Objects() {
		a.objects[object] = true
	}
}

func (a *asking) lose(day history.Day, from, to time.Time, err error) {
	if text := lost(day, from, to, err); !slices.Contains(a.answer.Lost, text) {
		a.answer.Lost = append(a.answer.Lost, text)
	}
}
