package meter

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func hours(n float64) time.Duration { return time.Duration(n * float64(time.Hour)) }

// TestCrossings has cases that can be computed by hand: intervals as [GPUs, began, ended] in hours before
// noon. An end below zero means none.
func TestCrossings(t *testing.T) {
	t.Parallel()
	none := time.Time{}
	tests := []struct {
		name            string
		limit, window   string
		period          budget.Period
		intervals       [][3]float64
		exceeded, ahead time.Time
	}{
		{name: "nothing burns", limit: "10", window: "24h", intervals: [][3]float64{{1, 5, 1}}},
		{name: "reached, to the millisecond", limit: "8", window: "24h", intervals: [][3]float64{{2, 5, -1}}, exceeded: noon.Add(-hours(1))},
		{name: "reached just now", limit: "10", window: "24h", intervals: [][3]float64{{2, 5, -1}}, exceeded: noon},
		{name: "reached by pods that ended", limit: "8", window: "24h", intervals: [][3]float64{{4, 5, 3}}, exceeded: noon.Add(-hours(3))},
		{name: "is to be reached", limit: "12", window: "24h", intervals: [][3]float64{{2, 5, -1}}, ahead: noon.Add(hours(1))},
		{name: "fell, and rose again", limit: "4", window: "4h", intervals: [][3]float64{{2, 10, 8}, {2, 2.5, -1}}, exceeded: noon.Add(-hours(0.5))},
		{name: "rose long before the window", limit: "4", window: "4h", intervals: [][3]float64{{1, 400, -1}}, exceeded: noon.Add(-hours(396))},
		{name: "as much leaves as comes", limit: "4.001", window: "4h", intervals: [][3]float64{{1, 400, -1}}},
		{
			name: "more leaves than comes, and later less", limit: "4", window: "4h", intervals: [][3]float64{{2, 4, 3}, {1.5, 0, -1}},
			ahead: noon.Add(hours(2) + hours(2)/3),
		},
		{name: "all of it leaves before", limit: "4", window: "4h", intervals: [][3]float64{{3, 4, 3}, {0.5, 0, -1}}},
		{name: "touched, and fell since", limit: "4", window: "4h", intervals: [][3]float64{{4, 5, 4}}},
		{name: "in a period, the first time", limit: "4", period: budget.Day, intervals: [][3]float64{{2, 10, 8}, {2, 2.5, -1}}, exceeded: noon.Add(-hours(8))},
		{name: "before the period does not count", limit: "12", period: budget.Day, intervals: [][3]float64{{1, 100, -1}}, exceeded: noon},
		{name: "before the period's end", limit: "14", period: budget.Day, intervals: [][3]float64{{1, 100, -1}}, ahead: noon.Add(hours(2))},
		{
			name: "before the period's end, rounded up", limit: "85", period: budget.Day, intervals: [][3]float64{{7, 100, -1}},
			ahead: noon.Add(514_286 * time.Millisecond),
		},
		{name: "not before the period's end", limit: "24", period: budget.Day, intervals: [][3]float64{{1, 100, -1}}},
		{
			name: "in the period's last moment", limit: "23.999", period: budget.Day, intervals: [][3]float64{{1, 100, -1}},
			ahead: noon.Add(12*time.Hour - 3600*time.Millisecond),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := teamA()
			d.GPUHours, d.Window, d.Period = test.limit, test.window, test.period
			records := podsOf(test.intervals)
			r := judged(t, d, observed(), noon, records...)
			exceeded, ahead := none, none
			if r.ExceededSince != nil {
				exceeded = *r.ExceededSince
			}
			if r.Usage.ProjectedExhaustion != nil {
				ahead = *r.Usage.ProjectedExhaustion
			}
			if !exceeded.Equal(test.exceeded) || !ahead.Equal(test.ahead) {
				t.Errorf("exceeded since %s, and ahead at %s; want %s and %s", exceeded, ahead, test.exceeded, test.ahead)
			}
		})
	}
}

// TestTheCrossingStandsStill: run after run finds the same moment, even if
// rounding alone reaches the limit.
func TestTheCrossingStandsStill(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.GPUHours = "1"
	var records []*ledger.Record
	for range 7 {
		// 3,599,999 milli-GPU-seconds exactly, and 3,600,002 where each is rounded.
		r := record("pod", "1/7", ago(2*time.Hour), ago(time.Hour)-1)
		records = append(records, r)
	}
	first := judged(t, d, observed(), noon, records...)
	if !first.Usage.Exceeded() || first.ExceededSince == nil || !first.ExceededSince.Equal(noon.Add(-time.Hour-time.Millisecond)) {
		t.Fatalf("%+v since %s", first.Usage, first.ExceededSince)
	}
	for minutes := range 20 {
		now := noon.Add(time.Duration(minutes) * time.Minute)
		if r := judged(t, d, observed(), now, records...); r.ExceededSince == nil || !r.ExceededSince.Equal(*first.ExceededSince) {
			t.Errorf("at %s, exceeded since %s", now, r.ExceededSince)
		}
		begins := record("begins", "1", ms(now), 0) // it has used nothing yet
		if r := judged(t, d, observed(), now, append(records[:7:7], begins)...); r.ExceededSince == nil || !r.ExceededSince.Equal(*first.ExceededSince) {
			t.Errorf("with a pod that begins at %s, exceeded since %s", now, r.ExceededSince)
		}
	}
}

// TestAwkwardWeightsHaveCrossingsToo: where no common part of all rates is coarse
// enough, crossings are still found, to the millisecond or nearly.
func TestAwkwardWeightsHaveCrossingsToo(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.GPUHours = "1"
	var records []*ledger.Record
	for _, gpus := range []string{"1/999983", "1/999979", "123456789/999999937", "2"} {
		records = append(records, record("pod", gpus, ago(2*time.Hour), 0))
	}
	r := judged(t, d, observed(), noon, records...)
	want := noon.Add(-2*time.Hour + 1695*time.Second) // 1 / 2.12346 h
	if r.ExceededSince == nil || r.ExceededSince.Sub(want).Abs() > time.Second {
		t.Errorf("exceeded since %s, want about %s", r.ExceededSince, want)
	}
}

// TestALimitThatRoundingMissesIsReachedNow: it is used up exactly, and a unit is missing where each pod is
// rounded.
func TestALimitThatRoundingMissesIsReachedNow(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.GPUHours = "1"
	records := []*ledger.Record{record("ended", "1", ago(2*time.Hour), ago(2*time.Hour)+3)}
	for range 4 {
		records = append(records, record("pod", "1/4", ago(time.Hour)+3, 0))
	}
	u := judged(t, d, observed(), noon, records...).Usage
	if u.Consumed != budget.Hour-1 || u.ProjectedExhaustion == nil || !u.ProjectedExhaustion.Equal(noon) {
		t.Errorf("%d of %d are used, to be reached at %v", u.Consumed, u.Limit, u.ProjectedExhaustion)
	}
}
