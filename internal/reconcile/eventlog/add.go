package eventlog

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const (
	// attempts is the most retries after another process changed a head.
	attempts = 20
	// lockName is the lock for changes of anything except a head.
	lockName = "history"
	lockWait = 5 * time.Second
)

// Added is the result of an addition.
type Added struct {
	Events     int // new events
	Unreported int // events that could not be added
	Dropped    history.Dropped
	Warnings   reason.Reasons
}

// Add adds the events that the history does not have.
func (m *Log) Add(ctx context.Context, events ...history.Event) Added {
	a := addition{Log: m, today: history.DayOf(m.Now())}
	if len(events) == 0 {
		return a.Added
	}
	var err error
	if a.documents, err = m.documents(); err != nil {
		a.Unreported = len(events)
		a.warn(reason.Explain(err))
		return a.Added
	}
	days := map[history.Day][]history.Event{}
	for _, e := range events {
		days[history.DayOf(e.At)] = append(days[history.DayOf(e.At)], e)
	}
	oldest := history.DayOf(m.Now().Add(-m.keep().For))
	for _, day := range slices.Sorted(maps.Keys(days)) {
		if day < oldest && !m.AddOnly {
			continue // it would be dropped at once
		}
		if err := a.addToDay(ctx, day, days[day]); err != nil {
			n := len(days[day])
			a.Unreported += n
			a.warn(reason.HistoryLacks(reason.Word(day), reason.Count(n), reason.Failure(err)))
		}
	}
	return a.Added
}

type addition struct {
	Added
	*Log
	*documents
	today history.Day
}

func (a *addition) warn(why reason.Reason) { a.Warnings = a.Warnings.With(why) }

// addToDay adds events to one day. It releases its lock at the end.
func (a *addition) addToDay(ctx context.Context, day history.Day, events []history.Event) (err error) {
	var held store.Lock
	late := false // another process has the lock
	defer func() {
		if held != nil {
			err = errors.Join(err, held.Release())
		}
	}()
	for range attempts {
		a.forgetList()
		h, revision, err := a.head(ctx, day)
		if err != nil {
			return err
		}
		missing, err := a.missing(ctx, h, events)
		if err != nil || len(missing) == 0 {
			return err
		}
		if held == nil && a.needsTidying(h) {
			// If the lock is taken, its holder does the work.
			if held, err = a.lock(ctx, 0); err != nil {
				return err
			}
		}
		if held != nil && a.needsTidying(h) {
			a.tidy(ctx, h)
		}
		trimmed, dropped, changes, err := a.plan(h, missing, late)
		if err != nil {
			return err
		}
		if held == nil && len(trimmed)+len(changes.Segments) > 0 {
			if held, err = a.lock(ctx, lockWait); err != nil {
				return err
			}
			late = held == nil
			continue // the documents may have changed
		}
		err = a.write(ctx, changes, revision, trimmed)
		if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err == nil {
			a.Events += changes.Added
			a.Dropped = a.Dropped.And(dropped)
		}
		return err
	}
	return errors.New("other processes keep changing it")
}

// plan returns the documents to write for events, and those to remove afterwards. Without the
// lock, the head may grow beyond its limit.
func (a *addition) plan(h *history.Head, events []history.Event, late bool) (trimmed []string, dropped history.Dropped, changes history.Changes, err error) {
	if late {
		changes, err = a.codec.AddWhole(h, events)
		return nil, dropped, changes, err
	}
	if !a.AddOnly {
		trimmed, dropped = a.keep().Trim(h)
	}
	changes, err = a.codec.Add(h, events)
	return trimmed, dropped, changes, err
}

// lock takes the lock for changes of anything except a head. It returns nil if another process
// has it.
func (a *addition) lock(ctx context.Context, wait time.Duration) (store.Lock, error) {
	held, err := a.Log.Store.Lock(ctx, lockName, wait)
	var locked *store.LockedError
	if errors.As(err, &locked) && ctx.Err() == nil {
		return nil, nil
	}
	return held, err
}

// needsTidying reports whether earlier days were not tidied today, or more is kept than allowed.
func (a *addition) needsTidying(h *history.Head) bool {
	return !a.AddOnly && h.Day == a.today && (!h.Tidied || a.keep().Over(h))
}

// head returns the head for new events: the first readable one, or a new one.
func (a *addition) head(ctx context.Context, day history.Day) (*history.Head, store.Revision, error) {
	for number := 1; ; number++ {
		h := &history.Head{Day: day, Number: number}
		doc, found, err := a.read(ctx, h.Name())
		if err != nil || !found {
			return h, "", err
		}
		h, err = a.codec.Head(doc.Key.Name, doc.Data, history.Query{})
		if err == nil {
			return h, doc.Revision, nil
		}
		a.warn(lost(day, time.Time{}, time.Time{}, err))
	}
}

// missing returns the events that no document has.
func (a *addition) missing(ctx context.Context, h *history.Head, events []history.Event) ([]history.Event, error) {
	missing, errs := h.Missing(events)
	for _, err := range errs {
		a.warn(reason.Explain(err))
	}
	missing, err := a.removeRecorded(ctx, h.Near(missing), missing)
	if err != nil || len(missing) == 0 {
		return missing, err
	}
	// A run that continues past midnight may have reported it the day before.
	first := slices.MinFunc(missing, func(a, b history.Event) int { return a.At.Compare(b.At) })
	before := history.DayOf(first.At.Add(-history.Overlap))
	if before == h.Day {
		return missing, nil
	}
	name := before.HeadName(1)
	doc, found, err := a.read(ctx, name)
	if err != nil || !found {
		return missing, err
	}
	earlier, err := a.codec.Head(name, doc.Data, history.Query{})
	if err != nil {
		return missing, nil //nolint:nilerr // queries report it; a duplicate is harmless
	}
	missing, _ = earlier.Missing(missing)
	return a.removeRecorded(ctx, earlier.Near(missing), missing)
}

// removeRecorded removes the events that the segments have.
func (a *addition) removeRecorded(ctx context.Context, segments []history.Segment, events []history.Event) ([]history.Event, error) {
	for _, s := range segments {
		if len(events) == 0 {
			break
		}
		doc, found, err := a.read(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		there, err := a.codec.Segment(s.Name, doc.Data, history.Query{})
		if err != nil {
			continue
		}
		known := history.Head{Events: there}
		events, _ = known.Missing(events)
	}
	return events, nil
}

// write writes what changed. Segments come before the head that lists them, and unlisted
// documents are removed after it.
func (a *addition) write(ctx context.Context, changes history.Changes, revision store.Revision, trimmed []string) error {
	for _, s := range changes.Segments {
		if err := a.create(ctx, s); err != nil {
			return err
		}
	}
	if _, err := a.Log.Store.Write(ctx, key(changes.Head.Name), changes.Head.Data, revision); err != nil {
		return err
	}
	for _, name := range trimmed {
		if err := a.remove(ctx, name); err != nil {
			a.warn(reason.Explain(err))
		}
	}
	return nil
}
