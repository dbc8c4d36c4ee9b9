package decide_test

import (
	"fmt"
	"math/big"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// A budget is judged on the intervals of the ledger, and what to do follows from that
// and from what is in force.
func Example() {
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	l := ledger.New("cluster-1")
	l.Header.Began, l.Header.KeptSince = ledger.TimeOf(noon.AddDate(0, -1, 0)), ledger.TimeOf(noon.AddDate(0, -1, 0))
	err := l.Merge(ledger.Record{
		UID: "pod-1", Name: "train-0", Seen: ledger.TimeOf(noon), Set: &ledger.LabelSet{Namespace: "ml"}, Place: &ledger.Place{Node: "gpu-1"},
		Allocation: &ledger.Allocation{Shown: 1, Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(8, 1), Weight: big.NewRat(1, 1)}}},
		Start:      ledger.Start{At: ledger.TimeOf(noon.Add(-3 * time.Hour)), Source: ledger.PodScheduled},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := budget.Declaration{
		Name: "team-a", UID: "uid-1", Generation: 1, ClusterUID: "cluster-1", GPUHours: "20", Window: "24h",
		Selector: budget.Selector{Namespaces: []string{"ml"}}, Thresholds: []int{80}, Enforce: budget.Enforcement{Action: budget.Freeze, GracePeriod: "0s"},
	}.WithDefaults()
	result := meter.Evaluate([]budget.Declaration{d}, l.All(), l.Header, noon, time.LoadLocation)[0]
	fmt.Println(budget.Hours(result.Usage.Consumed), "of", budget.Hours(result.Usage.Limit), "GPU-hours")
	for _, decision := range decide.Decide(decide.Situation{Declaration: d, Result: result, Now: noon, RunID: "run-1"}, nil).Decisions {
		fmt.Println(decision.Summary())
	}
	// Output:
	// 24.000 of 20.000 GPU-hours
	// alert that 80% is reached in ml
	// block new GPU pods
}
