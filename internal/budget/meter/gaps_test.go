package meter

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// unobserved is a header with one gap, of an hour, in which the nodes could have
// given so many GPUs.
func unobserved(gpus string) ledger.Header {
	h := observed()
	h.Gaps = []ledger.Gap{{From: ago(3 * time.Hour), To: ago(2 * time.Hour), GPUs: rat(gpus), Reason: "too old resource version"}}
	return h
}

func TestGapsBoundWhatWasMissed(t *testing.T) {
	t.Parallel()
	through := record("through", "3", ago(4*time.Hour), 0)
	into := record("into", "2", ago(5*time.Hour), ago(150*time.Minute)) // ends in the middle
	other := record("other", "1", ago(140*time.Minute), 0)              // of no budget, and holds a GPU for 20 minutes of it
	other.Set = set("web")
	missed := 10*budget.Hour - 3*budget.Hour - budget.Hour - budget.Hour/3
	u := judged(t, teamA(), unobserved("10"), noon, through, into, other).Usage
	if u.ErrorBound != missed {
		t.Errorf("the error is at most %s, want %s", budget.Hours(u.ErrorBound), budget.Hours(missed))
	}
	if u.Coverage != 958 {
		t.Errorf("23 of 24 hours were observed, and not %d thousandths", u.Coverage)
	}

	d := teamA()
	d.ModelWeights = map[string]string{"A100": "4", "T4": "0.5"}
	if u := judged(t, d, unobserved("10"), noon, through, into, other).Usage; u.ErrorBound != 4*missed {
		t.Errorf("where all of it was A100s, the error is at most %s", budget.Hours(u.ErrorBound))
	}
	d = teamA()
	d.ResourceWeights = map[string]string{"nvidia.com/gpu": "3"}
	if u := judged(t, d, unobserved("10"), noon, through, into, other).Usage; u.ErrorBound != 3*missed {
		t.Errorf("at three times the weight, the error is at most %s", budget.Hours(u.ErrorBound))
	}
	d = teamA()
	d.Window = "150m" // holds half of the gap
	if u := judged(t, d, unobserved("10"), noon).Usage; u.ErrorBound != 5*budget.Hour || u.Coverage != 800 {
		t.Errorf("%+v", u)
	}
	d.Window = "1h"
	if u := judged(t, d, unobserved("10"), noon).Usage; u.ErrorBound != 0 || u.Coverage != 1000 {
		t.Errorf("%+v", u)
	}
}

func TestMoreRecordedThanTheNodesHadIsNoNegativeError(t *testing.T) {
	t.Parallel()
	if u := judged(t, teamA(), unobserved("1"), noon, record("a", "8", ago(4*time.Hour), 0)).Usage; u.ErrorBound != 0 {
		t.Errorf("%+v", u)
	}
}

// TestRecordedEndsInAGapAreBoundTwice: the estimate may be wrong by the rest of
// its range, and what it leaves of the nodes may have been used by others.
func TestRecordedEndsInAGapAreBoundTwice(t *testing.T) {
	t.Parallel()
	r := record("a", "2", ago(4*time.Hour), 0)
	r.End = ledger.End{Earliest: ago(3 * time.Hour), At: ago(2 * time.Hour), Source: ledger.Estimated}
	u := judged(t, teamA(), unobserved("2"), noon, r).Usage
	if u.Estimated != budget.Hour || u.ErrorBound != 3*budget.Hour {
		t.Errorf("%+v", u)
	}
}

// TestErrorBoundCoversMissedUsage generates what really happened, hides pods from the ledger that existed
// only within gaps, and checks that the bound covers them.
func TestErrorBoundCoversMissedUsage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := observed()
		at := 300
		for range rapid.IntRange(1, 4).Draw(t, "gaps") {
			from := at - rapid.IntRange(1, 40).Draw(t, "apart")
			at = from - rapid.IntRange(1, 30).Draw(t, "minutes")
			h.Gaps = append(h.Gaps, ledger.Gap{From: ago(time.Duration(from) * time.Minute), To: ago(time.Duration(at) * time.Minute), GPUs: rat("8")})
		}
		var seen, all []*ledger.Record
		free := map[int]int{} // GPUs by minute
		for range rapid.IntRange(0, 12).Draw(t, "pods") {
			start := rapid.IntRange(1, 400).Draw(t, "start")
			end := rapid.IntRange(0, start-1).Draw(t, "end")
			gpus := rapid.IntRange(1, 4).Draw(t, "gpus")
			fits := true
			for minute := end; minute < start; minute++ {
				fits = fits && free[minute]+gpus <= 8
			}
			if !fits {
				continue
			}
			for minute := end; minute < start; minute++ {
				free[minute] += gpus
			}
			r := record("p", rat("1").SetInt64(int64(gpus)).RatString(), ago(time.Duration(start)*time.Minute), ago(time.Duration(end)*time.Minute))
			if rapid.Bool().Draw(t, "other") {
				r.Set = set("web")
			}
			all = append(all, r)
			if known, ok := throughGaps(r, h.Gaps); ok {
				seen = append(seen, known)
			}
		}
		d := teamA()
		d.Window = rapid.SampledFrom([]string{"1h", "3h", "5h", "24h"}).Draw(t, "window")
		d.PodEndEstimate = rapid.SampledFrom([]ledger.EndEstimate{ledger.EstimateEarliest, ledger.EstimateMidpoint, ledger.EstimateLatest}).Draw(t, "vanished")
		truth := Evaluate([]budget.Declaration{d}, of(all...), observed(), noon, time.LoadLocation)[0].Usage.Consumed
		u := Evaluate([]budget.Declaration{d}, of(seen...), h, noon, time.LoadLocation)[0].Usage
		if off := max(truth-u.Consumed, u.Consumed-truth); off > u.ErrorBound {
			t.Fatalf("used %d, recorded %d: off by more than %d", truth, u.Consumed, u.ErrorBound)
		}
	})
}

// throughGaps is the ledger's record of a pod. There is none if the pod existed only within a gap, and an
// estimated end if it ended in one.
func throughGaps(r *ledger.Record, gaps []ledger.Gap) (*ledger.Record, bool) {
	for _, gap := range gaps {
		if r.End.At > gap.From && r.End.At < gap.To {
			if r.Start.At > gap.From {
				return nil, false
			}
			known := *r
			known.End = ledger.End{Earliest: gap.From, At: gap.To, Source: ledger.Estimated}
			return &known, true
		}
	}
	return r, true
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		h    ledger.Header
		want int
	}{
		{"all", observed(), 1000},
		{"never", ledger.Header{}, 0},
		{"begun a quarter of a day ago", ledger.Header{Began: ago(6 * time.Hour)}, 250},
		{"begun now", ledger.Header{Began: ms(noon)}, 0},
		{"kept for half of it", ledger.Header{Began: ago(900 * time.Hour), KeptSince: ago(12 * time.Hour)}, 500},
		{"a loss within a gap", ledger.Header{
			Began: ago(900 * time.Hour), Gaps: []ledger.Gap{{From: ago(12 * time.Hour), To: ago(6 * time.Hour)}},
			Lost: []ledger.Loss{{From: ago(10 * time.Hour), To: ago(8 * time.Hour)}},
		}, 750},
		{"a loss across the window's start", ledger.Header{
			Began: ago(900 * time.Hour), Lost: []ledger.Loss{{From: ago(48 * time.Hour), To: ago(18 * time.Hour)}},
		}, 750},
		{"a moment is missing", ledger.Header{Began: ago(900 * time.Hour), Gaps: []ledger.Gap{{From: ago(time.Hour), To: ago(time.Hour) + 1}}}, 999},
	}
	for _, test := range tests {
		if u := judged(t, teamA(), test.h, noon).Usage; u.Coverage != test.want {
			t.Errorf("%s: %d, want %d", test.name, u.Coverage, test.want)
		}
	}
}

func TestUnboundedGapsSaySo(t *testing.T) {
	t.Parallel()
	h := unobserved("1")
	h.Gaps[0].GPUs = nil
	if r := judged(t, teamA(), h, noon); !r.Unbounded || r.LongestGap != time.Hour {
		t.Errorf("%+v", r)
	}
	d := teamA()
	d.ResourceWeights = map[string]string{"example.com/odd": "1"}
	odd := record("odd", "1", ago(time.Hour), 0)
	odd.Allocation = &ledger.Allocation{Shown: 1, Shares: []ledger.Share{{Resource: "example.com/odd", Units: rat("1"), Weight: rat("0")}}}
	if r := judged(t, d, unobserved("1"), noon, odd); !r.Unbounded {
		t.Errorf("%+v", r)
	}
	d.ResourceWeights = map[string]string{"example.com/other": "1"}
	if r := judged(t, d, unobserved("1"), noon, odd); r.Unbounded {
		t.Errorf("what is worth nothing to anyone: %+v", r)
	}
}

// TestRecordedUsageAtTheEdgesOfGaps has the error in milli-GPU-seconds that each leaves.
func TestRecordedUsageAtTheEdgesOfGaps(t *testing.T) {
	t.Parallel()
	gap := func(from, to ledger.Time, gpus string) ledger.Gap {
		return ledger.Gap{From: from, To: to, GPUs: rat(gpus)}
	}
	two := ago(2 * time.Hour)
	for _, test := range []struct {
		name string
		gaps []ledger.Gap
		pods []*ledger.Record
		want int64
	}{
		{"a moment later", []ledger.Gap{gap(ago(3*time.Hour), two, "10")}, []*ledger.Record{record("a", "3", two+1, 0)}, 10 * budget.Hour},
		{
			"all of it, and rounded together", []ledger.Gap{gap(two, two+1, "2")},
			[]*ledger.Record{record("a", "1/2", two, two+1), record("b", "1/2", two, two+1)}, 1,
		},
		{
			"half of one, and all of another", []ledger.Gap{gap(ago(5*time.Hour), ago(4*time.Hour), "10"), gap(ago(3*time.Hour), ago(time.Hour), "10")},
			[]*ledger.Record{record("a", "2", ago(270*time.Minute), 0)}, 9*budget.Hour + 16*budget.Hour,
		},
	} {
		h := observed()
		h.Gaps = test.gaps
		if got := judged(t, teamA(), h, noon, test.pods...).Usage.ErrorBound; got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestGapsBesideAWindowAreNotOfIt: one ends as it begins, the other begins now.
func TestGapsBesideAWindowAreNotOfIt(t *testing.T) {
	t.Parallel()
	h := observed()
	h.Gaps = []ledger.Gap{{From: ago(3 * time.Hour), To: ago(2 * time.Hour)}, {From: ms(noon), To: ms(noon.Add(time.Hour))}}
	short := teamA()
	short.Window = "2h"
	results := Evaluate([]budget.Declaration{short, teamA()}, of(), h, noon, time.LoadLocation)
	if short, long := results[0], results[1]; short.Unbounded || short.LongestGap != 0 || !long.Unbounded || long.LongestGap != time.Hour {
		t.Errorf("%+v", results)
	}
}

func TestAWindowThatBeginsBeforeTheLedgerSaysSo(t *testing.T) {
	t.Parallel()
	day, six := ago(24*time.Hour), ago(6*time.Hour)
	for _, test := range []struct {
		name                 string
		began, kept, forgone ledger.Time
		knownSince           ledger.Time
		forgotten            bool
	}{
		{name: "known as the window begins", began: day},
		{name: "begun in the window", began: six, knownSince: six},
		{name: "dropped from the window", began: day - 1, kept: six, knownSince: six, forgotten: true},
		{name: "dropped up to the window", began: six, kept: day, knownSince: six},
		{name: "accepted", began: six, forgone: six},
		{name: "accepted in part", began: six, forgone: six - 1, knownSince: six},
		{name: "dropped and accepted", began: day - 1, kept: six, forgone: six + 1},
	} {
		r := judged(t, teamA(), ledger.Header{Began: test.began, KeptSince: test.kept, Forgone: ledger.Forgone{Before: test.forgone}}, noon)
		if (r.KnownSince != nil) != (test.knownSince != 0) || r.KnownSince != nil && ms(*r.KnownSince) != test.knownSince || r.Forgotten != test.forgotten {
			t.Errorf("%s: known since %v, forgotten %t", test.name, r.KnownSince, r.Forgotten)
		}
	}
}
