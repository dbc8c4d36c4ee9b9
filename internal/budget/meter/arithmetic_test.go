package meter

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// The tests that are not parallel come before all others. Some of those never end where one of these fails.

//nolint:paralleltest // it is before all others
func TestStepsAreSortedByTime(t *testing.T) {
	for _, times := range [][]ledger.Time{
		{3, 1, 2}, {1 << 40, 1, 1 << 20, 2}, {5, 5, 4, 5}, {7_000, -7_000}, // which is before 1970
	} {
		var steps []step
		for n, at := range times {
			steps = append(steps, step{at, int64(n)})
		}
		want := slices.Clone(steps)
		slices.SortStableFunc(want, func(a, b step) int { return int(a.at - b.at) })
		if got, _ := byTime(steps, make([]step, len(steps))); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", times, got, want)
		}
	}
}

// TestWhatIsAskedOfAClaim at a moment, and until when that stays.
//
//nolint:paralleltest // it is before all others
func TestWhatIsAskedOfAClaim(t *testing.T) {
	claims := ClaimsOf(of(byClaim("first", 10, 40), byClaim("second", 20, 30), byClaim("empty", 5, 5), byClaim("backwards", 50, 45)))
	for at, want := range map[ledger.Time]string{
		3: "0 until 10", 5: "0 until 10", 10: "1 until 20", 19: "1 until 20", 20: "2 until 30", 30: "1 until 40", 40: "0 until never",
	} {
		asked, until := claims.at("c", ledger.EstimateMidpoint, at)
		got := fmt.Sprintf("%s until %d", asked.RatString(), until)
		if until == never {
			got = asked.RatString() + " until never"
		}
		if got != want {
			t.Errorf("at %d it is %s, want %s", at, got, want)
		}
	}
}

// TestPodsThatBeginTogetherDivideAClaim: there is no moment at which one has all of it.
//
//nolint:paralleltest // it is before all others
func TestPodsThatBeginTogetherDivideAClaim(t *testing.T) {
	u := judged(t, teamOf("first"), observed(), noon, byClaim("first", ago(4*time.Hour), 0), byClaim("second", ago(4*time.Hour), 0)).Usage
	if u.Consumed != 2*budget.Hour || u.BurnRate != 500 {
		t.Errorf("%+v", u)
	}
}

// TestAnAllocationIsRememberedOnce, however often it is measured.
//
//nolint:paralleltest // it is before all others
func TestAnAllocationIsRememberedOnce(t *testing.T) {
	m, err := New(teamA(), noon, nil, time.LoadLocation)
	if err != nil {
		t.Fatal(err)
	}
	r := record("pod", "1", ago(time.Hour), 0)
	for range 3 {
		m.Pod(r)
	}
	if n := len(m.rules.byAllocation); n != 1 {
		t.Errorf("one allocation is remembered as %d", n)
	}
}

// TestAReplayOfDaysBeginsEachWithNothing, also if nothing happened before the second day.
//
//nolint:paralleltest // it is before all others
func TestAReplayOfDaysBeginsEachWithNothing(t *testing.T) {
	d := teamA()
	d.GPUHours, d.Window, d.Period, d.Thresholds = "2", "", budget.Day, []int{100}
	r, err := Replay(d, of(podsOf([][3]float64{{1, 50, 11}})...), noon.Add(-hours(72)), noon, time.LoadLocation)
	if err != nil {
		t.Fatal(err)
	}
	want := "100: -48 -34 exceeded: -48..-36 by 12.000, peak 14 at -36 -34..-12 by 22.000, peak 24 at -12 peak 24 at -12"
	if diff := cmp.Diff(want, replayText(r)); diff != "" {
		t.Error(diff)
	}
}

// TestARecoveryIsFoundAcrossZero, the moment from which times are counted.
//
//nolint:paralleltest // it is before all others
func TestARecoveryIsFoundAcrossZero(t *testing.T) {
	d, now := teamA(), time.Unix(1, 0)
	d.GPUHours = "8"
	at := judged(t, d, observed(), now, record("pod", "2", ms(now.Add(-5*time.Hour)), 0)).Usage.RecoversAt
	if want := now.Add(20*time.Hour + time.Millisecond); at == nil || !at.Equal(want) {
		t.Errorf("recovers at %v, want %s", at, want)
	}
}

func (a wide) big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(a.hi), 64)
	return n.Add(n, new(big.Int).SetUint64(a.lo))
}

// TestWideSumsAreExact of all products of these numbers.
func TestWideSumsAreExact(t *testing.T) {
	t.Parallel()
	numbers := []int64{0, 1, -1, 3, -1 << 40, 1<<40 + 1, math.MaxInt64, -math.MaxInt64}
	for n := range len(numbers) * len(numbers) * len(numbers) * len(numbers) {
		a, b, c, d := numbers[n%8], numbers[n/8%8], numbers[n/64%8], numbers[n/512]
		x, y := product(a, b), product(c, d)
		exactX, exactY := new(big.Int).Mul(big.NewInt(a), big.NewInt(b)), new(big.Int).Mul(big.NewInt(c), big.NewInt(d))
		sum, rest := new(big.Int).Add(exactX, exactY), new(big.Int).Sub(exactX, exactY)
		if x.big().Cmp(exactX) != 0 || x.plus(y).big().Cmp(sum) != 0 || x.minus(y).big().Cmp(rest) != 0 || x.below(y) != (rest.Sign() < 0) {
			t.Fatalf("%d * %d and %d * %d: %v and %v, sum %v, difference %v, below %t", a, b, c, d, x, y, x.plus(y), x.minus(y), x.below(y))
		}
	}
}

// TestRatesEndWhereTheirBitsDo: what exceeds them is as much as they hold.
func TestRatesEndWhereTheirBitsDo(t *testing.T) {
	t.Parallel()
	r := rateOf(new(big.Rat).SetInt64(1 << 60))
	for ms, want := range map[int64]int64{7: 7 << 60, 8: math.MaxInt64, 16: math.MaxInt64} {
		if got := r.amount(ms); got != want {
			t.Errorf("in %d ms it uses %d, want %d", ms, got, want)
		}
	}
	if got := r.parts(16); got != mostParts {
		t.Errorf("it is %d parts", got)
	}
	if got := recorded(micro/2<<24, 1<<40); got != math.MaxInt64 {
		t.Errorf("%d are recorded", got)
	}
	for bits, wide := range map[int]bool{62: false, 63: true} {
		long := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1))
		for _, gpus := range []*big.Rat{new(big.Rat).SetInt(long), new(big.Rat).SetFrac(big.NewInt(1), long)} {
			if got := rateOf(gpus); (got.wide != nil) != wide {
				t.Errorf("a rate of %d bits is %+v", bits, got)
			}
		}
	}
}
