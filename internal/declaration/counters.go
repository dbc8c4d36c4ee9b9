package declaration

import (
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

// Counters count what all runs of a store did, and the events of the store. They never fall,
// whichever process runs, and whatever the history drops.
type Counters struct {
	// The number of recorded runs.
	Runs int64 `json:"runs"`
	// The duration of these runs, in milliseconds.
	RunMilliseconds int64 `json:"run_milliseconds,omitempty"`
	// The number of their decisions, by `kind/outcome`.
	Decisions map[string]int64 `json:"decisions,omitempty"`
	// The number of their calls, by action of Tencent Cloud or by verb and resource of Kubernetes.
	Calls map[string]int64 `json:"calls,omitempty"`
	// The number of events, such as `launch/SPOTPAID` in instances, `refused/capacity` or
	// `job/succeeded`.
	Events map[string]int64 `json:"events,omitempty"`
	// The counted messages of each notification, by its UID.
	Messages map[string]Messages `json:"messages,omitempty"`
	// When events were last counted.
	CountedAt time.Time `json:"counted_at,omitzero"`
	// The part of `events` that each of the last days (UTC) has, since a day can get more.
	Days Tally `json:"days,omitempty"`
}

// Plus returns the counters after one more run.
func (c Counters) Plus(took time.Duration, decisions, calls map[string]int) Counters {
	c.Runs++
	c.RunMilliseconds += max(0, took.Milliseconds())
	c.Decisions, c.Calls = maps.Clone(c.Decisions), maps.Clone(c.Calls)
	for of, n := range decisions {
		increase(&c.Decisions, of, int64(n))
	}
	for action, n := range calls {
		increase(&c.Calls, action, int64(n))
	}
	return c
}

func increase(counts *map[string]int64, name string, n int64) {
	if *counts == nil {
		*counts = map[string]int64{}
	}
	(*counts)[name] += n
}

// UnknownClass is the error class of refusals without a known one.
const UnknownClass = "unknown"

// Tally is the number of events of days, by counter.
type Tally map[history.Day]map[string]int64

// CountedKinds returns the kinds of events that have counters.
func CountedKinds() []history.Kind {
	return []history.Kind{history.Launch, history.Refused, history.Reclaim, history.Lost, history.Notice, history.Drain, history.Drained}
}

// Add counts an event of the history.
func (t Tally) Add(e *history.Event) {
	name, n := string(e.Kind), int64(1)
	switch e.Kind {
	case history.Launch:
		name, n = name+"/"+e.ChargeType, int64(e.Count)
	case history.Refused:
		class := UnknownClass
		if e.Error != nil && slices.Contains(errorclass.Classes(), errorclass.Class(e.Error.Class)) {
			class = e.Error.Class
		}
		name += "/" + class
	case history.Drain, history.Drained:
		name = string(history.Drain) + "/" + e.Outcome
	case history.Reclaim, history.Lost, history.Notice:
	default:
		return
	}
	t.add(e.At, name, n)
}

// AddJob counts a finished job.
func (t Tally) AddJob(j request.Job) {
	if j.State.Finished() {
		t.add(j.UpdatedAt, "job/"+string(j.State), 1)
	}
}

func (t Tally) add(at time.Time, name string, n int64) {
	day := history.DayOf(at)
	if t[day] == nil {
		t[day] = map[string]int64{}
	}
	t[day][name] += n
}

// openFor is how long a day can get more events. A run that was killed leaves its events to the
// next one, and jobs are kept for a week.
const openFor = 8 * 24 * time.Hour

// DaysToCount returns the days of the history that can have uncounted events. These are the days since
// the last count, and those of events that this run found.
func (c Counters) DaysToCount(now time.Time, found []history.Event) []history.Day {
	open, from := c.open(now), c.CountedAt.Add(-history.Overlap)
	days := map[history.Day]bool{history.DayOf(now): true}
	for at := latest(from, now.Add(-history.DefaultRetention.For)); at.Before(now); at = at.Add(24 * time.Hour) {
		days[history.DayOf(at)] = true
	}
	for n := range found {
		if day := history.DayOf(found[n].At); day >= open {
			days[day] = true
		}
	}
	return slices.Sorted(maps.Keys(days))
}

// open returns the first day that can get more events: of the first count, all that are kept.
func (c Counters) open(now time.Time) history.Day {
	if c.CountedAt.IsZero() {
		return history.DayOf(now.Add(-history.DefaultRetention.For))
	}
	return history.DayOf(c.CountedAt.Add(-openFor))
}

// Count returns the counters with the events of days. A day is counted as a whole, again and again,
// so that a run which was killed before it saved the counters changes nothing. Fewer events than
// before, since the history dropped some or is damaged, do not decrease a counter.
func (c Counters) Count(now time.Time, days Tally) Counters {
	open := c.open(now)
	c.CountedAt = latest(c.CountedAt, now.UTC().Truncate(time.Second))
	c.Events = maps.Clone(c.Events)
	old := c.Days
	c.Days = Tally{}
	for day, counted := range old {
		c.Days[day] = maps.Clone(counted)
	}
	for day, counts := range days {
		if day < open {
			continue
		}
		for name, n := range counts {
			if more := n - c.Days[day][name]; more > 0 {
				increase(&c.Events, name, more)
				counted := c.Days[day]
				increase(&counted, name, more)
				c.Days[day] = counted
			}
		}
	}
	maps.DeleteFunc(c.Days, func(day history.Day, _ map[string]int64) bool { return day < c.open(now) })
	return c
}

// Messages are counts of one notification.
type Messages struct {
	// The number of delivered messages.
	Delivered int64 `json:"delivered"`
	// The number of failed attempts.
	Failed int64 `json:"failed"`
}

// The counters of messages.
const (
	DeliveredMessages = "message/delivered"
	FailedMessages    = "message/failed"
)

// CountMessages returns the counters with the messages of the notifications that a run read. complete
// reports that it read all.
func (c Counters) CountMessages(read map[string]Messages, complete bool) Counters {
	counted := maps.Clone(c.Messages)
	if complete {
		maps.DeleteFunc(counted, func(uid string, _ Messages) bool { _, there := read[uid]; return !there })
	}
	c.Events = maps.Clone(c.Events)
	for uid, now := range read {
		was := counted[uid]
		for name, more := range map[string]int64{DeliveredMessages: now.Delivered - was.Delivered, FailedMessages: now.Failed - was.Failed} {
			if more > 0 {
				increase(&c.Events, name, more)
			}
		}
		if now != was {
			if counted == nil {
				counted = map[string]Messages{}
			}
			counted[uid] = now
		}
	}
	c.Messages = counted
	return c
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
