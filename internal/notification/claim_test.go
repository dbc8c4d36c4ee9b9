package notification_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
)

const train = "spot_pool/ap-singapore/train"

// claims are the lines of each claim, as "kind object" with + for one that ends a condition.
type claims struct {
	d       notification.Declaration
	journal notification.Journal
	failing func(string) bool
}

func claiming(of notification.Type, kinds ...history.Kind) *claims {
	d := declared(of)
	d.Events = kinds
	return &claims{d: d, journal: notification.New(d, begin)}
}

func (c *claims) claim(at time.Duration, events ...history.Event) (lines []string, changed bool) {
	before := len(c.journal.Pending)
	c.journal, changed = notification.Claimer{Declaration: c.d, Now: begin.Add(at), Failing: c.failing}.Claim(c.journal, events)
	for _, l := range c.journal.Pending[before:] {
		end := map[bool]string{true: "+", false: ""}[l.Resolved]
		lines = append(lines, fmt.Sprintf("%s%s %s", end, l.Kind, l.Object))
	}
	return lines, changed
}

func aboutTrain(at time.Duration) history.About {
	return history.About{At: begin.Add(at), Object: train, ObjectUID: "uid", RunID: at.String()}
}

func failed(at time.Duration) history.Event {
	return aboutTrain(at).Failed(history.Error{Code: "AuthFailure", Message: at.String()})
}

// TestTroubleIsReportedAgainAfterAnHour without it. A failure in between is noted once in a quarter hour.
func TestTroubleIsReportedAgainAfterAnHour(t *testing.T) {
	t.Parallel()
	c := claiming(notification.Slack, history.Failed)
	for n, step := range []struct {
		at      time.Duration
		lines   int
		changed bool
	}{
		{0, 1, true}, {15 * time.Minute, 0, false}, {15*time.Minute + time.Second, 0, true}, {75 * time.Minute, 0, true},
		{135 * time.Minute, 1, true}, {195*time.Minute - time.Second, 0, true},
	} {
		if lines, changed := c.claim(step.at, failed(step.at)); len(lines) != step.lines || changed != step.changed {
			t.Errorf("step %d: after %s, %q are claimed, and the journal changed: %t", n, step.at, lines, changed)
		}
	}
	if lines, _ := c.claim(4*time.Hour, failed(time.Hour)); len(lines) > 0 {
		t.Errorf("one from before the last is claimed: %q", lines)
	}
}

// TestConditionsEndWithoutAnEvent: what is no longer selected, no longer fails, or was not refused for an hour.
func TestConditionsEndWithoutAnEvent(t *testing.T) {
	t.Parallel()
	refused := func(at time.Duration) history.Event {
		return aboutTrain(at).Refused(history.Ask{}, history.Error{Code: "SoldOut"})
	}
	exceeded := aboutTrain(0).Since(history.Exceeded, begin)
	fails := func(now bool) func(string) bool { return func(string) bool { return now } }
	deselect := func(c *claims) { c.d.Objects = []string{"budget/*"} }
	for name, tt := range map[string]struct {
		of     notification.Type
		event  history.Event
		at     time.Duration
		change func(*claims)
		want   []string
	}{
		"it fails":                {notification.Slack, failed(0), time.Hour, func(c *claims) { c.failing = fails(true) }, nil},
		"it no longer fails":      {notification.Slack, failed(0), time.Minute, func(c *claims) { c.failing = fails(false) }, []string{"+failed " + train}},
		"a part was reconciled":   {notification.Slack, failed(0), time.Hour, func(*claims) {}, nil},
		"it is deselected":        {notification.Slack, failed(0), time.Minute, deselect, []string{"+failed " + train}},
		"refused lately":          {notification.Alertmanager, refused(0), time.Hour - 1, func(c *claims) { c.failing = fails(false) }, nil},
		"refused an hour ago":     {notification.Alertmanager, refused(0), time.Hour, func(*claims) {}, []string{"+refused " + train}},
		"without alerts, too":     {notification.Slack, refused(0), time.Hour, func(*claims) {}, nil},
		"exceeded a day ago":      {notification.Alertmanager, exceeded, 24 * time.Hour, func(c *claims) { c.failing = fails(false) }, nil},
		"exceeded and deselected": {notification.Alertmanager, exceeded, 1, deselect, []string{"+exceeded " + train}},
	} {
		c := claiming(tt.of, history.Failed, history.Refused, history.Exceeded)
		if lines, _ := c.claim(0, tt.event); len(lines) != 1 {
			t.Fatalf("%s: %q are claimed", name, lines)
		}
		tt.change(c)
		lines, changed := c.claim(tt.at)
		if !slices.Equal(lines, tt.want) {
			t.Errorf("%s: %q are claimed, want %q", name, lines, tt.want)
		}
		if again, _ := c.claim(tt.at); changed && len(again) > 0 {
			t.Errorf("%s: %q are claimed again", name, again)
		}
	}
}

// TestDestroyedObjectsEndTheirConditions, not those of an object of the same name that begin later.
func TestDestroyedObjectsEndTheirConditions(t *testing.T) {
	t.Parallel()
	for at, ends := range map[time.Duration]bool{time.Minute: true, 2 * time.Minute: true, time.Minute - 1: false} {
		c := claiming(notification.Alertmanager, history.Exceeded)
		exceeded := history.About{At: begin.Add(time.Minute), Object: train, ObjectUID: "u"}.Since(history.Exceeded, begin)
		destroyed := aboutTrain(at).Declaration(history.Destroy)
		lines, _ := c.claim(3*time.Minute, exceeded, destroyed)
		if got := slices.Contains(lines, "+exceeded "+train); got != ends || lines[0] != "exceeded "+train {
			t.Errorf("destroyed %s after the beginning: %q are claimed", at, lines)
		}
	}
}

// TestNoticesAreOfTheirInstances: the end of one leaves the other.
func TestNoticesAreOfTheirInstances(t *testing.T) {
	t.Parallel()
	c := claiming(notification.PagerDuty, history.Notice)
	notice := aboutTrain(0).Instances
	if lines, _ := c.claim(0, notice(history.Notice, "a"), notice(history.Notice, "b"), notice(history.Notice, "c", "d")); len(lines) != 3 {
		t.Errorf("claimed: %q", lines)
	}
	var open []string
	c.claim(0, notice(history.Withdrawn, "a"))
	for of, condition := range c.journal.Conditions {
		if condition.ResolvedAt.IsZero() {
			open = append(open, of)
		}
	}
	slices.Sort(open)
	if !slices.Equal(open, []string{train + "/notice", train + "/notice/b"}) {
		t.Errorf("open are %q", open)
	}
}

// TestOldEventsAreForgotten: none before the journal began is claimed, and none twice, for eight days.
func TestOldEventsAreForgotten(t *testing.T) {
	t.Parallel()
	c := claiming(notification.Slack, history.Evict)
	evict := func(id string, at time.Duration) history.Event {
		return history.Event{ID: id, At: begin.Add(at), Kind: history.Evict, Object: "budget/a"}
	}
	if lines, changed := c.claim(0); len(lines) > 0 || !changed || !c.journal.Begun {
		t.Errorf("without events, %q are claimed", lines)
	}
	if lines, changed := c.claim(0, evict("before", -1)); len(lines) > 0 || changed {
		t.Errorf("before the journal, %q are claimed", lines)
	}
	if lines, _ := c.claim(0, evict("first", 0)); len(lines) != 1 {
		t.Errorf("claimed: %q", lines)
	}
	if lines, changed := c.claim(time.Minute, evict("first", 0)); len(lines) > 0 || changed {
		t.Errorf("claimed again: %q", lines)
	}
	const later = 9 * 24 * time.Hour
	if lines, _ := c.claim(later, evict("next", later), evict("late", later-8*24*time.Hour), evict("too late", later-8*24*time.Hour-1)); len(lines) != 3 {
		t.Errorf("claimed: %q", lines)
	}
	if !c.journal.Since.Equal(begin.Add(later-notification.Lookback)) || len(c.journal.Seen) != 2 {
		t.Errorf("since %s, the events of %d days are known", c.journal.Since, len(c.journal.Seen))
	}
	if lines, _ := c.claim(later, evict("too late", later-8*24*time.Hour-1)); len(lines) > 0 {
		t.Errorf("an event that was forgotten is claimed: %q", lines)
	}
}

// TestOldestConditionsAreForgotten if there are more than 500, and ended ones with their events.
func TestOldestConditionsAreForgotten(t *testing.T) {
	t.Parallel()
	c := claiming(notification.Slack, history.Exceeded, history.Recovered)
	var events []history.Event
	for n := range 501 {
		about := history.About{At: begin.Add(time.Duration(n) * time.Second), Object: fmt.Sprintf("budget/%03d", n)}
		events = append(events, about.Since(history.Exceeded, begin))
	}
	c.claim(time.Hour, events[1:]...)
	if n := len(c.journal.Conditions); n != 500 {
		t.Errorf("%d conditions are known, want 500", n)
	}
	c.claim(time.Hour, events[0])
	if _, oldest := c.journal.Conditions["budget/000/exceeded"]; oldest || len(c.journal.Conditions) != 500 {
		t.Errorf("%d conditions are known, the oldest: %t", len(c.journal.Conditions), oldest)
	}
	if n := len(c.journal.Pending) + c.journal.LeftOut; len(c.journal.Pending) != 200 || n != 501 {
		t.Errorf("%d lines wait, and %d were left out", len(c.journal.Pending), c.journal.LeftOut)
	}
	c.claim(2*time.Hour, history.About{At: begin.Add(2 * time.Hour), Object: "budget/500"}.Since(history.Recovered, begin))
	if condition := c.journal.Conditions["budget/500/exceeded"]; !condition.ResolvedAt.Equal(begin.Add(2 * time.Hour)) {
		t.Errorf("recovered: %+v", condition)
	}
	c.claim(9*24*time.Hour, history.About{At: begin.Add(9 * 24 * time.Hour), Object: "budget/x"}.Since(history.Exceeded, begin))
	if _, known := c.journal.Conditions["budget/500/exceeded"]; known {
		t.Error("a condition that ended nine days ago is known")
	}
}

// TestLeastUrgentLinesAreLeftOutFirst, and none of a message under way.
func TestLeastUrgentLinesAreLeftOutFirst(t *testing.T) {
	t.Parallel()
	c := claiming(notification.Slack, history.Create, history.Evict, history.Suspend)
	var events []history.Event
	for n := range 100 {
		about := history.About{At: begin.Add(time.Duration(n) * time.Second), Object: fmt.Sprintf("budget/%d", n), ObjectUID: fmt.Sprint(n)}
		events = append(events, about.Declaration(history.Create), about.Evict(history.Identity{UID: fmt.Sprint(n)}), about.Since(history.Suspend, begin))
	}
	c.journal.Pending = []notification.Line{{ID: "sent", Kind: history.Create, At: begin.Add(-time.Hour), Severity: notification.Info}}
	c.journal.Sending = &notification.Sending{ID: "m", Lines: []string{"sent"}}
	c.claim(time.Hour, events...)
	count := map[history.Kind]int{}
	for _, l := range c.journal.Pending {
		count[l.Kind]++
	}
	want := map[history.Kind]int{history.Create: 1, history.Evict: 99, history.Suspend: 100}
	if !maps.Equal(count, want) || c.journal.LeftOut != 101 || c.journal.Pending[0].ID != "sent" {
		t.Errorf("left are %v, and %d were left out", count, c.journal.LeftOut)
	}
}

// TestABudgetThatIsExceededAgainStaysSo: it recovered and was exceeded again between two runs, so that both events have
// the second of one run. Two runs in one second keep their order.
func TestABudgetThatIsExceededAgainStaysSo(t *testing.T) {
	t.Parallel()
	about := func(at time.Duration) history.About {
		return history.About{At: begin.Add(at), Object: "budget/a", ObjectUID: "u"}
	}
	first, second := about(0).Since(history.Exceeded, begin), about(time.Hour).Since(history.Exceeded, begin.Add(time.Hour))
	recovered := about(time.Hour).Since(history.Recovered, begin)
	types := notification.Types()
	if len(types) == 0 {
		t.Fatal("there are no types")
	}
	for _, of := range types {
		c := claiming(of, history.Exceeded, history.Recovered)
		c.claim(0, first)
		events, _ := history.Merge([]history.Event{second}, first, recovered)
		lines, _ := c.claim(time.Hour, events...)
		want := []string{"+recovered budget/a", "exceeded budget/a"}
		if !slices.Equal(lines, want) || !c.journal.Conditions["budget/a/exceeded"].ResolvedAt.IsZero() {
			t.Errorf("%s: %q are claimed, and the condition is %+v", of, lines, c.journal.Conditions)
		}
		events, _ = history.Merge(events, about(time.Hour).Since(history.Recovered, begin.Add(time.Hour))) // of another run
		if lines, _ := c.claim(time.Hour, events...); !slices.Equal(lines, []string{"+recovered budget/a"}) ||
			c.journal.Conditions["budget/a/exceeded"].ResolvedAt.IsZero() {
			t.Errorf("%s: then %q are claimed, and the condition is %+v", of, lines, c.journal.Conditions)
		}
		var order []history.Kind
		for _, l := range c.journal.Pending {
			order = append(order, l.Kind)
		}
		if want := []history.Kind{history.Exceeded, history.Recovered, history.Exceeded, history.Recovered}; !slices.Equal(order, want) {
			t.Errorf("%s: the lines are %v, want %v", of, order, want)
		}
	}
}

// TestThresholdsOfOneSecondAscend in a message, whatever their IDs are.
func TestThresholdsOfOneSecondAscend(t *testing.T) {
	t.Parallel()
	about := history.About{At: begin, Object: "budget/a", ObjectUID: "u"}
	var crossed []history.Event
	var want []string
	for percent := 10; percent <= 100; percent += 10 {
		crossed, want = append(crossed, about.Crossed(percent, begin)), append(want, fmt.Sprintf("alert threshold reached: %d%%", percent))
	}
	events, _ := history.Merge(nil, crossed...)
	c := claiming(notification.Webhook, history.Threshold)
	c.claim(0, events...)
	var got []string
	for _, l := range c.journal.Pending {
		got = append(got, l.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
