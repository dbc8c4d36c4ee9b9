package notification

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
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
