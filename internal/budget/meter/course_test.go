package meter

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestCourse has cases that can be computed by hand. They are usage at hours after noon: at the present rate,
// and if all pods end.
func TestCourse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, window string
		period       budget.Period
		want         string
	}{
		{"rolling", "4h", "", "-6: 0/0 -5: 2/2 -3: 7/7 0: 6/6 1: 4/3 3: 4/1 4: 4/0 8: 4/0"},
		{"by the day", "", budget.Day, "-6: 0/0 -5: 2/2 -3: 7/7 0: 10/10 1: 11/10 3: 13/10 4: 14/10 8: 18/10 12: 22/10 13: 1/0"},
	} {
		d := teamA()
		d.Window, d.Period = test.window, test.period
		var times []time.Time
		for _, at := range []float64{-6, -5, -3, 0, 1, 3, 4, 8, 12, 13} {
			if at <= 8 || test.period != "" {
				times = append(times, noon.Add(hours(at)))
			}
		}
		course, err := Course(d, of(podsOf([][3]float64{{2, 6, 3}, {1, 4, -1}})...), noon, times, time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range course {
			got += fmt.Sprintf("%g: %g/%g ", s.At.Sub(noon).Hours(), float64(s.Used)/float64(budget.Hour), float64(s.Idle)/float64(budget.Hour))
		}
		if diff := cmp.Diff(test.want+" ", got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestACourseBeginsBetweenPeriods: like any other sample between two periods, the first is the end of the earlier one.
func TestACourseBeginsBetweenPeriods(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.Window, d.Period = "", budget.Day
	midnight := noon.Add(-12 * time.Hour)
	course, err := Course(d, of(podsOf([][3]float64{{1, 20, 1}})...), noon, []time.Time{midnight, midnight.Add(time.Hour)}, time.LoadLocation)
	if err != nil {
		t.Fatal(err)
	}
	want := []Sample{{midnight, 8 * budget.Hour, 8 * budget.Hour}, {midnight.Add(time.Hour), budget.Hour, budget.Hour}}
	if diff := cmp.Diff(want, course); diff != "" {
		t.Errorf("the course differs (-want +got):\n%s", diff)
	}
}

func TestCourseAgreesWithTheSlowSum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := slow{d: drawBudgets(t)[0], records: drawRecords(t)}
		if p, err := newReplay(s.d, of(s.records...), ms(noon)-1, ms(noon), time.LoadLocation); err != nil || p.parts == finest {
			return // such awkward weights are not told apart exactly
		}
		var times []time.Time
		at := noon.Add(-time.Duration(rapid.IntRange(-10, 300).Draw(t, "first")) * time.Minute)
		for range rapid.IntRange(1, 20).Draw(t, "times") {
			times = append(times, at)
			at = at.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
		}
		course, err := Course(s.d, of(s.records...), noon, times, time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		if len(course) != len(times) {
			t.Fatalf("%d samples of %d times", len(course), len(times))
		}
		for _, sample := range course {
			begin := s.begin(sample.At)
			if begin == ms(sample.At) {
				begin = s.begin(sample.At.Add(-time.Millisecond))
			}
			used := usedBetween(s.meter(), of(s.records...), noon, begin, ms(sample.At))
			idle := usedBetween(s.meter(), of(s.records...), noon, begin, min(ms(sample.At), ms(noon)))
			for want, got := range map[*big.Rat]int64{used: sample.Used, idle: sample.Idle} {
				off := new(big.Rat).Sub(want, new(big.Rat).SetInt64(got))
				if off.Abs(off).Cmp(big.NewRat(1, 1)) > 0 {
					t.Fatalf("at %s: %d used, and the slow sum is %s", sample.At, got, want.FloatString(1))
				}
			}
		}
	})
}

// TestCourseMeetsTheForecast: usage reaches the limit when Evaluate says so.
func TestCourseMeetsTheForecast(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"5", "12"} { // one that is exceeded, and one that will be
		d := teamA()
		d.GPUHours = limit
		records := podsOf([][3]float64{{2, 6, 3}, {1, 4, -1}})
		u := judged(t, d, observed(), noon, records...).Usage
		at := u.RecoversAt
		if at == nil {
			at = u.ProjectedExhaustion
		}
		course, err := Course(d, of(records...), noon, []time.Time{noon, *at}, time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		got := course[1].Used
		if u.RecoversAt != nil {
			got = course[1].Idle
		}
		if course[0].Used != u.Consumed || max(got-u.Limit, u.Limit-got) > 2*int64(ledger.Time(time.Second.Milliseconds())) {
			t.Errorf("of %s GPU-hours, %s are used now and %s at %s", limit, budget.Hours(course[0].Used), budget.Hours(got), at)
		}
	}
}
