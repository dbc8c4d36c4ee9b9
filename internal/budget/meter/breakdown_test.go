package meter

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestBreakdownsAddUp to what a budget has used, and agree with those of its status.
func TestBreakdownsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, d := drawRecords(t), drawBudgets(t)[0]
		usage := Evaluate([]budget.Declaration{d}, of(records...), observed(), noon, time.LoadLocation)[0].Usage
		m, err := New(d, noon, ClaimsOf(of(records...)), time.LoadLocation)
		if err != nil {
			t.Fatal(err)
		}
		for of, status := range map[string]map[string]int64{"namespace": usage.ByNamespace, "team": usage.ByLabel["team"]} {
			name := func(r *ledger.Record) string {
				if of == "namespace" {
					return r.Set.Namespace
				}
				return r.Set.Labels.Get(of)
			}
			var b Breakdown
			for _, r := range records {
				if used, counts := m.Pod(r); counts {
					b.Add(name(r), r, used)
				}
			}
			pods, active, burn, before := 0, 0, int64(0), int64(-1)
			for _, part := range b.Parts() {
				if part.Consumed != status[part.Name] {
					t.Fatalf("%s %q used %d, and its status says %d", of, part.Name, part.Consumed, status[part.Name])
				}
				if before >= 0 && part.Consumed > before {
					t.Fatalf("%q used more than what stands before it", part.Name)
				}
				before = part.Consumed
				pods, active, burn = pods+part.Pods, active+part.Active, burn+part.BurnRate()
			}
			if off := burn - usage.BurnRate; pods != usage.TrackedPods || active != usage.ActivePods || off > int64(len(b.parts)) ||
				off < -int64(len(b.parts)) {
				t.Fatalf("by %s %d pods, %d of them active, burn %d; want %+v", of, pods, active, burn, usage)
			}
		}
	})
}
