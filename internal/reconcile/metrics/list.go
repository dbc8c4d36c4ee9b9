package metrics

import (
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	stockdecide "github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// A Metric describes a metric.
type Metric struct {
	Name, Type, Help string
	Labels           []string
}

// List returns all metrics that a run can write, by name.
func List() ([]Metric, error) {
	one, day, call := "1", time.Unix(1, 0), map[string]int{"DescribeInstances": 1}
	usage := &budgets.UsageReport{
		Coverage: "1", ConsumedGPUHours: one, EstimatedGPUHours: one, ErrorBoundGPUHours: one, BurnRateGPUs: one, LimitGPUHours: &one,
		RemainingGPUHours: &one,
	}
	families, err := OfRun(reconcile.Report{
		FinishedAt: day, Calls: call, Counters: declaration.Counters{}.Plus(0, map[string]int{"launch/done": 1}, call).Count(day, nil),
		SpotPools: []spotpools.Report{{
			Name: "train", UID: "u", Counts: &spotpool.Counts{}, Nodes: &decide.PoolNodes{NodeStates: &decide.NodeStates{}},
		}},
		Budgets:    []budgets.Report{{Name: "team-a", UsageReport: usage, AlertThresholds: []int{80}}},
		StockPools: []stockpools.Report{{Name: "g1", Status: &stockdecide.Status{}}},
	}, true, day, 0).Gather()
	var list []Metric
	for _, f := range families {
		m := Metric{Name: f.GetName(), Type: strings.ToLower(f.GetType().String()), Help: f.GetHelp()}
		for _, l := range f.GetMetric()[0].GetLabel() {
			m.Labels = append(m.Labels, l.GetName())
		}
		list = append(list, m)
	}
	return list, err
}

// Series is the most series of a store, of each action that gpupool calls, and of each object. A
// budget has one more for each of its alert thresholds.
var Series = struct{ Store, Action, SpotPool, Budget, StockPool int }{Store: 220, Action: 2, SpotPool: 14, Budget: 18, StockPool: 6}
