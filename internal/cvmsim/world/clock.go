package world

import (
	"container/heap"
	"fmt"
	"time"
)

// Now returns the world's time: the base clock plus all steps.
func (w *World) Now() time.Time { return w.clock().Add(w.general.Offset) }

// AdvanceTime advances the world's clock and runs everything that falls due.
func (w *World) AdvanceTime(step time.Duration) {
	if step > 0 {
		w.general.Offset += step
		w.changes.touch(generalKind, "")
	}
	w.Advance(w.Now())
}

// eventKind is the kind of an event. The instance's record is authoritative; an event
// that does not match it is stale.
type eventKind int

const (
	eventListed eventKind = iota
	eventSettle
	eventTags
	eventReclaim
	eventTimer
	eventGone
)

type event struct {
	at    time.Time
	order uint64 // of equal times, the earlier scheduled first
	id    string
	kind  eventKind
}

type eventQueue struct {
	items []event
	next  uint64
}

func (q *eventQueue) Len() int { return len(q.items) }

func (q *eventQueue) Less(i, j int) bool {
	if !q.items[i].at.Equal(q.items[j].at) {
		return q.items[i].at.Before(q.items[j].at)
	}
	return q.items[i].order < q.items[j].order
}

func (q *eventQueue) Swap(i, j int) { q.items[i], q.items[j] = q.items[j], q.items[i] }

func (q *eventQueue) Push(x any) { q.items = append(q.items, x.(event)) }

func (q *eventQueue) Pop() any {
	last := len(q.items) - 1
	e := q.items[last]
	q.items = q.items[:last]
	return e
}

// schedule adds an event; a zero time means never.
func (w *World) schedule(at time.Time, id string, kind eventKind) {
	if at.IsZero() {
		return
	}
	w.events.next++
	heap.Push(&w.events, event{at: at, order: w.events.next, id: id, kind: kind})
}

// Advance runs everything that is due by now.
func (w *World) Advance(now time.Time) {
	for len(w.events.items) > 0 && !w.events.items[0].at.After(now) {
		e := heap.Pop(&w.events).(event)
		if in := w.Instances.Get(e.id); in != nil {
			w.happen(in, e)
		}
	}
}

func (w *World) happen(in *Instance, e event) {
	switch {
	case e.kind == eventListed && in.ListedAt.Equal(e.at):
		w.list(in)
	case e.kind == eventSettle && in.SettleAt.Equal(e.at):
		w.settle(in)
	case e.kind == eventTags:
		w.showLateTags(in, e.at)
	case e.kind == eventReclaim && in.ReclaimAt.Equal(e.at):
		w.reclaim(in, e.at)
	case e.kind == eventTimer && in.TimerAt.Equal(e.at):
		w.BeginTermination(in, e.at, "TerminateInstances")
	case e.kind == eventGone && in.GoneAt.Equal(e.at):
		w.Remove(in)
	}
}

// Duration is a time.Duration in text form, "1m30s", in JSON.
type Duration time.Duration

// MarshalText returns the duration in Go's form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText parses a duration in Go's form.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("must be a duration like \"90s\" or \"20m\", not %q", text)
	}
	*d = Duration(v)
	return nil
}
