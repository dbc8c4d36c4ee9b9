package notification

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Journal is what a notification remembers between runs. An event is claimed in it before its
// message is sent, and a message is recorded in it before each attempt. So no event is lost or
// reported twice, whenever a run is killed. Only a message that was under way when a run was killed
// is sent again, and says so.
type Journal struct {
	UID          string `json:"uid"`
	Notification string `json:"notification"` // its name
	Generation   int64  `json:"generation"`   // of the declaration of the last attempt
	// Since is the time before which no event is reported. Begun reports that a run claimed events
	// since then; later runs only look at newer ones.
	Since time.Time `json:"since"`
	Begun bool      `json:"begun"`
	// Seen are the IDs of the claimed events, by day.
	Seen map[history.Day][]string `json:"seen,omitempty"`
	// Conditions are the lasting conditions that were reported, by their identity.
	Conditions map[string]Condition `json:"conditions,omitempty"`
	// Pending are the claimed events that are not delivered. LeftOut counts those without room.
	Pending []Line `json:"pending,omitempty"`
	LeftOut int    `json:"left_out,omitempty"`
	// Sending is the message that was attempted and not delivered.
	Sending *Sending `json:"sending,omitempty"`

	// Delivered and Failed count messages and failed attempts.
	Delivered   int64     `json:"delivered"`
	Failed      int64     `json:"failed"`
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
	// FailingSince, Attempts, NextAt and Failure are of the attempts since the last delivery.
	FailingSince time.Time `json:"failing_since,omitzero"`
	Attempts     int       `json:"attempts,omitempty"`
	NextAt       time.Time `json:"next_at,omitzero"`
	Failure      *Failure  `json:"failure,omitempty"`
}

// Condition is a lasting condition of an object.
type Condition struct {
	Line Line `json:"line"` // that began it
	// LastAt is when it was last reported, and ResolvedAt when it ended; zero while it lasts.
	LastAt     time.Time `json:"last_at"`
	ResolvedAt time.Time `json:"resolved_at,omitzero"`
}

func (c Condition) open() bool { return c.ResolvedAt.IsZero() }

// Sending is a message under way.
type Sending struct {
	ID          string    `json:"id"`
	Lines       []string  `json:"lines"` // IDs
	AttemptedAt time.Time `json:"attempted_at"`
	// Refused reports that the attempt did not arrive for sure. Without it, it may have arrived.
	Refused bool `json:"refused,omitempty"`
}

const (
	// pendingAtMost bounds the lines of a journal.
	pendingAtMost = 200
	// seenAtMost and conditionsAtMost bound a journal to less than half a megabyte.
	seenAtMost       = 10_000
	conditionsAtMost = 500
	// Lookback is how old an event may be that a run finds. A run that was killed leaves its events
	// to the next one.
	Lookback = 8 * 24 * time.Hour
	// quietFor is how long a problem may pause until it is reported again.
	quietFor = time.Hour
)

// New returns the journal of a new notification.
func New(d Declaration, now time.Time) Journal {
	return Journal{UID: d.UID, Notification: d.Name, Since: now}
}

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
// order of their time. changed reports whether it has to be written.
func (c Claimer) Claim(j Journal, events []history.Event) (claimed Journal, changed bool) {
	k := claim{Claimer: c, journal: j.clone(), seen: map[string]bool{}, changed: !j.Begun}
	k.journal.Begun = true
	k.changed = k.journal.rewind(c.Now) || k.changed
	for _, ids := range j.Seen {
		for _, id := range ids {
			k.seen[id] = true
		}
	}
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

// rewind corrects times in the future, of a clock that was ahead. They would hide events until then.
func (j *Journal) rewind(now time.Time) (changed bool) {
	ahead, past := now.Add(history.Overlap), now.Add(-history.Overlap)
	if j.Since.After(ahead) {
		j.Since, changed = past, true
	}
	for of, c := range j.Conditions {
		if c.LastAt.After(ahead) || c.ResolvedAt.After(ahead) {
			c.LastAt, changed = past, true
			if !c.open() {
				c.ResolvedAt = past
			}
			j.Conditions[of] = c
		}
	}
	return changed
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

// trim bounds the journal. An event whose ID is forgotten is never reported again, since the
// journal then begins later.
func (j *Journal) trim(now time.Time, events []history.Event) {
	j.Since = latest(j.Since, now.Add(-Lookback))
	maps.DeleteFunc(j.Seen, func(day history.Day, _ []string) bool { return day < history.DayOf(j.Since) })
	count := 0
	for _, ids := range j.Seen {
		count += len(ids)
	}
	for _, day := range slices.Sorted(maps.Keys(j.Seen)) {
		if count <= seenAtMost {
			break
		}
		count -= len(j.Seen[day])
		if day < history.DayOf(now) {
			j.Since = latest(j.Since, day.Next().Begin())
			delete(j.Seen, day)
		} else {
			j.forget(day, max(0, len(j.Seen[day])-seenAtMost), events)
		}
	}
	maps.DeleteFunc(j.Conditions, func(_ string, c Condition) bool { return !c.open() && c.ResolvedAt.Before(j.Since) })
	oldest := slices.SortedFunc(maps.Keys(j.Conditions), func(a, b string) int {
		return cmp.Or(j.Conditions[a].LastAt.Compare(j.Conditions[b].LastAt), cmp.Compare(a, b))
	})
	for _, of := range oldest[:max(0, len(oldest)-conditionsAtMost)] {
		delete(j.Conditions, of)
	}
	slices.SortStableFunc(j.Pending, func(a, b Line) int { return a.At.Compare(b.At) })
	more := len(j.Pending) - pendingAtMost
	for _, s := range severities { // the least urgent are left out first
		j.Pending = slices.DeleteFunc(j.Pending, func(l Line) bool {
			if more <= 0 || l.rank() != s || j.sends(l.ID) {
				return false
			}
			more--
			j.LeftOut++
			return true
		})
	}
}

// rank is the severity by which a line is left out. Those of lasting conditions are last, since an
// alert whose end is left out never ends.
func (l Line) rank() Severity {
	if l.Condition != "" {
		return Critical
	}
	return l.Severity
}

// forget drops the oldest IDs of a day. The journal then begins after their events.
func (j *Journal) forget(day history.Day, count int, events []history.Event) {
	forgotten := map[string]bool{}
	for _, id := range j.Seen[day][:count] {
		forgotten[id] = true
	}
	j.Seen[day] = j.Seen[day][count:]
	for n := range events {
		if e := &events[n]; forgotten[e.ID] {
			j.Since = latest(j.Since, e.At.Add(1))
		}
	}
}

func (j *Journal) sends(id string) bool {
	return j.Sending != nil && slices.Contains(j.Sending.Lines, id)
}

func (j Journal) clone() Journal {
	j.Seen, j.Conditions, j.Pending = maps.Clone(j.Seen), maps.Clone(j.Conditions), slices.Clone(j.Pending)
	for day, ids := range j.Seen {
		j.Seen[day] = slices.Clip(ids)
	}
	if j.Seen == nil {
		j.Seen = map[history.Day][]string{}
	}
	if j.Conditions == nil {
		j.Conditions = map[string]Condition{}
	}
	return j
}

func hashOf(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = h.Write([]byte(part + "\x00")) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
