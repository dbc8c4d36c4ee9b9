package meter

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// byClaim is a pod that holds a GPU by the claim c; end 0 is open.
func byClaim(uid string, start, end ledger.Time) *ledger.Record {
	r := record(uid, "1", start, end)
	r.Allocation, r.Set = byClaims("c"), set("ml", "team", uid)
	return r
}

// teamOf is a budget of what one of these holds.
func teamOf(uid string) budget.Declaration {
	d := teamA()
	d.Name, d.Selector = uid, budget.Selector{MatchLabels: map[string]string{"team": uid}}
	return d
}

// TestAClaimIsDividedAmongThoseWhoHoldIt at each moment: also for budgets that
// count but one of them.
func TestAClaimIsDividedAmongThoseWhoHoldIt(t *testing.T) {
	t.Parallel()
	first, second := byClaim("first", ago(4*time.Hour), 0), byClaim("second", ago(2*time.Hour), ago(time.Hour))
	both := teamA()
	both.Selector = budget.Selector{Namespaces: []string{"ml"}}
	results := Evaluate([]budget.Declaration{teamOf("first"), teamOf("second"), both}, of(first, second), observed(), noon, time.LoadLocation)
	for n, want := range []struct {
		consumed string
		burn     int64
		pods     int
	}{{"3.500", 1000, 1}, {"0.500", 0, 1}, {"4.000", 1000, 2}} {
		u := results[n].Usage
		if budget.Hours(u.Consumed) != want.consumed || u.BurnRate != want.burn || u.TrackedPods != want.pods || u.Estimated != 0 || u.ErrorBound != 0 {
			t.Errorf("%s: %+v, want %+v", results[n].Name, u, want)
		}
	}
	if got := results[2].Usage.ByNamespace["ml"]; budget.Hours(got) != "4.000" {
		t.Errorf("by namespace it is %s", budget.Hours(got))
	}
	second.End = ledger.End{}
	if burn := judged(t, teamOf("first"), observed(), noon, first, second).Usage.BurnRate; burn != 500 {
		t.Errorf("while both hold it, one burns %d thousandths of a GPU", burn)
	}
}

// TestALimitIsCrossedAtTheRateOfAPart, past and to come.
func TestALimitIsCrossedAtTheRateOfAPart(t *testing.T) {
	t.Parallel()
	first, second := byClaim("first", ago(4*time.Hour), 0), byClaim("second", ago(2*time.Hour), 0)
	d := teamOf("first")
	d.GPUHours = "2.5"
	if since := judged(t, d, observed(), noon, first, second).ExceededSince; since == nil || !since.Equal(noon.Add(-time.Hour)) {
		t.Errorf("2.5 GPU-hours were reached at %v", since)
	}
	d.GPUHours = "3.25"
	if ahead := judged(t, d, observed(), noon, first, second).Usage.ProjectedExhaustion; ahead == nil || !ahead.Equal(noon.Add(30*time.Minute)) {
		t.Errorf("3.25 GPU-hours are to be reached at %v", ahead)
	}
}

// TestAnotherOnesEstimatedEndIsADoubt: whether the first had all of it is not known.
func TestAnotherOnesEstimatedEndIsADoubt(t *testing.T) {
	t.Parallel()
	first, second := byClaim("first", ago(4*time.Hour), 0), byClaim("second", ago(4*time.Hour), 0)
	second.End = ledger.End{Earliest: ago(2 * time.Hour), At: noonMs(), Source: ledger.Estimated}
	u := judged(t, teamOf("first"), observed(), noon, first, second).Usage
	// Half of it for three hours, and then all; or for two, or four.
	if budget.Hours(u.Consumed) != "2.500" || budget.Hours(u.Estimated) != "0.500" || budget.Hours(u.ErrorBound) != "0.500" {
		t.Errorf("%s, %s of it estimated, the bound is %s", budget.Hours(u.Consumed), budget.Hours(u.Estimated), budget.Hours(u.ErrorBound))
	}
	u = judged(t, teamOf("second"), observed(), noon, first, second).Usage
	if budget.Hours(u.Consumed) != "1.500" || budget.Hours(u.Estimated) != "0.500" || budget.Hours(u.ErrorBound) != "0.500" {
		t.Errorf("of the other %s, %s of it estimated, the bound is %s", budget.Hours(u.Consumed), budget.Hours(u.Estimated), budget.Hours(u.ErrorBound))
	}
}

// TestAGapHidesWhatAClaimLeaves: two pods of one GPU run through it, of two GPUs
// that the nodes had.
func TestAGapHidesWhatAClaimLeaves(t *testing.T) {
	t.Parallel()
	h := observed()
	h.Gaps = []ledger.Gap{{From: ago(2 * time.Hour), To: ago(time.Hour), GPUs: rat("2")}}
	u := judged(t, teamOf("first"), h, noon, byClaim("first", ago(4*time.Hour), 0), byClaim("second", ago(3*time.Hour), 0)).Usage
	if budget.Hours(u.ErrorBound) != "1.000" {
		t.Errorf("the bound is %s, want what one GPU uses in an hour", budget.Hours(u.ErrorBound))
	}
}

func noonMs() ledger.Time { return ms(noon) }

// drawClaims draws pods that hold one claim, and whether by more.
func drawClaims(t *rapid.T) []*ledger.Record {
	records := drawRecords(t)
	for n, r := range records {
		r.UID, r.Place = fmt.Sprint(n), nil
		if n%3 > 0 {
			r.Allocation = byClaims("c1")
		}
	}
	return records
}

// piecesOf are the pieces in which a record counts; one that lasts goes on.
func piecesOf(m *Meter, r *ledger.Record) []piece {
	i := m.rules.allocations.intervalOf(r)
	switch c, counts := m.count(&i, 0); {
	case !counts:
		return nil
	case c.divided != nil:
		return c.divided.counted
	case c.active:
		return []piece{{c.start, c.end + 1, c.rate}}
	default:
		return []piece{{c.start, c.end, c.rate}}
	}
}

// TestADeviceIsHeldOnce: at each moment the parts of all pods are exactly the
// device, while anyone holds it.
func TestADeviceIsHeldOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records := drawClaims(t)
		policy := rapid.SampledFrom([]ledger.EndEstimate{ledger.EstimateEarliest, ledger.EstimateMidpoint, ledger.EstimateLatest}).Draw(t, "vanished")
		d := budget.Declaration{Window: "24h", PodEndEstimate: policy}
		m, err := New(d, noon, ClaimsOf(of(rapid.Permutation(records).Draw(t, "order")...)), time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			at := ms(noon) - ledger.Time(rapid.IntRange(0, 5*3600_000).Draw(t, "ago"))
			sum, held := new(big.Rat), false
			for _, r := range records {
				r.Allocation = onlyClaim(r.Allocation, "c1")
				for _, p := range piecesOf(m, r) {
					if p.from <= at && at < p.to {
						sum.Add(sum, m.rules.rates[p.rate].rat())
						held = true
					}
				}
			}
			if want := rat(map[bool]string{false: "0", true: "1"}[held]); sum.Cmp(want) != 0 {
				t.Fatalf("at %s they hold %s of a device", at.Time(), sum.RatString())
			}
		}
	})
}

// onlyClaim is what is held by one claim.
func onlyClaim(h *ledger.Allocation, claim string) *ledger.Allocation {
	only := new(ledger.Allocation)
	for _, s := range h.Shares {
		if s.Claim == claim {
			only.Shares = append(only.Shares, s)
		}
	}
	return only
}

// TestPartsAddUp to the whole within the rounding of each piece, and they do so
// whatever the order of the records.
func TestPartsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, d := drawClaims(t), drawBudgets(t)[0]
		d.Selector = budget.Selector{}
		result := Evaluate([]budget.Declaration{d}, of(records...), observed(), noon, time.LoadLocation)
		again := Evaluate([]budget.Declaration{d}, of(rapid.Permutation(records).Draw(t, "order")...), observed(), noon, time.LoadLocation)
		if diff := cmp.Diff(result, again, cmpopts.EquateErrors()); diff != "" {
			t.Fatalf("in another order:\n%s", diff)
		}
		m, err := New(d, noon, ClaimsOf(of(records...)), time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		pieces := int64(len(records))
		for _, r := range records {
			if isShared(r) {
				pieces += int64(len(piecesOf(m, r)))
			}
		}
		exact := roundRat(usedAt(d, of(records...), noon, noon))
		if drift := result[0].Usage.Consumed - exact; drift > pieces || -drift > pieces {
			t.Fatalf("%d are used, exactly %d, in %d pieces", result[0].Usage.Consumed, exact, pieces)
		}
	})
}

// TestAClaimThatNoOtherHoldsIsNotDivided: what nothing confirms may have been held until its latest end.
func TestAClaimThatNoOtherHoldsIsNotDivided(t *testing.T) {
	t.Parallel()
	d, r := teamOf("pod"), byClaim("pod", ago(10*time.Hour), 0)
	d.PodEndEstimate = ledger.EstimateEarliest
	r.Allocation.Shown = ledger.Unconfirmed
	r.End = ledger.End{Earliest: ago(9 * time.Hour), At: ago(time.Hour), Source: ledger.Estimated}
	if u := judged(t, d, observed(), noon, r).Usage; u.Consumed != 0 || u.Unconfirmed != budget.Hour || u.ErrorBound != 9*budget.Hour {
		t.Errorf("%d are used and %d unconfirmed, by the bound %d more", u.Consumed, u.Unconfirmed, u.ErrorBound)
	}
}

// TestAnUnconfirmedPartIsBounded: it held half of the claim, and until when is not known.
func TestAnUnconfirmedPartIsBounded(t *testing.T) {
	t.Parallel()
	d, r := teamOf("pod"), byClaim("pod", ago(10*time.Hour), 0)
	d.PodEndEstimate = ledger.EstimateEarliest
	r.Allocation.Shown = ledger.Unconfirmed
	r.End = ledger.End{Earliest: ago(8 * time.Hour), At: ago(4 * time.Hour), Source: ledger.Estimated}
	u := judged(t, d, observed(), noon, r, byClaim("other", ago(10*time.Hour), 0)).Usage
	if u.Consumed != 0 || u.Unconfirmed != budget.Hour || u.ErrorBound != 3*budget.Hour {
		t.Errorf("%s are used and %s unconfirmed, the bound is %s", budget.Hours(u.Consumed), budget.Hours(u.Unconfirmed), budget.Hours(u.ErrorBound))
	}
}

// TestAHoldThatMayBeEmptyIsAPart of the claim for as long as it may have lasted.
func TestAHoldThatMayBeEmptyIsAPart(t *testing.T) {
	t.Parallel()
	d, r := teamOf("pod"), byClaim("pod", ago(2*time.Hour), 0)
	d.PodEndEstimate = ledger.EstimateEarliest
	r.End = ledger.End{Earliest: ago(2 * time.Hour), At: ago(time.Hour), Source: ledger.Estimated}
	m, err := New(d, noon, ClaimsOf(of(r, byClaim("other", ago(4*time.Hour), 0))), time.LoadLocation)
	if err != nil {
		t.Fatal(err)
	}
	if used, counts := m.Pod(r); !counts || used.Consumed != 0 || used.ErrorBound != budget.Hour/2 || used.GPUs.RatString() != "1/2" {
		t.Errorf("%+v", used)
	}
}
