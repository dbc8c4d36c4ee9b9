package meter

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// TestBudgetsOfAPartitionAddUpToTheCluster: no GPU-hour is counted twice, and
// none is lost.
func TestBudgetsOfAPartitionAddUpToTheCluster(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		parts := []budget.Selector{
			{MatchLabels: map[string]string{"team": "a"}}, {MatchLabels: map[string]string{"team": "b"}},
			{Namespaces: []string{"ml"}, MatchExpressions: []budget.Expression{{Key: "team", Operator: "DoesNotExist"}}},
			{Namespaces: []string{"web"}, MatchExpressions: []budget.Expression{{Key: "team", Operator: "DoesNotExist"}}},
			{}, // everything
		}
		budgets := make([]budget.Declaration, len(parts))
		for n, part := range parts {
			budgets[n] = budget.Declaration{Name: fmt.Sprint(n), GPUHours: "1", Window: "3h", Selector: part}.WithDefaults()
		}
		results := Evaluate(budgets, of(records...), observed(), noon, time.LoadLocation)
		var sum budget.Usage
		for _, r := range results[:4] {
			sum.Consumed += r.Usage.Consumed
			sum.ErrorBound += r.Usage.ErrorBound
			sum.TrackedPods += r.Usage.TrackedPods
		}
		if all := results[4].Usage; sum.Consumed != all.Consumed || sum.ErrorBound != all.ErrorBound || sum.TrackedPods != all.TrackedPods {
			t.Fatalf("the parts are %+v, and the whole %+v", sum, all)
		}
	})
}

// TestUsageFallsOnlyBecauseTheWindowMoves expects that the usage of a calendar period never falls. In a
// rolling window it falls by at most what left the window.
func TestUsageFallsOnlyBecauseTheWindowMoves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t)
		later := noon.Add(time.Duration(rapid.IntRange(1, 7200).Draw(t, "seconds")) * time.Second)
		period, rolling := teamA(), teamA()
		period.Window, period.Period, rolling.Window = "", budget.Day, "2h"
		before := Evaluate([]budget.Declaration{period, rolling}, of(records...), observed(), noon, time.LoadLocation)
		after := Evaluate([]budget.Declaration{period, rolling}, of(records...), observed(), later, time.LoadLocation)
		if before[0].Usage.Consumed > after[0].Usage.Consumed {
			t.Fatalf("a period's usage fell from %d to %d", before[0].Usage.Consumed, after[0].Usage.Consumed)
		}
		// A window over the time in between, at its start, used what left this one.
		old := noon.Add(-2 * time.Hour)
		slid := new(big.Rat).Sub(usedAt(rolling, of(records...), noon, noon), usedAt(rolling, of(records...), later, later))
		most := usedAt(rolling, of(records...), old.Add(later.Sub(noon)), old.Add(later.Sub(noon)))
		if slid.Cmp(most) > 0 {
			t.Fatalf("usage fell by %s, and %s slid out", slid, most)
		}
	})
}
