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

// pendingOf is a journal with a number of thresholds to report, claimed at a moment.
func pendingOf(d notification.Declaration, n int, at time.Time) notification.Journal {
	j := notification.New(d, begin)
	for k := range n {
		j.Pending = append(j.Pending, notification.Line{
			ID: fmt.Sprint(k), At: at, Kind: history.Threshold, Object: "budget/a", Severity: notification.Warning, ClaimedAt: at,
		})
	}
	return j
}

// TestPausesGrowUpToAnHour, differ between notifications, and respect what the receiver asks for.
func TestPausesGrowUpToAnHour(t *testing.T) {
	t.Parallel()
	d := declared(notification.Slack)
	j := pendingOf(d, 1, begin)
	for attempt, base := range []time.Duration{
		30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour, time.Hour,
	} {
		j.NextAt = time.Time{}
		m, ok := notification.Schedule{Declaration: d}.Next(j, begin)
		if !ok {
			t.Fatal("nothing is due")
		}
		j = j.Attempt(d, m)
		asked := j.Fail(m, notification.Failure{RetryAfter: 2 * time.Hour}, begin)
		other := j
		other.UID = "n2"
		other = other.Fail(m, notification.Failure{}, begin)
		j = j.Fail(m, notification.Failure{}, begin)
		pause := j.NextAt.Sub(begin)
		if pause < base || pause > base*6/5 || j.Attempts != attempt+1 || j.Failed != int64(attempt+1) || !j.FailingSince.Equal(begin) {
			t.Errorf("attempt %d: it waits %s, want %s: %+v", attempt+1, pause, base, j)
		}
		if apart := other.NextAt.Sub(j.NextAt).Abs(); apart < time.Second {
			t.Errorf("attempt %d: two notifications try again %s apart", attempt+1, apart)
		}
		if pause := asked.NextAt.Sub(begin); pause != 2*time.Hour {
			t.Errorf("asked for two hours, it waits %s", pause)
		}
	}
	m, _ := notification.Schedule{Declaration: d}.Next(j, begin.Add(2*time.Hour))
	j = j.Succeed(m, begin)
	if j.Attempts != 0 || !j.FailingSince.IsZero() || !j.NextAt.IsZero() || j.Failure != nil || j.Delivered != 1 || len(j.Pending) > 0 {
		t.Errorf("delivered: %+v", j)
	}
}

// TestNothingIsSentDuringAPause, unless it is that of a clock that was ahead, or of another declaration.
func TestNothingIsSentDuringAPause(t *testing.T) {
	t.Parallel()
	d := declared(notification.Slack)
	for pause, due := range map[time.Duration]bool{0: true, 1: false, 25 * time.Hour: false, 25*time.Hour + 1: true, -time.Hour: true} {
		j := pendingOf(d, 1, begin)
		j.NextAt, j.Generation = begin.Add(pause), d.Generation
		if _, ok := (notification.Schedule{Declaration: d}).Next(j, begin); ok != due {
			t.Errorf("%s before its end, a message is due: %t", pause, ok)
		}
		changed := d
		changed.Generation++
		if _, ok := (notification.Schedule{Declaration: changed}).Next(j, begin); !ok {
			t.Errorf("%s before its end, a changed declaration waits", pause)
		}
	}
}

func TestMessagesHaveALimitOfLines(t *testing.T) {
	t.Parallel()
	long := map[notification.Type]int{}
	for _, of := range notification.Types() {
		d := declared(of)
		m, _ := notification.Schedule{Declaration: d}.Next(pendingOf(d, 50, begin), begin.Add(time.Minute))
		long[of] = len(m.Lines)
		if m, _ := (notification.Schedule{Declaration: d}).Next(pendingOf(d, 3, begin), begin.Add(time.Minute)); len(m.Lines) != 3 {
			t.Errorf("%s: %d lines of 3", of, len(m.Lines))
		}
	}
	want := map[notification.Type]int{
		notification.Webhook: 10, notification.PagerDuty: 10,
		notification.WeCom: 40, notification.DingTalk: 40, notification.Feishu: 40,
		notification.Slack: 40, notification.Teams: 40, notification.Alertmanager: 40,
	}
	if !maps.Equal(long, want) {
		t.Errorf("lines of 50 events: %v, want %v", long, want)
	}
}

// TestFeishuIsNotAskedAtFullAndHalfHours: each notification begins in its own second after them.
func TestFeishuIsNotAskedAtFullAndHalfHours(t *testing.T) {
	t.Parallel()
	for uid, first := range map[string]int{"n1": 29, "n2": 41} {
		for _, of := range []notification.Type{notification.Feishu, notification.WeCom} {
			d := declared(of)
			d.UID = uid
			for minute, want := range map[int]int{0: first, 30: first, 1: 0, 29: 0, 59: 0} {
				if of != notification.Feishu {
					want = 0
				}
				got := -1
				for second := 59; second >= 0; second-- {
					now := begin.Add(time.Duration(minute)*time.Minute + time.Duration(second)*time.Second)
					if _, ok := (notification.Schedule{Declaration: d}).Next(pendingOf(d, 1, begin), now); ok {
						got = second
					}
				}
				if got != want {
					t.Errorf("%s, %s: in minute %d it is asked from second %d, want %d", of, uid, minute, got, want)
				}
			}
		}
	}
}

// TestDigestWaitsForItsOldestEvent: one claimed by a clock that was ahead is not waited for.
func TestDigestWaitsForItsOldestEvent(t *testing.T) {
	t.Parallel()
	d := declared(notification.Slack)
	d.Digest = "10m"
	for age, due := range map[time.Duration]bool{0: false, 10*time.Minute - 1: false, 10 * time.Minute: true, -1: true} {
		j := pendingOf(d, 1, begin.Add(-age))
		later := pendingOf(d, 1, begin.Add(max(0, -age)))
		j.Pending = append(later.Pending, j.Pending...)
		if _, ok := (notification.Schedule{Declaration: d}).Next(j, begin); ok != due {
			t.Errorf("%s after it was claimed, it is due: %t", age, ok)
		}
	}
}

// TestQuietHoursOfOneDay end in their last minute.
func TestQuietHoursOfOneDay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		start, end, now string
		quiet           bool
	}{
		{"08:30", "10:15", "08:29", false}, {"08:30", "10:15", "08:30", true}, {"08:30", "10:15", "10:14", true}, {"08:30", "10:15", "10:15", false},
		{"22:00", "07:00", "21:59", false}, {"22:00", "07:00", "22:00", true}, {"22:00", "07:00", "00:00", true}, {"22:00", "07:00", "06:59", true},
		{"22:00", "07:00", "07:00", false}, {"09:00", "09:00", "08:59", true}, {"09:00", "09:00", "09:00", true},
	} {
		d := declared(notification.Slack)
		d.QuietHours = &notification.QuietHours{Start: tt.start, End: tt.end}
		now, err := time.Parse("2006-01-02 15:04", "2030-01-07 "+tt.now)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := (notification.Schedule{Declaration: d}).Next(pendingOf(d, 1, now), now); ok == tt.quiet {
			t.Errorf("from %s to %s, it is quiet at %s: %t", tt.start, tt.end, tt.now, !ok)
		}
	}
}

// TestAlertsAreRepeatedTenSecondsLater by either clock, except those that have a line.
func TestAlertsAreRepeatedTenSecondsLater(t *testing.T) {
	t.Parallel()
	d := declared(notification.Alertmanager)
	open := func(object string) notification.Condition {
		return notification.Condition{
			Line: notification.Line{ID: object, Kind: history.Exceeded, Object: object, Condition: object + "/exceeded"}, LastAt: begin,
		}
	}
	ended := open("budget/c")
	ended.ResolvedAt = begin
	j := notification.New(d, begin)
	j.Conditions = map[string]notification.Condition{"budget/a/exceeded": open("budget/a"), "budget/b/exceeded": open("budget/b"), "budget/c/exceeded": ended}
	s := notification.Schedule{Declaration: d, Lifetime: time.Hour}
	opened := func(at time.Time) (objects []string) {
		m, _ := s.Next(j, at)
		for _, l := range m.Open {
			objects = append(objects, fmt.Sprintf("%s %t", l.Object, l.Resolved))
		}
		return objects
	}
	all := []string{"budget/a false", "budget/b false", "budget/c true"}
	for after, want := range map[time.Duration][]string{
		10 * time.Second: all, 10*time.Second - 1: nil, -10 * time.Second: all, -10*time.Second + 1: nil, time.Hour - 1: all, time.Hour: all[:2],
	} {
		j.DeliveredAt = begin
		if got := opened(begin.Add(after)); !slices.Equal(got, want) {
			t.Errorf("after %s, repeated are %q, want %q", after, got, want)
		}
	}
	j.LeftOut = 5
	if m, _ := s.Next(j, begin.Add(time.Minute)); !m.Refresh() || m.LeftOut != 0 {
		t.Errorf("a repetition says that %d events were left out", m.LeftOut)
	}
	j.Pending = []notification.Line{{ID: "x", Condition: "budget/a/exceeded", Kind: history.Exceeded, Severity: notification.Critical}}
	if got := opened(begin.Add(time.Minute)); !slices.Equal(got, all[1:]) {
		t.Errorf("with a line of one, repeated are %q", got)
	}
	s.Declaration.Type = notification.PagerDuty
	if got := opened(begin.Add(time.Minute)); got != nil {
		t.Errorf("to a receiver that remembers alerts, repeated are %q", got)
	}
}

// TestFailedRepetitionIsNoMessage: it counts as an attempt, and nothing is under way.
func TestFailedRepetitionIsNoMessage(t *testing.T) {
	t.Parallel()
	d := declared(notification.Alertmanager)
	j := notification.New(d, begin)
	refresh := notification.Message{Open: []notification.Line{{ID: "a"}}}
	failed := j.Fail(refresh, notification.Failure{Code: "HTTP 500"}, begin)
	if failed.Attempts != 1 || failed.Sending != nil || failed.Failed != 1 || failed.Failure.Code != "HTTP 500" {
		t.Errorf("failed: %+v", failed)
	}
	if again := failed.Fail(refresh, notification.Failure{}, begin.Add(time.Hour)); again.Attempts != 2 || !again.FailingSince.Equal(begin) {
		t.Errorf("failed again: %+v", again)
	}
	if done := failed.Succeed(refresh, begin); done.Delivered != 0 || done.Failure != nil || done.Attempts != 0 {
		t.Errorf("delivered: %+v", done)
	}
	j.LeftOut = 5
	if done := j.Succeed(notification.Message{LeftOut: 3, Lines: []notification.Line{{ID: "a"}}}, begin); done.LeftOut != 2 || done.Delivered != 1 {
		t.Errorf("delivered: %+v", done)
	}
}
