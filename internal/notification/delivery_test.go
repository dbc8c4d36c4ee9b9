package notification_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

var begin = time.Date(2030, 1, 7, 9, 0, 0, 0, time.UTC)

func declared(of notification.Type) notification.Declaration {
	return notification.Declaration{Name: "ops", UID: "n1", Generation: 1, Type: of}
}

// world is a receiver, a store and a history, between runs that can be killed.
type world struct {
	now     time.Time
	d       notification.Declaration
	journal notification.Journal // as stored
	events  []history.Event
	arrived []notification.Message
	// lifetime is that of alerts.
	lifetime time.Duration
}

func newWorld(d notification.Declaration) *world {
	return &world{now: begin, d: d, journal: notification.New(d, begin)}
}

func (w *world) about(object string) history.About {
	return history.About{At: w.now, Object: object, ObjectUID: object}
}

func (w *world) add(e history.Event) { w.events = append(w.events, e) }

// fault is where a run is cut: before a write, or at a message.
type fault struct {
	killedAt int  // the step at which the run is killed; negative for none
	lost     bool // messages do not arrive
	silent   bool // responses do not arrive
}

// run claims and delivers, until it is killed.
func (w *world) run(f fault, failing func(string) bool) {
	step := 0
	killed := func() bool { step++; return step-1 == f.killedAt }
	c := notification.Claimer{Declaration: w.d, Now: w.now, Failing: failing}
	next, changed := c.Claim(w.journal, w.events)
	if killed() {
		return
	}
	if changed {
		w.journal = roundTrip(next)
	}
	for range 100 { // more messages than a journal has
		m, due := notification.Schedule{Declaration: w.d, Lifetime: w.lifetime}.Next(w.journal, w.now)
		if !due || killed() {
			return
		}
		if !m.Refresh() {
			w.journal = roundTrip(w.journal.Attempt(w.d, m))
		}
		if killed() {
			return
		}
		if !f.lost {
			w.arrived = append(w.arrived, m)
		}
		if killed() {
			return
		}
		if f.lost || f.silent {
			w.journal = roundTrip(w.journal.Fail(m, notification.Failure{Reason: reason.NoResponse(), Uncertain: f.silent || f.lost}, w.now))
			return
		}
		w.journal = roundTrip(w.journal.Succeed(m, w.now))
		if m.Refresh() {
			return
		}
	}
}

func roundTrip(j notification.Journal) notification.Journal {
	data, err := json.Marshal(j)
	if err != nil {
		panic(err)
	}
	var read notification.Journal
	if err := json.Unmarshal(data, &read); err != nil {
		panic(err)
	}
	return read
}

// TestNoEventIsLostOrReportedTwice kills runs anywhere, loses messages and responses, and has events
// come late.
func TestNoEventIsLostOrReportedTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(declared(rapid.SampledFrom(notification.Types()).Draw(t, "type")))
		if rapid.Bool().Draw(t, "digest") && !w.d.Type.Alerts() {
			w.d.Digest = "10m"
		}
		selected := map[string]bool{}
		for n := range rapid.IntRange(1, 12).Draw(t, "runs") {
			w.now = w.now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(t, "seconds")) * time.Second)
			for range rapid.IntRange(0, 3).Draw(t, "events") {
				late := time.Duration(rapid.IntRange(0, 600).Draw(t, "late")) * time.Second
				about := w.about(fmt.Sprintf("budget/team-%d", rapid.IntRange(0, 2).Draw(t, "of")))
				if about.At = about.At.Add(-late); about.At.Before(begin) {
					about.At = begin
				}
				e := about.Crossed(80, about.At.Add(time.Duration(n)*time.Millisecond))
				if rapid.Bool().Draw(t, "other") {
					e = about.Declaration(history.Create) // not selected
				} else {
					selected[e.ID] = true
				}
				w.add(e)
			}
			w.events = history.Once(w.events)
			w.run(fault{
				killedAt: rapid.IntRange(-1, 8).Draw(t, "killed"), lost: rapid.Bool().Draw(t, "lost"), silent: rapid.Bool().Draw(t, "silent"),
			}, nil)
		}
		for range 5 { // until nothing is due
			w.now = w.now.Add(91 * time.Minute)
			w.run(fault{killedAt: -1}, nil)
		}
		w.check(t, selected)
	})
}

func (w *world) check(t interface {
	Errorf(format string, args ...any)
}, selected map[string]bool,
) {
	if len(w.journal.Pending) > 0 || w.journal.Sending != nil {
		t.Errorf("undelivered: %+v", w.journal)
	}
	messages := map[string]string{} // by event
	for _, m := range w.arrived {
		for _, l := range m.Lines {
			if !selected[l.ID] {
				t.Errorf("%s was not selected", l)
			}
			of, again := messages[l.ID]
			switch {
			case again && of != m.ID:
				t.Errorf("%s is in the messages %s and %s", l, of, m.ID)
			case again && !m.Repeated && !w.d.Type.Idempotent():
				t.Errorf("message %s arrived twice, and does not say so", m.ID)
			}
			messages[l.ID] = m.ID
		}
	}
	for id := range selected {
		if messages[id] == "" {
			t.Errorf("the event %s was lost", id)
		}
	}
}

func TestProblemsAreReportedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(notification.Slack))
	fails := true
	for n := range 20 { // a run each minute
		w.now = begin.Add(time.Duration(n) * time.Minute)
		fails = n < 10 || n == 15
		if fails {
			about := w.about("spot_pool/ap-singapore/train")
			about.RunID = fmt.Sprint("run-", n)
			w.add(about.Failed(history.Error{Code: "AuthFailure", Class: "credentials", Message: "denied"}))
		}
		w.run(fault{killedAt: -1}, func(string) bool { return fails })
	}
	want := []string{
		"gpupool: error: spot_pool/ap-singapore/train: failed", "gpupool: resolved: spot_pool/ap-singapore/train: no longer failing",
		"gpupool: error: spot_pool/ap-singapore/train: failed", "gpupool: resolved: spot_pool/ap-singapore/train: no longer failing",
	}
	if got := w.titles(); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func (w *world) titles() []string {
	var titles []string
	for _, m := range w.arrived {
		titles = append(titles, m.Title())
	}
	return titles
}

func TestQuietHoursDelayAllButCriticalEvents(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CST", 8*60*60)
	w := newWorld(declared(notification.Slack))
	w.d.QuietHours = &notification.QuietHours{Start: "22:00", End: "07:00"}
	w.now = time.Date(2030, 1, 7, 23, 0, 0, 0, zone)
	w.add(w.about("budget/team-a").Crossed(80, w.now))
	w.add(w.about("budget/team-b").Since(history.Exceeded, w.now))
	deliver := func() []string {
		next, _ := notification.Claimer{Declaration: w.d, Now: w.now, Zone: zone}.Claim(w.journal, w.events)
		m, due := notification.Schedule{Declaration: w.d, Zone: zone}.Next(next, w.now)
		if !due {
			return nil
		}
		w.journal = next.Attempt(w.d, m).Succeed(m, w.now)
		var objects []string
		for _, l := range m.Lines {
			objects = append(objects, l.Object)
		}
		return objects
	}
	if got := deliver(); !slices.Equal(got, []string{"budget/team-b"}) {
		t.Errorf("at 23:00, %q was sent", got)
	}
	w.now = time.Date(2030, 1, 8, 6, 59, 0, 0, zone)
	if got := deliver(); got != nil {
		t.Errorf("at 06:59, %q was sent", got)
	}
	w.now = time.Date(2030, 1, 8, 7, 0, 0, 0, zone)
	if got := deliver(); !slices.Equal(got, []string{"budget/team-a"}) {
		t.Errorf("at 07:00, %q was sent", got)
	}
}

func TestDigestsCollectEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(notification.WeCom))
	w.d.Digest = "15m"
	for n := range 40 {
		w.now = begin.Add(time.Duration(n) * time.Minute)
		if n < 20 {
			w.add(w.about(fmt.Sprintf("budget/team-%d", n)).Crossed(80, w.now))
		}
		w.run(fault{killedAt: -1}, nil)
	}
	var sizes []int
	for _, m := range w.arrived {
		sizes = append(sizes, len(m.Lines))
	}
	if !slices.Equal(sizes, []int{16, 4}) {
		t.Errorf("messages have %v events", sizes)
	}
}

func TestAlertsFireUntilTheyAreResolved(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(notification.Alertmanager))
	w.d.Events = []history.Kind{history.Exceeded}
	w.add(w.about("budget/team-a").Since(history.Exceeded, begin))
	w.add(w.about("budget/team-b").Since(history.Exceeded, begin))
	w.add(w.about("budget/team-c").Since(history.Recovered, begin)) // it was exceeded before the notification existed
	w.run(fault{killedAt: -1}, nil)
	before := roundTrip(w.journal)
	w.now = begin.Add(time.Minute)
	w.run(fault{killedAt: -1}, nil)
	if len(w.arrived) != 2 || len(w.arrived[0].Lines) != 2 || !w.arrived[1].Refresh() || len(w.arrived[1].Open) != 2 {
		t.Fatalf("arrived: %+v", w.arrived)
	}
	if fmt.Sprint(before) != fmt.Sprint(roundTrip(w.journal)) {
		t.Error("a repeated alert changed the journal")
	}
	w.now = begin.Add(2 * time.Minute)
	w.add(w.about("budget/team-a").Since(history.Recovered, begin))
	w.add(w.about("budget/team-b").Declaration(history.Destroy))
	w.run(fault{killedAt: -1}, nil)
	last := w.arrived[len(w.arrived)-1]
	if len(last.Open) > 0 || len(last.Lines) != 2 || !last.Lines[0].Resolved || !last.Lines[1].Resolved {
		t.Errorf("last: %+v", last)
	}
}

// TestEndsOfAlertsAreRepeated for as long as the alert would fire without them, and sent in quiet hours.
func TestEndsOfAlertsAreRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(notification.Alertmanager))
	w.lifetime, w.d.QuietHours = 3*time.Hour, &notification.QuietHours{Start: "10:00", End: "20:00"}
	w.d.Events = []history.Kind{history.GateClosed}
	w.add(w.about("spot_pool/a").Since(history.GateClosed, begin))
	w.run(fault{killedAt: -1}, nil)
	w.now = begin.Add(2 * time.Hour) // it is quiet
	w.add(w.about("spot_pool/a").Since(history.GateOpened, begin))
	w.add(w.about("spot_pool/b").Since(history.GateClosed, w.now))
	w.run(fault{killedAt: -1}, nil)
	if last := w.arrived[len(w.arrived)-1]; len(w.arrived) != 2 || len(last.Open) > 0 || len(last.Lines) != 1 || !last.Lines[0].Resolved {
		t.Fatalf("in quiet hours arrived %+v", w.arrived)
	}
	w.now = begin.Add(4 * time.Hour)
	w.run(fault{killedAt: -1}, nil)
	if last := w.arrived[len(w.arrived)-1]; len(w.arrived) != 3 || !last.Refresh() || len(last.Open) != 1 || !last.Open[0].Resolved {
		t.Errorf("the end is not repeated: %+v", w.arrived[2:])
	}
	w.now = begin.Add(6 * time.Hour)
	w.run(fault{killedAt: -1}, nil)
	if len(w.arrived) != 3 {
		t.Errorf("the end is repeated later: %+v", w.arrived[3:])
	}
}

// TestClockThatWasAheadHidesNoEvents: runs had a clock that was a year ahead, and failed.
func TestClockThatWasAheadHidesNoEvents(t *testing.T) {
	t.Parallel()
	for _, of := range []notification.Type{notification.Slack, notification.Alertmanager} {
		w := newWorld(declared(of))
		failed := func() { w.add(w.about("budget/team-a").Failed(history.Error{Message: w.now.String()})) }
		w.d.Digest = map[bool]string{true: "15m"}[of == notification.Slack]
		w.now = begin.AddDate(1, 0, 0)
		failed()
		w.run(fault{killedAt: -1, lost: true}, nil)
		w.now = begin.Add(time.Hour)
		for range 5 {
			failed()
			w.add(w.about("budget/team-b").Crossed(80, w.now))
			w.run(fault{killedAt: -1}, nil)
			w.now = w.now.Add(30 * time.Minute)
		}
		lines := 0
		for _, m := range w.arrived {
			lines += len(m.Lines)
		}
		if lines < 6 {
			t.Errorf("%s: after the clock was set back arrived %d events: %q", of, lines, w.titles())
		}
	}
}

func TestLifetimeCoversIntervalsOfRuns(t *testing.T) {
	t.Parallel()
	every := func(interval time.Duration, count int) (starts []time.Time) {
		for n := range count {
			starts = append(starts, begin.Add(time.Duration(n-count)*interval))
		}
		return starts
	}
	for name, tt := range map[string]struct {
		starts []time.Time
		want   time.Duration
	}{
		"the first run":        {nil, 24 * time.Hour},
		"the second run":       {every(time.Minute, 1), 24 * time.Hour},
		"the fourth run":       {every(time.Hour, 3), 24 * time.Hour},
		"the fifth run":        {every(time.Hour, 4), 3 * time.Hour},
		"a server":             {every(40*time.Second, 9), 2 * time.Hour},
		"each hour":            {every(time.Hour, 9), 3 * time.Hour},
		"each hour after some": {append(every(time.Hour, 4), begin.Add(-time.Second), begin.Add(-time.Second)), 3 * time.Hour},
		"twice a day":          {every(12*time.Hour, 9), 36 * time.Hour},
		"a pause of months":    {every(1000*time.Hour, 9), 7 * 24 * time.Hour},
		"a clock of the past":  {every(-time.Hour, 9), 2 * time.Hour},
	} {
		if got := notification.Lifetime(tt.starts, begin); got != tt.want {
			t.Errorf("%s: an alert fires for %v, want %v", name, got, tt.want)
		}
	}
	if got := notification.EventLifetime; got != 15*time.Minute {
		t.Errorf("the alert of a single event fires for %v, want 15m", got)
	}
}

// TestTimesAreInTheTimeZone, also those in reasons.
func TestTimesAreInTheTimeZone(t *testing.T) {
	t.Parallel()
	d := declared(notification.Slack)
	c := notification.Claimer{Declaration: d, Zone: time.FixedZone("CST", 8*60*60), Now: begin}
	why := reason.OtherVersion("used since 2030-01-07T08:30:00Z, not 2030-99-99T08:30:00Z")
	about := history.About{At: begin, Object: "budget/team-a", Reasons: reason.Reasons{why}}
	j, _ := c.Claim(notification.New(d, begin), []history.Event{about.Since(history.Exceeded, begin)})
	if want := "used since 2030-01-07 16:30 +08:00, not 2030-99-99T08:30:00Z"; len(j.Pending) != 1 || j.Pending[0].Text != want {
		t.Errorf("the lines are %+v, want %q", j.Pending, want)
	}
}

func TestThresholdsAndObjectsSelectEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(notification.Slack))
	w.d.Thresholds, w.d.Objects = []int{80}, []string{"budget/team-*"}
	for _, object := range []string{"budget/team-a", "budget/other", "spot_pool/ap-singapore/team-x"} {
		for _, percent := range []int{50, 80, 100} {
			w.add(w.about(object).Crossed(percent, begin))
		}
	}
	w.run(fault{killedAt: -1}, nil)
	if got := w.titles(); !slices.Equal(got, []string{"gpupool: warning: budget/team-a: threshold"}) {
		t.Errorf("sent %q", got)
	}
}

// TestJournalsAreBounded has more events than a document holds, and a receiver that is gone.
func TestJournalsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(notification.Slack))
	w.d.Events = []history.Kind{history.Reclaim, history.Failed}
	for n := range 30 {
		w.now = begin.Add(time.Duration(n) * 3 * time.Hour)
		w.events = nil
		for i := range 500 {
			name := fmt.Sprintf("spot_pool/ap-singapore/%050d", i)
			w.add(w.about(name).Instance(history.Reclaim, history.Instance{ID: fmt.Sprintf("ins-%d-%d", n, i)}))
			w.add(w.about(name).Failed(history.Error{Message: fmt.Sprintf("%0600d", i), RequestID: "r-1", Remedy: strings.Repeat("grant ", 100)}))
		}
		w.run(fault{killedAt: -1, lost: true}, nil)
	}
	data, err := json.Marshal(w.journal)
	if err != nil || len(data) > 900_000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	w.now = w.now.Add(2 * time.Hour)
	w.run(fault{killedAt: -1}, nil)
	last := w.arrived[0]
	if last.LeftOut == 0 || last.LeftOut+len(w.journal.Pending) < 500 {
		t.Errorf("left out: %d", last.LeftOut)
	}
}
