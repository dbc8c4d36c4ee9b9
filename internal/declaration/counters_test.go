package declaration_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

func TestRunsAddToCounters(t *testing.T) {
	t.Parallel()
	calls := map[string]int{"DescribeInstances": 2}
	first := declaration.Counters{}.Plus(1500*time.Millisecond, map[string]int{"launch/done": 2, "drain/failed": 1}, calls)
	second := first.Plus(time.Second, map[string]int{"launch/done": 1}, calls)
	want := declaration.Counters{
		Runs: 2, RunMilliseconds: 2500, Decisions: map[string]int64{"launch/done": 3, "drain/failed": 1}, Calls: map[string]int64{"DescribeInstances": 4},
	}
	if diff := cmp.Diff(want, second); diff != "" || first.Decisions["launch/done"] != 2 {
		t.Errorf("(-want +got)\n%s; the first: %+v", diff, first)
	}
}

func TestEventsHaveCounters(t *testing.T) {
	t.Parallel()
	tally := declaration.Tally{}
	for _, e := range []history.Event{
		{Kind: history.Launch, Count: 3, ChargeType: "SPOTPAID"},
		{Kind: history.Refused, Count: 3, Error: &history.Error{Class: "capacity"}},
		{Kind: history.Refused, Error: &history.Error{Class: "of a later gpupool"}},
		{Kind: history.Refused},
		{Kind: history.Reclaim, Count: 1}, {Kind: history.Lost, Count: 1}, {Kind: history.Notice, Count: 1},
		{Kind: history.Drain, Outcome: history.Requested}, {Kind: history.Drained, Outcome: "timed_out"}, {Kind: history.Price},
	} {
		e.At = noon
		tally.Add(&e)
	}
	tally.AddJob(request.Job{State: request.Failed, UpdatedAt: noon})
	tally.AddJob(request.Job{State: request.Running, UpdatedAt: noon})
	want := declaration.Tally{history.DayOf(noon): {
		"launch/SPOTPAID": 3, "refused/capacity": 1, "refused/unknown": 2, "reclaim": 1, "lost": 1, "notice": 1, "drain/requested": 1, "drain/timed_out": 1,
		"job/failed": 1,
	}}
	if diff := cmp.Diff(want, tally); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// chronicle is a history to which applies and runs add events. A killed process leaves its events
// in documents, where the next run finds them.
type chronicle struct {
	now      time.Time
	left     []history.Event // in documents
	events   []history.Event
	counters declaration.Counters // as saved
	all      int64
}

func (c *chronicle) event() history.Event {
	c.all++
	return history.About{At: c.now, ObjectUID: fmt.Sprint(c.all)}.Instance(history.Lost, history.Instance{ID: fmt.Sprint(c.all)})
}

// run reports what is left, and counts. A killed run does not save the counters.
func (c *chronicle) run(killed bool) {
	c.events, _ = history.Merge(c.events, c.left...)
	tally := declaration.Tally{}
	days := c.counters.DaysToCount(c.now, c.left)
	for n := range c.events {
		if slices.Contains(days, history.DayOf(c.events[n].At)) {
			tally.Add(&c.events[n])
		}
	}
	if next := c.counters.Count(c.now, tally); !killed {
		c.counters = next
	}
}

// TestEventsAreCountedOnce has processes killed at random. In the end, each event is counted once,
// whichever process reported it. If the history loses events, the counter never falls.
func TestEventsAreCountedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		c := &chronicle{now: noon}
		lossy := rapid.Bool().Draw(r, "lossy")
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			c.now = c.now.Add(time.Duration(rapid.IntRange(0, 40*60).Draw(r, "minutes")) * time.Minute)
			before := c.counters.Events["lost"]
			switch rapid.SampledFrom([]string{"apply", "killed apply", "run", "killed run", "loss"}).Draw(r, "step") {
			case "apply":
				c.events, _ = history.Merge(c.events, c.event())
			case "killed apply":
				c.left = append(c.left, c.event())
			case "run":
				c.run(false)
				if rapid.Bool().Draw(r, "written") {
					c.left = nil // by a later write of the documents
				}
			case "killed run":
				c.run(true)
			case "loss":
				if lossy {
					c.events = c.events[:len(c.events)/2]
				}
			}
			if c.counters.Events["lost"] < before {
				r.Fatalf("the counter fell from %d to %d", before, c.counters.Events["lost"])
			}
		}
		c.run(false)
		if got := c.counters.Events["lost"]; got > c.all || !lossy && got != c.all {
			r.Fatalf("%d of %d events are counted", got, c.all)
		}
		if n := len(c.counters.Days); n > 10 {
			r.Fatalf("%d days are kept", n)
		}
	})
}

// TestMessagesAreCountedOnce, also if a run reads them again, or a notification is destroyed.
func TestMessagesAreCountedOnce(t *testing.T) {
	t.Parallel()
	var c declaration.Counters
	type counts = map[string]declaration.Messages
	for _, run := range []struct {
		read            counts
		complete        bool
		delivered, fail int64
	}{
		{counts{"a": {Delivered: 2}, "b": {Failed: 1}}, true, 2, 1},
		{counts{"a": {Delivered: 2}, "b": {Failed: 1}}, true, 2, 1},
		{counts{"a": {Delivered: 3}}, false, 3, 1}, // b could not be read
		{counts{"a": {Delivered: 3}, "b": {Failed: 2}}, true, 3, 2},
		{counts{"a": {Delivered: 3}}, true, 3, 2}, // b is gone
		{counts{"a": {Delivered: 3}, "c": {Delivered: 1}}, true, 4, 2},
	} {
		c = c.CountMessages(run.read, run.complete)
		if c.Events[declaration.DeliveredMessages] != run.delivered || c.Events[declaration.FailedMessages] != run.fail {
			t.Errorf("after %v: %v", run.read, c.Events)
		}
	}
	if len(c.Messages) != 2 {
		t.Errorf("kept: %v", c.Messages)
	}
}
