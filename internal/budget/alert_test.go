package budget

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// thresholds are what a plan alerts of.
func thresholds(p Plan) []int {
	var list []int
	for _, d := range p.Decisions {
		if d.Kind == KindAlert {
			list = append(list, d.Thresholds...)
		}
	}
	return list
}

// TestThresholdsFireOnce walks a rolling window's usage up and down: a threshold
// fires again only after usage fell five points below it.
func TestThresholdsFireOnce(t *testing.T) {
	t.Parallel()
	s := situation(teamA(), 0)
	s.Previous = nil
	steps := []struct {
		consumed int64
		fires    []int
	}{
		{0, nil}, {50*Hour - 1, nil}, {50 * Hour, []int{50}}, {60 * Hour, nil}, {46 * Hour, nil}, {50 * Hour, nil},
		{45*Hour + 1, nil}, {51 * Hour, nil}, {45 * Hour, nil}, {49 * Hour, nil}, {50 * Hour, []int{50}},
		{250 * Hour, []int{80, 100}}, {95*Hour + 1, nil}, {100 * Hour, nil}, {95 * Hour, nil}, {99 * Hour, nil}, {100 * Hour, []int{100}}, {0, nil},
		{81 * Hour, []int{50, 80}},
	}
	for n, step := range steps {
		s.Result.Usage.Consumed = step.consumed
		p := Decide(s, nil)
		if diff := cmp.Diff(step.fires, thresholds(p)); diff != "" {
			t.Errorf("step %d, %s hours: %s", n, Hours(step.consumed), diff)
		}
		s.Previous, s.Now = &p.Status, s.Now.Add(5*time.Minute)
	}
}

// TestThresholdsFireOnceAPeriod: whatever happens to usage in it; the next period
// begins anew.
func TestThresholdsFireOnceAPeriod(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.Window, d.Period = "", Day
	s := situation(d, 0)
	s.Previous = nil
	steps := []struct {
		day      int
		consumed int64
		fires    []int
	}{
		{15, 55 * Hour, []int{50}}, {15, 40 * Hour, nil}, {15, 55 * Hour, nil}, {15, 90 * Hour, []int{80}}, {16, Hour, nil}, {16, 55 * Hour, []int{50}},
		{17, 120 * Hour, []int{50, 80, 100}},
	}
	for n, step := range steps {
		s.Now = time.Date(2026, 7, step.day, 12, n, 0, 0, time.UTC)
		w, err := d.WindowAt(s.Now, time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		s.Result.Usage.WindowStart, s.Result.Usage.WindowEnd, s.Result.Usage.Consumed = w.Start, w.End, step.consumed
		p := Decide(s, nil)
		if diff := cmp.Diff(step.fires, thresholds(p)); diff != "" {
			t.Errorf("step %d: %s", n, diff)
		}
		s.Previous = &p.Status
	}
}

// TestARaisedLimitRearms: within a period as well, since under the new limit the
// threshold is another amount.
func TestARaisedLimitRearms(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.Window, d.Period = "", Month
	s := situation(d, 81*Hour)
	s.Previous.Fired = []int{50, 80}
	s.Declaration.Generation, s.Result.Usage.Limit = 2, 150*Hour
	p := Decide(s, nil)
	if !cmp.Equal(p.Status.Fired, []int{50}) {
		t.Fatalf("%v", p.Status.Fired)
	}
	s.Previous, s.Result.Usage.Consumed = &p.Status, 120*Hour
	if fires := thresholds(Decide(s, nil)); !cmp.Equal(fires, []int{80}) {
		t.Errorf("%v", fires)
	}
}

func TestThresholdsThatAreNoLongerDeclaredAreForgotten(t *testing.T) {
	t.Parallel()
	s := situation(teamA(), 85*Hour)
	s.Previous.Fired = []int{50, 75, 80}
	if p := Decide(s, nil); !cmp.Equal(p.Status.Fired, []int{50, 80}) {
		t.Errorf("%v", p.Status.Fired)
	}
}

// TestUsageAboveTheLimitIsShown: nothing is clamped at 100%.
func TestUsageAboveTheLimitIsShown(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.Thresholds = []int{200}
	s := situation(d, 250*Hour)
	s.Previous = nil
	p := Decide(s, nil)
	if len(p.Decisions) != 1 || !strings.Contains(p.Decisions[0].String(), "250.000 of 100.000 GPU-hours are used (250%)") || p.Status.Usage.Remaining() != 0 {
		t.Errorf("%v", p.Decisions)
	}
}

func TestAlertsSayWhatComesOfIt(t *testing.T) {
	t.Parallel()
	below := situation(teamA(), 81*Hour)
	ahead := noon.Add(2 * time.Hour)
	below.Result.Usage.BurnRate, below.Result.Usage.ActivePods, below.Result.Usage.ProjectedExhaustion = 9500, 2, &ahead
	grace := situation(enforcing(Evict), 101*Hour)
	grace.Declaration.PublishedAt = noon.Add(-time.Minute)
	tests := map[string]Situation{
		"alert that 80% is reached in ml: 81.000 of 100.000 GPU-hours are used (81%); 2 pods hold 9.5 GPUs now, which uses the rest up by " +
			"2026-07-15T14:00:00Z": below,
		"alert that 100% is reached in ml: 101.000 of 100.000 GPU-hours are used (101%); its enforcement is alert_only, so " +
			"nothing else is done": situation(teamA(), 101*Hour),
		"alert that 100% is reached in ml: 101.000 of 100.000 GPU-hours are used (101%); its grace period lasts until 2026-07-15T12:09:00Z, and then its " +
			"enforcement is evict": grace,
		"alert that 100% is reached in ml: 101.000 of 100.000 GPU-hours are used (101%); its grace period is over, and its " +
			"enforcement is freeze": situation(enforcing(Freeze), 101*Hour),
	}
	for want, s := range tests {
		s.Previous.Fired = []int{50}
		if s.Result.Usage.Exceeded() {
			s.Previous.Fired = []int{50, 80}
		}
		if got := Decide(s, nil).Decisions[0].String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestAlertsGoWhereMostIsUsed(t *testing.T) {
	t.Parallel()
	s := situation(teamA(), 60*Hour)
	s.Previous.Fired = nil
	s.Result.Usage.ByNamespace = map[string]int64{Others: 9 * Hour}
	for n := range 30 {
		s.Result.Usage.ByNamespace[fmt.Sprintf("ns-%02d", n)] = int64(n) * Hour
	}
	got := Decide(s, nil).Decisions[0].Namespaces
	if len(got) != mostTold || got[0] != "ns-10" || got[19] != "ns-29" {
		t.Errorf("%v", got)
	}
}
