package notification

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Claimer claims events for one notification.
type Claimer struct {
	Declaration Declaration
	Zone        *time.Location
	Now         time.Time
	// Failing reports whether an object failed in this run. Nil if the run did not reconcile all.
	Failing func(object string) bool
	// Present is what this run found about lasting conditions.
	Present Present
}

// Kinds are the kinds of events that it needs.
func (c Claimer) Kinds() []history.Kind {
	return append(c.Declaration.Kinds(), history.Destroy)
}

// Claim returns the journal with the selected events that it does not have. The events are in the
// order of the history. changed reports whether it has to be written.
func (c Claimer) Claim(j Journal, events []history.Event) (claimed Journal, changed bool) {
	k := claim{Claimer: c, journal: j.clone(), seen: map[string]bool{}, changed: !j.Begun}
	k.journal.Begun = true
	k.changed = k.journal.rewind(c.Now) || k.changed
	for _, ids := range j.Seen {
		for _, id := range ids {
			k.seen[id] = true
		}
	}
	events = ordered(events)
	for n := range events {
		if e := &events[n]; !e.At.Before(k.journal.Since) && !k.seen[e.ID] {
			k.event(e)
		}
	}
	k.resolve()
	if k.changed {
		k.journal.trim(c.Now, events)
	}
	return k.journal, k.changed
}

// ordered returns events in the order in which they are reported. Their times are whole seconds, and the history orders
// those of one second by kind. But a budget recovers before it reaches its thresholds and its limit again, and lower
// thresholds are reached first.
func ordered(events []history.Event) []history.Event {
	place := func(e *history.Event) int {
		if e.Kind == history.Recovered {
			return 2*history.Threshold.Rank() - 1
		}
		return 2 * e.Kind.Rank()
	}
	compare := func(a, b history.Event) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(place(&a), place(&b)), cmp.Compare(a.Threshold, b.Threshold))
	}
	if slices.IsSortedFunc(events, compare) {
		return events
	}
	events = slices.Clone(events)
	slices.SortStableFunc(events, compare)
	return events
}

type claim struct {
	Claimer
	journal Journal
	seen    map[string]bool
	changed bool
}

func (k *claim) event(e *history.Event) {
	if e.Kind == history.Destroy {
		k.destroyed(e)
	}
	if !k.Declaration.Selects(e) {
		return
	}
	l := Line{ID: e.ID, At: e.At, Kind: e.Kind, Object: e.Object, Severity: SeverityOf(e.Kind), ClaimedAt: k.Now}
	l.Text, l.Remedy = account(e, k.Zone)
	of, ends := condition(e)
	old, known := k.journal.Conditions[of]
	switch {
	case of == "":
	case ends:
		if l.Condition, l.Resolved = of, true; known && old.open() {
			k.close(of, e.At)
		} else if k.Declaration.Type.Alerts() {
			return // nothing to resolve
		}
	case e.Kind.Trouble() && known && !e.At.After(latest(old.ResolvedAt, old.LastAt)):
		return
	case e.Kind.Trouble() && known && old.open() && e.At.Sub(old.LastAt) < quietFor:
		if e.At.Sub(old.LastAt) > quietFor/4 { // seldom, since each is a write
			old.LastAt = e.At
			k.journal.Conditions[of], k.changed = old, true
		}
		return
	default:
		l.Condition = of
		l = k.Present.update(l, k.Zone)
		k.journal.Conditions[of] = Condition{Line: l, LastAt: e.At}
	}
	k.add(l)
	k.seen[e.ID] = true
	day := history.DayOf(e.At)
	k.journal.Seen[day] = append(k.journal.Seen[day], e.ID)
}

func (k *claim) add(l Line) {
	k.journal.Pending = append(k.journal.Pending, l)
	k.changed = true
}

func (k *claim) close(of string, at time.Time) {
	c := k.journal.Conditions[of]
	c.ResolvedAt = at
	k.journal.Conditions[of], k.changed = c, true
}

// destroyed closes the conditions of an object that no longer exists.
func (k *claim) destroyed(e *history.Event) {
	for of, c := range k.open() {
		if c.Line.Object == e.Object && !e.At.Before(c.Line.At) {
			k.end(of, e.At, reason.ObjectDestroyed())
		}
	}
}

// resolve closes the conditions that no event ends.
func (k *claim) resolve() {
	for of, c := range k.open() {
		kind := c.Line.Kind
		failed := kind == history.Failed || kind == history.RunFailed
		switch {
		case !k.Declaration.about(c.Line.Object):
			k.end(of, k.Now, reason.Deselected())
		case failed && k.Failing != nil && !k.Failing(c.Line.Object):
			k.end(of, k.Now)
		case kind == history.Refused && k.Now.Sub(c.LastAt) >= quietFor:
			k.end(of, k.Now, reason.NotRefusedFor(reason.Duration(quietFor)))
		}
	}
}

// open are the open conditions, in a stable order.
func (k *claim) open() func(func(string, Condition) bool) {
	return func(yield func(string, Condition) bool) {
		for _, of := range slices.Sorted(maps.Keys(k.journal.Conditions)) {
			if c := k.journal.Conditions[of]; c.open() && !yield(of, c) {
				return
			}
		}
	}
}

// end closes a condition, and reports it: a failure to all, others only to receivers of alerts.
func (k *claim) end(of string, at time.Time, why ...reason.Reason) {
	c := k.journal.Conditions[of]
	k.close(of, at)
	if c.Line.Kind != history.Failed && c.Line.Kind != history.RunFailed && !k.Declaration.Type.Alerts() {
		return
	}
	l := c.Line
	l.ID, l.At, l.Resolved, l.ClaimedAt = hashOf(l.ID, "resolved", at.UTC().Format(time.RFC3339)), at, true, k.Now
	l.Text, l.Remedy = written("", why, k.Zone)
	k.add(l)
}
