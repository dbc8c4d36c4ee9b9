package notification_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
)

// flood is a budget that is exceeded, and evictions of another one.
func flood(count int) []history.Event {
	events := []history.Event{{ID: "exceeded", At: begin, Kind: history.Exceeded, Object: "budget/team-a"}}
	for n := range count {
		at := begin.Add(time.Duration(n+1) * time.Millisecond)
		events = append(events, history.Event{ID: fmt.Sprintf("%032d", n), At: at, Kind: history.Evict, Object: "budget/flood"})
	}
	return events
}

func pending(j notification.Journal, id string) bool {
	return slices.ContainsFunc(j.Pending, func(l notification.Line) bool { return l.ID == id })
}

func TestFloodHidesNoLastingCondition(t *testing.T) {
	t.Parallel()
	d := declared(notification.PagerDuty)
	d.Events = []history.Kind{history.Exceeded, history.Evict}
	c := notification.Claimer{Declaration: d, Now: begin.Add(time.Minute)}
	events := flood(1000)
	j, _ := c.Claim(notification.New(d, begin), events)
	c.Now = c.Now.Add(time.Minute)
	j, _ = c.Claim(j, append(events, history.Event{ID: "recovered", At: c.Now, Kind: history.Recovered, Object: "budget/team-a"}))
	j, _ = c.Claim(j, append(events, flood(2000)...))
	if !pending(j, "exceeded") || !pending(j, "recovered") || j.LeftOut < 1000 {
		t.Errorf("of %d pending events, %d left out, those of team-a are missing", len(j.Pending), j.LeftOut)
	}
}

func TestForgottenEventsAreNotClaimedAgain(t *testing.T) {
	t.Parallel()
	d := declared(notification.Slack)
	d.Events = []history.Kind{history.Evict}
	c := notification.Claimer{Declaration: d, Now: begin.Add(time.Minute)}
	events := flood(12_000)
	j, _ := c.Claim(notification.New(d, begin), events)
	count := len(j.Pending) + j.LeftOut
	j, changed := c.Claim(j, events)
	if again := len(j.Pending) + j.LeftOut; again != count || changed {
		t.Errorf("%d events were claimed, and %d after the next run", count, again)
	}
}

// A repetition that is refused says nothing about the attempt before it, which may have arrived.
func TestRefusedRepetitionIsStillMarked(t *testing.T) {
	t.Parallel()
	d := declared(notification.Slack)
	s := notification.Schedule{Declaration: d}
	j, _ := notification.Claimer{Declaration: d, Now: begin}.Claim(notification.New(d, begin), flood(0))
	m, _ := s.Next(j, begin)
	j = j.Attempt(d, m) // and the run is killed
	for attempt := range 3 {
		m, ok := s.Next(j, begin)
		if !ok || !m.Repeated {
			t.Fatalf("repetition %d does not say that it is one", attempt)
		}
		j = j.Attempt(d, m).Fail(m, notification.Failure{Code: "HTTP 429"}, begin)
		j.NextAt = time.Time{}
	}
}
