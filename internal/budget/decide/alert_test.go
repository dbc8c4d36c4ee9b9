package decide

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// thresholds are what a plan alerts of.
func thresholds(p Plan) []int {
	var list []int
	for _, d := range p.Decisions {
		if d.Kind == budget.KindAlert {
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
		{0, nil}, {50*budget.Hour - 1, nil}, {50 * budget.Hour, []int{50}}, {60 * budget.Hour, nil}, {46 * budget.Hour, nil}, {50 * budget.Hour, nil},
		{45*budget.Hour + 1, nil}, {51 * budget.Hour, nil}, {45 * budget.Hour, nil}, {49 * budget.Hour, nil}, {50 * budget.Hour, []int{50}},
		{250 * budget.Hour, []int{80, 100}}, {95*budget.Hour + 1, nil}, {100 * budget.Hour, nil}, {95 * budget.Hour, nil},
		{99 * budget.Hour, nil}, {100 * budget.Hour, []int{100}}, {0, nil},
		{81 * budget.Hour, []int{50, 80}},
	}
	for n, step := range steps {
		s.Result.Usage.Consumed = step.consumed
		p := Decide(s, nil)
		if diff := cmp.Diff(step.fires, thresholds(p)); diff != "" {
			t.Errorf("step %d, %s hours: %s", n, budget.Hours(step.consumed), diff)
		}
		s.Previous, s.Now = &p.Status, s.Now.Add(5*time.Minute)
	}
}

// TestThresholdsFireOncePerPeriod expects one alert however usage moves within a period, and another in the
// next period.
func TestThresholdsFireOncePerPeriod(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.Window, d.Period = "", budget.Day
	s := situation(d, 0)
	s.Previous = nil
	steps := []struct {
		day      int
		consumed int64
		fires    []int
	}{
		{15, 55 * budget.Hour, []int{50}}, {15, 40 * budget.Hour, nil}, {15, 55 * budget.Hour, nil}, {15, 90 * budget.Hour, []int{80}},
		{16, budget.Hour, nil}, {16, 55 * budget.Hour, []int{50}},
		{17, 120 * budget.Hour, []int{50, 80, 100}},
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
	d.Window, d.Period = "", budget.Month
	s := situation(d, 81*budget.Hour)
	s.Previous.Fired = []int{50, 80}
	s.Declaration.Generation, s.Result.Usage.Limit = 2, 150*budget.Hour
	p := Decide(s, nil)
	if !cmp.Equal(p.Status.Fired, []int{50}) {
		t.Fatalf("%v", p.Status.Fired)
	}
	s.Previous, s.Result.Usage.Consumed = &p.Status, 120*budget.Hour
	if fires := thresholds(Decide(s, nil)); !cmp.Equal(fires, []int{80}) {
		t.Errorf("%v", fires)
	}
}

func TestThresholdsThatAreNoLongerDeclaredAreForgotten(t *testing.T) {
	t.Parallel()
	s := situation(teamA(), 85*budget.Hour)
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
	s := situation(d, 250*budget.Hour)
	s.Previous = nil
	p := Decide(s, nil)
	if len(p.Decisions) != 1 || !strings.Contains(p.Decisions[0].String(), "250.000 of 100.000 GPU-hours are used (250%)") || p.Status.Usage.Remaining() != 0 {
		t.Errorf("%v", p.Decisions)
	}
}

func TestAlertsSayWhatComesOfIt(t *testing.T) {
	t.Parallel()
	below := situation(teamA(), 81*budget.Hour)
	ahead := noon.Add(2 * time.Hour)
	below.Result.Usage.BurnRate, below.Result.Usage.ActivePods, below.Result.Usage.ProjectedExhaustion = 9500, 2, &ahead
	grace := situation(enforcing(budget.Evict), 101*budget.Hour)
	grace.Declaration.PublishedAt = noon.Add(-time.Minute)
	tests := map[string]Situation{
		"alert that 80% is reached in ml: 81.000 of 100.000 GPU-hours are used (81%); 2 pods hold 9.5 GPUs now, which uses up the rest by " +
			"2026-07-15T14:00:00Z": below,
		"alert that 100% is reached in ml: 101.000 of 100.000 GPU-hours are used (101%); its enforcement is alert_only, so " +
			"nothing else is done": situation(teamA(), 101*budget.Hour),
		"alert that 100% is reached in ml: 101.000 of 100.000 GPU-hours are used (101%); its grace period lasts until 2026-07-15T12:09:00Z, and then its " +
			"enforcement is evict": grace,
		"alert that 100% is reached in ml: 101.000 of 100.000 GPU-hours are used (101%); its grace period is over, and its " +
			"enforcement is freeze": situation(enforcing(budget.Freeze), 101*budget.Hour),
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
	s := situation(teamA(), 60*budget.Hour)
	s.Previous.Fired = nil
	s.Result.Usage.ByNamespace = map[string]int64{budget.Others: 9 * budget.Hour}
	for n := range 30 {
		s.Result.Usage.ByNamespace[fmt.Sprintf("ns-%02d", n)] = int64(n) * budget.Hour
	}
	got := Decide(s, nil).Decisions[0].Namespaces
	if len(got) != 20 || got[0] != "ns-10" || got[19] != "ns-29" {
		t.Errorf("%v", got)
	}
}
