package metrics_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/metrics"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	stockdecide "github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// store is a store of so many objects of each kind, with a long past.
func store(pools, spent, stock int) metrics.Status {
	one := "1"
	last := &declaration.RunSummary{
		FinishedAt: time.Unix(100, 0), Calls: map[string]int{"DescribeInstances": 1, "list pods": 1}, Outcomes: map[string]int{},
	}
	for _, kind := range kinds() {
		for _, of := range []outcome.Outcome{outcome.Done, outcome.Short, outcome.Failed, outcome.Skipped} {
			last.Outcomes[kind+"/"+string(of)] = 1
		}
	}
	last.Counters = declaration.Counters{}.Plus(0, last.Outcomes, last.Calls).Count(time.Unix(100, 0), declaration.Tally{
		"1970-01-01": {"launch/SPOTPAID": 1, "refused/unknown": 1, "reclaim": 1, "drain/done": 1, "job/failed": 1},
	})
	of := func() *reconcile.StatusReport { return &reconcile.StatusReport{LastRun: last} }
	s := metrics.Status{SpotPools: of(), Budgets: of(), StockPools: of()}
	for n := range pools {
		s.SpotPools.SpotPools = append(s.SpotPools.SpotPools, spotpools.Description{Report: spotpools.Report{
			Name: fmt.Sprint("pool", n), Region: "ap-singapore", UID: "u", Counts: &spotpool.Counts{},
			Nodes: &decide.PoolNodes{NodeStates: &decide.NodeStates{}},
		}, State: state.InSync})
	}
	for n := range spent {
		s.Budgets.Budgets = append(s.Budgets.Budgets, budgets.Description{Report: budgets.Report{
			Name: fmt.Sprint("team", n), Action: budget.Evict, AlertThresholds: []int{50, 80, 100}, UsageReport: &budgets.UsageReport{
				Coverage: "1", ConsumedGPUHours: one, EstimatedGPUHours: one, ErrorBoundGPUHours: one, BurnRateGPUs: one, LimitGPUHours: &one,
				RemainingGPUHours: &one, TrackedPods: 100_000,
			},
		}, State: []state.State{state.Exceeded, state.Freezing, state.Pausing, state.Evicting}})
	}
	for n := range stock {
		s.StockPools.StockPools = append(s.StockPools.StockPools, stockpools.Description{
			Report: stockpools.Report{Name: fmt.Sprint("stock", n), Namespace: "ml", Status: &stockdecide.Status{}}, State: state.InSync,
		})
	}
	return s
}

// kinds returns all kinds of decisions.
func kinds() (all []string) {
	for _, of := range spotpool.Kinds() {
		all = append(all, string(of.Kind))
	}
	for _, of := range budget.Kinds() {
		all = append(all, string(of.Kind))
	}
	for _, of := range stockpool.Kinds() {
		all = append(all, string(of.Kind))
	}
	return all
}

// count returns the number of series of a registry. No label may be of a pod.
func count(t *testing.T, r *prometheus.Registry) int {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range families {
		n += len(f.GetMetric())
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if strings.Contains(l.GetName(), "pod") {
					t.Errorf("%s has the label %s", f.GetName(), l.GetName())
				}
			}
		}
	}
	return n
}

// TestSeriesAreBounded: the number of series is what the page of metrics states, and no more.
func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	none := count(t, metrics.OfStatus(store(0, 0, 0)))
	if most := metrics.Series.Store + 2*metrics.Series.Action; none > most {
		t.Errorf("a store without objects has %d series, want at most %d", none, most)
	}
	for kind, tt := range map[string]struct {
		s    metrics.Status
		most int
	}{
		"spot pool":  {store(10, 0, 0), metrics.Series.SpotPool},
		"budget":     {store(0, 10, 0), metrics.Series.Budget + 3},
		"stock pool": {store(0, 0, 10), metrics.Series.StockPool},
	} {
		if each := float64(count(t, metrics.OfStatus(tt.s))-none) / 10; each > float64(tt.most) {
			t.Errorf("a %s has %v series, want at most %d", kind, each, tt.most)
		}
	}
}

// TestUnknownCountersAreAbsent: an older gpupool counted neither events nor the decisions of one run.
func TestUnknownCountersAreAbsent(t *testing.T) {
	t.Parallel()
	s := store(0, 0, 0)
	s.Budgets.LastRun.Counters = declaration.Counters{Runs: 5}
	s.Budgets.LastRun.Decisions, s.Budgets.LastRun.Outcomes = 2, nil
	families, err := metrics.OfStatus(s).Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		switch f.GetName() {
		case "gpupool_decisions", "gpupool_launched_instances_total", "gpupool_jobs_total":
			t.Errorf("%s is written: %v", f.GetName(), f)
		}
	}
	if len(families) == 0 {
		t.Error("no metric is written")
	}
}
