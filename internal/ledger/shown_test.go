package ledger_test

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// weighing is the first pod, observed a while after noon, with a weight.
func weighing(seen ledger.Time, shown int, units, weight *big.Rat, capped bool) ledger.Record {
	r := pod(1, noon)
	r.Seen = noon + seen
	r.Allocation = &ledger.Allocation{Shown: shown, Capped: capped, Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: units, Weight: weight}}}
	return r
}

// TestWhatTheNodeBearsOutWins: nodes get their labels after their first pods, and a later
// observation corrects an earlier guess.
func TestWhatTheNodeBearsOutWins(t *testing.T) {
	t.Parallel()
	one, quarter := big.NewRat(1, 1), big.NewRat(1, 4)
	for name, test := range map[string]struct {
		seen []ledger.Record
		want string // GPUs
		at   ledger.Time
	}{
		"labels that come later": {[]ledger.Record{weighing(minute, 1, one, one, false), weighing(hour, 3, one, quarter, false)}, "1/4", hour},
		"labels that go away":    {[]ledger.Record{weighing(minute, 3, one, quarter, false), weighing(hour, 1, one, one, false)}, "1/4", minute},
		"labels that change":     {[]ledger.Record{weighing(minute, 3, one, one, false), weighing(hour, 3, one, quarter, false)}, "1", minute},
		"a node that is shown later": {
			[]ledger.Record{weighing(minute, 0, big.NewRat(999, 1), one, false), weighing(hour, 1, big.NewRat(8, 1), one, true)}, "8", hour,
		},
		"a capacity that grows": {
			[]ledger.Record{weighing(minute, 1, big.NewRat(4, 1), one, true), weighing(hour, 1, big.NewRat(6, 1), one, true)}, "6", hour,
		},
		"a capacity that is enough": {
			[]ledger.Record{weighing(minute, 1, big.NewRat(4, 1), one, true), weighing(hour, 1, big.NewRat(8, 1), one, false)}, "8", hour,
		},
		"a capacity that falls": {
			[]ledger.Record{weighing(minute, 1, big.NewRat(6, 1), one, true), weighing(hour, 1, big.NewRat(4, 1), one, true)}, "6", minute,
		},
		"an annotation that's edited": {[]ledger.Record{weighing(minute, 2, quarter, one, false), weighing(hour, 2, one, one, false)}, "1/4", minute},
	} {
		for range 2 {
			l := of(t, test.seen...)
			got, _ := l.Get(uid(1))
			if gpus := got.Allocation.GPUs().RatString(); gpus != test.want || got.AllocationSeen != noon+test.at {
				t.Errorf("%s: %s GPUs as of %d, want %s", name, gpus, got.AllocationSeen-noon, test.want)
			}
			if got.Seen != noon+minute {
				t.Errorf("%s: the labels are those of %d", name, got.Seen-noon)
			}
			slices.Reverse(test.seen)
		}
	}
}

// TestTheBestShownHoldingStays in any order of merges.
func TestTheBestShownHoldingStays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seen := rapid.SliceOfN(anyRecord(), 1, 12).Draw(t, "records")
		best := map[string]int{}
		for _, r := range seen {
			best[r.UID] = max(best[r.UID], r.Allocation.Shown)
		}
		kept := of(t, seen...)
		if n := len(records(kept)); n != len(best) {
			t.Fatalf("%d records of %d pods", n, len(best))
		}
		for r := range kept.All() {
			if r.Allocation.Shown != best[r.UID] {
				t.Fatalf("it is shown by %d, and was by %d", r.Allocation.Shown, best[r.UID])
			}
		}
	})
}

// TestRefusedPodsHoldUntilTheirRefusal: a kubelet that rejects a pod which it had accepted erases
// nothing, whether or not a container was observed to run.
func TestRefusedPodsHoldUntilTheirRefusal(t *testing.T) {
	t.Parallel()
	for _, ran := range []bool{false, true} {
		l := ledger.New(cluster)
		before := pod(1, noon)
		if !ran {
			before.Runs = ledger.Start{}
		}
		observe(t, l, before)
		l.Header.LastRun = noon + hour
		after := before
		after.Runs, after.Seen = ledger.Start{}, noon+2*hour
		after.End = ledger.ExactEnd(after.Start.At, ledger.Rejected)
		observe(t, l, after)
		observe(t, l, after)
		if got, _ := l.Get(uid(1)); got.End.Earliest != noon+hour || got.End.At != noon+2*hour {
			t.Errorf("ran %v: it held until %+v", ran, got.End)
		}
	}
	l := ledger.New(cluster)
	first := ended(pod(1, noon), noon, ledger.Rejected)
	observe(t, l, first)
	if got, _ := l.Get(uid(1)); got.End != ledger.ExactEnd(noon, ledger.Rejected) {
		t.Errorf("first observed as rejected, it held until %+v", got.End)
	}
}
