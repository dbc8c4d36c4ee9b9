package meter

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// observedAs is a pod of team-a that holds so many GPUs, confirmed by so many labels of its node.
func observedAs(gpus *big.Rat, shown int, seen ledger.Time) ledger.Record {
	r := *record("pod", gpus.RatString(), ago(10*time.Hour), 0)
	r.Allocation = &ledger.Allocation{Shown: shown, Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(1, 1), Weight: gpus}}}
	r.Seen = seen
	return r
}

// TestALabelOfANodeLowersNoRecordedHours: what a node reports later counts from then on if it is
// less, and from the start if it is more. What a new node reports counts from the start.
func TestALabelOfANodeLowersNoRecordedHours(t *testing.T) {
	t.Parallel()
	one, quarter := big.NewRat(1, 1), big.NewRat(1, 4)
	for name, tt := range map[string]struct {
		first, later *big.Rat
		shown        int
		want         int64
	}{
		"shared by four": {one, quarter, ledger.Confirmed, 8*budget.Hour + budget.Hour/2},
		"not shared":     {quarter, one, ledger.Confirmed, 10 * budget.Hour},
		"a new node":     {one, quarter, ledger.Provisional, 10 * budget.Hour / 4},
		"unconfirmed":    {one, quarter, ledger.Unconfirmed, 10 * budget.Hour / 4},
	} {
		l := ledger.New("cluster")
		for _, r := range []ledger.Record{observedAs(tt.first, tt.shown, ago(9*time.Hour)), observedAs(tt.later, ledger.Confirmed+1, ago(2*time.Hour))} {
			if err := l.Observe(r); err != nil {
				t.Fatal(err)
			}
		}
		m, err := New(teamA(), noon, nil, time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := l.Get("pod")
		if used, _ := m.Pod(&r); used.Consumed != tt.want || used.GPUs.Cmp(tt.later) != 0 {
			t.Errorf("%s: %d are used, want %d; it holds %s", name, used.Consumed, tt.want, used.GPUs)
		}
	}
}

// TestRecordedHoursNeverFall whatever the labels of a node are observed to be, run after run, once it
// is not new.
func TestRecordedHoursNeverFall(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, last := ledger.New("cluster"), int64(0)
		for minute := range 8 {
			at := noon.Add(time.Duration(minute) * time.Minute)
			gpus := big.NewRat(rapid.Int64Range(0, 8).Draw(t, "gpus"), rapid.Int64Range(1, 4).Draw(t, "shared by"))
			r := observedAs(gpus, ledger.Confirmed+rapid.IntRange(0, 3).Draw(t, "shown"), ledger.TimeOf(at))
			r.Allocation.Capped = rapid.Bool().Draw(t, "capped")
			if err := l.Observe(r); err != nil {
				t.Fatal(err)
			}
			m, err := New(teamA(), at, nil, time.LoadLocation)
			if err != nil {
				t.Fatal(err)
			}
			recorded, _ := l.Get("pod")
			used, _ := m.Pod(&recorded)
			if used.Consumed < last {
				t.Fatalf("%d were recorded, and %d a minute later", last, used.Consumed)
			}
			last = used.Consumed
		}
	})
}
