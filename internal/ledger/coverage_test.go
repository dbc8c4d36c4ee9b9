package ledger_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func anyGap() *rapid.Generator[ledger.Gap] {
	return rapid.Custom(func(t *rapid.T) ledger.Gap {
		from := noon + ledger.Time(rapid.IntRange(0, 20).Draw(t, "from"))*minute
		g := ledger.Gap{
			From: from, To: from + ledger.Time(rapid.IntRange(0, 6).Draw(t, "length"))*minute, Reason: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "reason"),
		}
		if rapid.Bool().Draw(t, "bounded") {
			g.GPUs = big.NewRat(rapid.Int64Range(0, 3).Draw(t, "GPUs"), 1)
		}
		return g
	})
}

func withGaps(gaps []ledger.Gap) *ledger.Ledger {
	l := ledger.New(cluster)
	l.Header.Began, l.Header.LastRun = noon, noon+26*minute
	for _, g := range gaps {
		l.AddGap(g)
	}
	return l
}

func TestGapsAreOrderFreeAndSayAtEachMomentTheWorst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		gaps := rapid.SliceOfN(anyGap(), 0, 8).Draw(t, "gaps")
		l := withGaps(gaps)
		same(t, "in another order, and twice", withGaps(append(rapid.Permutation(gaps).Draw(t, "order"), gaps...)), l)
		cut := rapid.IntRange(0, len(gaps)).Draw(t, "cut")
		joined := withGaps(gaps[:cut])
		if err := joined.Join(withGaps(gaps[cut:])); err != nil {
			t.Fatalf("join: %v", err)
		}
		same(t, "from two ledgers", joined, l)
		observed := 0
		for at := noon; at < noon+26*minute; at += minute {
			at := at + 30*second
			var most *big.Rat
			covering := 0
			for _, g := range gaps {
				if g.From <= at && at < g.To {
					covering++
					if g.GPUs != nil && (most == nil || g.GPUs.Cmp(most) > 0) {
						most = g.GPUs
					}
				}
			}
			if covering == 0 {
				observed++
			}
			found := 0
			for _, g := range l.Header.Gaps {
				if g.From <= at && at < g.To {
					found++
					if !cmp.Equal(most, g.GPUs, alike) {
						t.Fatalf("at %d: %v GPUs, want %v", at, g.GPUs, most)
					}
				}
			}
			if found != min(covering, 1) {
				t.Fatalf("%d gaps at %d, of %d that cover it", found, at, covering)
			}
		}
		if got := l.Header.Coverage(noon, noon+26*minute); got != observed*1000/26 {
			t.Fatalf("%d of 26 minutes were observed: %d thousandths", observed, got)
		}
	})
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	l := withGaps([]ledger.Gap{
		{From: noon + 5*minute, To: noon + 10*minute, GPUs: big.NewRat(8, 1), Reason: "the watch expired"},
		{From: noon + 10*minute, To: noon + 11*minute, GPUs: big.NewRat(16, 1), Reason: "the watch expired"},
	})
	for _, test := range []struct {
		from, to ledger.Time
		want     int
	}{
		{noon, noon + 5*minute, 1000},
		{noon, noon, 1000},
		{noon, noon + 20*minute, 700},
		{noon + 9*minute, noon + 10*minute, 0},
		{noon - 10*minute, noon + 10*minute, 250},      // it had not begun
		{noon + second, noon + 5*minute + second, 996}, // rounded down
	} {
		if got := l.Header.Coverage(test.from, test.to); got != test.want {
			t.Errorf("[%d, %d): %d thousandths, want %d", test.from-noon, test.to-noon, got, test.want)
		}
	}
}

func TestGapsStayFewHoweverManyRunsHaveOne(t *testing.T) {
	t.Parallel()
	alike, changing := ledger.New(cluster), ledger.New(cluster)
	var gaps []ledger.Gap
	for n := range 20_000 {
		from := noon + ledger.Time(n)*5*minute
		gaps = append(gaps, ledger.Gap{From: from, To: from + 5*minute, GPUs: big.NewRat(int64(n%7), 1), Reason: fmt.Sprint(n % 3)})
	}
	for _, g := range gaps[:100] {
		alike.AddGap(ledger.Gap{From: g.From, To: g.To, Reason: "the watch expired"})
	}
	if got := len(alike.Header.Gaps); got != 1 {
		t.Errorf("%d gaps that touch and are alike", got)
	}
	changing.Header.Gaps = gaps[1:]
	changing.AddGap(gaps[0])
	if got := changing.Header.Gaps; len(got) > 4096 || got[0].From != noon || got[len(got)-1].To != gaps[len(gaps)-1].To {
		t.Errorf("%d gaps", len(got))
	}
	if !slices.IsSortedFunc(changing.Header.Gaps, func(a, b ledger.Gap) int { return int(a.From - b.From) }) {
		t.Error("the gaps are not in order")
	}
	changing.Prune(noon + 30*day)
	if got := changing.Header.Gaps[0]; got.To <= changing.Header.KeptSince {
		t.Errorf("the gap %+v is before what is kept", got)
	}
	changing.Header.Began, changing.Header.LastRun = noon, noon+100*day
	d := disk{}
	d.save(t, changing, allSteps)
	same(t, "loaded", d.load(t, noon), changing)
}
