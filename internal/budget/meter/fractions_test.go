package meter

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// partOf is a pod that asked for a part of the GPU g; end 0 is open.
func partOf(uid, part string, start, end ledger.Time) *ledger.Record {
	r := record(uid, part, start, end)
	r.Allocation, r.Set = fraction(part, "g"), set("ml", "team", uid)
	return r
}

// TestFractionsAreWhatWasAskedForUpToTheGPU: the parts of one GPU count as they
// are, and less in proportion while there are more than the GPU has.
func TestFractionsAreWhatWasAskedForUpToTheGPU(t *testing.T) {
	t.Parallel()
	half, quarter := partOf("half", "1/2", ago(4*time.Hour), 0), partOf("quarter", "1/4", ago(3*time.Hour), 0)
	records := []*ledger.Record{half, quarter}
	all := teamA()
	all.Selector = budget.Selector{Namespaces: []string{"ml"}}
	budgets := []budget.Declaration{teamOf("half"), teamOf("quarter"), all}
	want := func(when string, hours ...string) {
		t.Helper()
		for n, r := range resultsOf(t, budgets, records) {
			if got := budget.Hours(r.Usage.Consumed); got != hours[n] || r.Usage.ErrorBound != 0 {
				t.Errorf("%s: %s uses %s with a bound of %s, want %s", when, r.Name, got, budget.Hours(r.Usage.ErrorBound), hours[n])
			}
		}
	}
	want("both fit", "2.000", "0.750", "2.750")
	// For the last hour there are fifty pods more, each of which asks for all: of
	// 50.75 GPUs there is one.
	for n := range 50 {
		records = append(records, partOf(fmt.Sprint("copy-", n), "1", ago(time.Hour), 0))
	}
	want("fifty copies", "1.510", "0.505", "3.000")
	burn := judged(t, all, observed(), noon, records...).Usage.BurnRate
	if burn != 1000 {
		t.Errorf("together they burn %d thousandths of a GPU", burn)
	}
	d := all
	d.GPUHours = "3.5"
	if ahead := judged(t, d, observed(), noon, records...).Usage.ProjectedExhaustion; ahead == nil || !ahead.Equal(noon.Add(30*time.Minute)) {
		t.Errorf("3.5 GPU-hours are to be reached at %v", ahead)
	}
}

// TestAPodThatIsNotRecordedYetTakesItsPart, among those that are.
func TestAPodThatIsNotRecordedYetTakesItsPart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ recorded, own, want string }{{"1/2", "1/4", "1/4"}, {"1/2", "1", "2/3"}, {"1", "1/4", "1/5"}} {
		m, err := New(teamA(), noon, ClaimsOf(of(partOf("first", tt.recorded, ago(time.Hour), 0))), time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.GPUs(partOf("second", tt.own, noonMs(), 0)).RatString(); got != tt.want {
			t.Errorf("of %s beside %s it holds %s, want %s", tt.own, tt.recorded, got, tt.want)
		}
	}
	first := byClaim("first", ago(time.Hour), 0)
	for want, claims := range map[string]*Claims{"1": nil, "1/2": ClaimsOf(of(first, byClaim("second", ago(time.Hour), 0)))} {
		m, err := New(teamA(), noon, claims, time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.GPUs(first).RatString(); got != want {
			t.Errorf("what is recorded holds %s, want %s", got, want)
		}
	}
}

// TestAPartThatStaysIsRoundedOnce, also if another one comes.
func TestAPartThatStaysIsRoundedOnce(t *testing.T) {
	t.Parallel()
	start := ago(time.Hour)
	half, quarter, all := partOf("half", "1/2", start, start+2), partOf("quarter", "1/4", start+1, 0), partOf("all", "1", start+2, 0)
	if u := judged(t, teamOf("half"), observed(), noon, half, quarter, all).Usage; u.Consumed != 1 {
		t.Errorf("half a GPU uses %d in two milliseconds", u.Consumed)
	}
}

// TestAnEndThatCrowdsNobodyOutIsNoDoubt: as long as all parts fit, it makes no
// difference to one pod when another ended; else it does.
func TestAnEndThatCrowdsNobodyOutIsNoDoubt(t *testing.T) {
	t.Parallel()
	for part, bound := range map[string]string{"1/2": "0.000", "3/2": "0.250"} {
		gone := partOf("gone", part, ago(4*time.Hour), 0)
		gone.End = ledger.End{Earliest: ago(2 * time.Hour), At: noonMs(), Source: ledger.Estimated}
		u := judged(t, teamOf("stays"), observed(), noon, partOf("stays", "1/2", ago(4*time.Hour), 0), gone).Usage
		if budget.Hours(u.ErrorBound) != bound {
			t.Errorf("beside %s the bound is %s, want %s", part, budget.Hours(u.ErrorBound), bound)
		}
	}
}

// TestAReservedGPUIsHeldOnce: at each moment the parts of all pods are what they
// asked for, and never more than the GPU.
func TestAReservedGPUIsHeldOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		for n, r := range records {
			r.UID, r.Place = fmt.Sprint(n), nil
			r.Allocation = fraction(rapid.SampledFrom([]string{"1/10", "1/4", "1/3", "1/2", "1"}).Draw(t, "part"), "g")
		}
		policy := rapid.SampledFrom([]ledger.EndEstimate{ledger.EstimateEarliest, ledger.EstimateMidpoint, ledger.EstimateLatest}).Draw(t, "vanished")
		d := budget.Declaration{Window: "24h", PodEndEstimate: policy}
		m, err := New(d, noon, ClaimsOf(of(rapid.Permutation(records).Draw(t, "order")...)), time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			at := ms(noon) - ledger.Time(rapid.IntRange(0, 5*3600_000).Draw(t, "ago"))
			sum, asked := new(big.Rat), new(big.Rat)
			for _, r := range records {
				for _, p := range piecesOf(m, r) {
					if p.from <= at && at < p.to {
						sum.Add(sum, m.rules.rates[p.rate].rat())
						asked.Add(asked, r.Allocation.Shares[0].Units)
					}
				}
			}
			if most := rat("1"); asked.Cmp(most) > 0 {
				asked = most
			}
			if sum.Cmp(asked) != 0 {
				t.Fatalf("at %s they hold %s, want %s", at.Time(), sum.RatString(), asked.RatString())
			}
		}
	})
}
