package eventlog

import (
	"context"
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// tidy drops the days before a head's that are too old or too many, and compacts the others.
// The next process that adds events retries failed parts. The caller has the lock.
func (a *addition) tidy(ctx context.Context, today *history.Head) {
	a.forgetList()
	defer a.forgetList()
	if err := a.list(ctx); err != nil {
		a.warn(reason.HistoryUntidied(reason.Failure(err)))
		return
	}
	sizes := map[string]int64{}
	var days []history.Day
	for name, doc := range a.listed {
		sizes[name] = int64(len(doc.Data))
		if day, _, ok := history.ParseName(name); ok && day < today.Day && !slices.Contains(days, day) {
			days = append(days, day)
		}
	}
	slices.Sort(days)
	expired, dropped := a.keep().Expired(sizes, today.Day)
	var errs []error
	for _, day := range expired {
		errs = append(errs, a.drop(ctx, day))
	}
	today.Elsewhere = 0
	for _, day := range days {
		if slices.Contains(expired, day) {
			continue
		}
		size, err := a.compact(ctx, today, day)
		errs = append(errs, err)
		today.Elsewhere += size
	}
	today.Keep(dropped.Until)
	a.Dropped = a.Dropped.And(dropped)
	if err := errors.Join(errs...); err != nil {
		a.warn(reason.HistoryUntidied(reason.Failure(err)))
		return
	}
	today.Tidied = true
}

// drop removes a day, and its heads first, so that none lists a missing document.
func (a *addition) drop(ctx context.Context, day history.Day) error {
	names := a.names(day)
	slices.SortStableFunc(names, func(x, y string) int { return rank(x) - rank(y) })
	for _, name := range names {
		if err := a.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func rank(name string) int {
	if _, head, _ := history.ParseName(name); head > 0 {
		return 0
	}
	return 1
}

// compact makes a day's documents as few as possible, and returns their size in bytes. It
// leaves a damaged day as it is, so that a copy can be restored. Today's head keeps the latest
// time until which events were dropped.
func (a *addition) compact(ctx context.Context, today *history.Head, day history.Day) (int64, error) {
	whole, err := a.wholeDay(day)
	if err != nil || whole.heads == 0 {
		return whole.bytes, nil //nolint:nilerr // a query of the day reports it
	}
	today.Keep(whole.head.KeptSince)
	var others []string
	if whole.head.Compact && whole.heads == 1 {
		for _, name := range whole.names { // left by a killed process
			if name != whole.head.Name() && !lists(whole.head, name) {
				others = append(others, name)
			}
		}
		return whole.bytes, a.removeAll(ctx, others)
	}
	h := whole.head
	revision := store.Revision("")
	if doc, there := a.listed[h.Name()]; there {
		revision = doc.Revision
	}
	changes, err := a.codec.Compact(h, whole.events)
	if err != nil {
		return whole.bytes, err
	}
	if err := a.write(ctx, changes, revision, nil); err != nil {
		return whole.bytes, err
	}
	for _, name := range whole.names {
		if name != h.Name() && !lists(h, name) {
			others = append(others, name)
		}
	}
	return h.Bytes() + int64(len(changes.Head.Data)), a.removeAll(ctx, others)
}

func (a *addition) removeAll(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := a.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func lists(h *history.Head, name string) bool {
	return slices.ContainsFunc(h.Segments, func(s history.Segment) bool { return s.Name == name })
}

type wholeDay struct {
	names  []string
	bytes  int64
	heads  int
	head   *history.Head // the first
	events []history.Event
}

// wholeDay reads all of a day. The error lists what cannot be read.
func (a *addition) wholeDay(day history.Day) (wholeDay, error) {
	whole := wholeDay{names: a.names(day), head: &history.Head{Day: day, Number: 1}}
	for _, name := range whole.names {
		whole.bytes += int64(len(a.listed[name].Data))
	}
	var first error
	for _, name := range whole.names {
		_, number, _ := history.ParseName(name)
		if number == 0 {
			continue
		}
		h, err := a.codec.Head(name, a.listed[name].Data, history.Query{})
		if err != nil {
			first = err
			continue
		}
		if whole.heads++; number == 1 {
			whole.head = h
		} else {
			whole.head.Keep(h.KeptSince)
		}
		whole.events = append(whole.events, h.Events...)
		for _, s := range h.Segments {
			of, err := a.codec.Segment(s.Name, a.listed[s.Name].Data, history.Query{})
			if err != nil {
				first = err
			}
			whole.events = append(whole.events, of...)
		}
	}
	return whole, first
}
