package meter

import (
	"fmt"
	"iter"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// noon is the now of tests that don't need another: a Wednesday.
var noon = time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)

func ms(t time.Time) ledger.Time { return ledger.TimeOf(t) }

// ago is a moment before noon.
func ago(d time.Duration) ledger.Time { return ms(noon.Add(-d)) }

func of(records ...*ledger.Record) iter.Seq[*ledger.Record] {
	return func(yield func(*ledger.Record) bool) {
		for _, r := range records {
			if !yield(r) {
				return
			}
		}
	}
}

// observed is the header of a ledger that missed nothing in the last year.
func observed() ledger.Header {
	return ledger.Header{ClusterUID: "cluster", Began: ms(noon.AddDate(-1, 0, 0)), LastRun: ms(noon)}
}

// resultsOf evaluates budgets at noon.
func resultsOf(t rapid.TB, budgets []budget.Declaration, records []*ledger.Record) []Result {
	t.Helper()
	results := Evaluate(budgets, of(records...), observed(), noon, time.LoadLocation)
	if len(results) != len(budgets) {
		t.Fatalf("%d results of %d budgets", len(results), len(budgets))
	}
	return results
}

func set(namespace string, labels ...string) *ledger.LabelSet {
	of := map[string]string{}
	for n := 0; n < len(labels); n += 2 {
		of[labels[n]] = labels[n+1]
	}
	return &ledger.LabelSet{Namespace: namespace, Labels: ledger.LabelsOf(of)}
}

func allocation(units, weight string) *ledger.Allocation {
	return &ledger.Allocation{Shown: 1, Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: rat(units), Weight: rat(weight)}}}
}

// unconfirmed is what a pod claims to hold, on a node that was never observed.
func unconfirmed(units string) *ledger.Allocation {
	h := allocation(units, "1")
	h.Shown = 0
	return h
}

// byClaims is a GPU by each claim, all of it.
func byClaims(claims ...string) *ledger.Allocation {
	h := &ledger.Allocation{Shown: 1}
	for _, claim := range claims {
		h.Shares = append(h.Shares, ledger.Share{Resource: "gpu.nvidia.com", Units: rat("1"), Weight: rat("1"), Claim: claim})
	}
	return h
}

// fraction is a part of each of these GPUs, which other pods share.
func fraction(part string, of ...string) *ledger.Allocation {
	h := &ledger.Allocation{Shown: 1}
	for _, claim := range of {
		h.Shares = append(h.Shares, ledger.Share{Resource: "gpu-fraction", Units: rat(part), Weight: rat("1"), Claim: claim, Whole: rat("1")})
	}
	return h
}

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(fmt.Sprintf("%q is not a number", s))
	}
	return r
}

// record is a pod of team a in the namespace ml; end 0 is open.
func record(uid string, gpus string, start, end ledger.Time) *ledger.Record {
	r := &ledger.Record{
		UID: uid, Name: uid, Set: set("ml", "team", "a"), Allocation: allocation(gpus, "1"),
		Start: ledger.Start{At: start, Source: ledger.PodScheduled}, Runs: ledger.Start{At: start, Source: ledger.ContainerStarted},
	}
	if end != 0 {
		r.End = ledger.ExactEnd(end, ledger.ContainerFinished)
	}
	return r
}

// teamA is a budget of 100 GPU-hours in 24 hours, of the pods that record makes.
func teamA() budget.Declaration {
	return budget.Declaration{
		Name: "team-a", UID: "uid-a", Generation: 1, ClusterUID: "cluster", GPUHours: "100", Window: "24h",
		Selector: budget.Selector{Namespaces: []string{"ml"}, MatchLabels: map[string]string{"team": "a"}},
	}.WithDefaults()
}

// judged evaluates one budget.
func judged(t testing.TB, d budget.Declaration, h ledger.Header, now time.Time, records ...*ledger.Record) Result {
	t.Helper()
	r := Evaluate([]budget.Declaration{d}, of(records...), h, now, time.LoadLocation)[0]
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return r
}

// podsOf are records of pods with {GPUs, hours ago that it began, hours ago that it
// ended, or -1}.
func podsOf(intervals [][3]float64) []*ledger.Record {
	var records []*ledger.Record
	for _, i := range intervals {
		end := ledger.Time(0)
		if i[2] >= 0 {
			end = ago(hours(i[2]))
		}
		r := record("pod", "1", ago(hours(i[1])), end)
		r.Allocation.Shares[0].Units.SetFloat64(i[0])
		records = append(records, r)
	}
	return records
}
