package metrics

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// budgets writes no usage of a budget that was not measured: zero would be wrong.
func (m exposition) budgets(budgets []budgets.Report) {
	if len(budgets) == 0 {
		return
	}
	limit := m.vector("gpupool_budget_limit_gpu_hours", "Limit of the budget in its window, in GPU-hours.", "name")
	consumed := m.vector("gpupool_budget_consumed_gpu_hours", "Usage of the budget in its window, in GPU-hours.", "name")
	remaining := m.vector("gpupool_budget_remaining_gpu_hours", "GPU-hours left in the window of the budget.", "name")
	estimated := m.vector("gpupool_budget_estimated_gpu_hours", "Estimated part of the usage, in GPU-hours.", "name")
	bound := m.vector("gpupool_budget_error_bound_gpu_hours", "Error bound of the usage, in GPU-hours.", "name")
	coverage := m.vector("gpupool_budget_coverage_ratio", "Observed part of the window until now.", "name")
	tracked := m.vector("gpupool_budget_tracked_pods", "Pods that used GPUs in the window of the budget.", "name")
	burn := m.vector("gpupool_budget_burn_rate_gpus", "GPUs that pods of the budget use now.", "name")
	threshold := m.vector("gpupool_budget_threshold_reached", "Whether usage reached an alert threshold in percent of the limit (1), or not (0). It resets "+
		"well below the threshold.", "name", "threshold")
	effects := m.vector("gpupool_budget_effects", "Workloads and pods with a freeze, pause or eviction in progress, by phase: requested, or ineffective "+
		"after a timeout.", "name", "measure", "phase")
	for _, b := range budgets {
		u := b.UsageReport
		if u == nil {
			continue
		}
		for _, measure := range []budget.Action{budget.Freeze, budget.Pause, budget.Evict} {
			if b.Action == budget.AlertOnly {
				break
			}
			for _, phase := range []budget.EffectPhase{budget.Requested, budget.Ineffective} {
				effects.WithLabelValues(b.Name, string(measure), string(phase)).Set(float64(budget.CountEffects(b.Effects, measure, phase)))
			}
		}
		for _, g := range []struct {
			gauge *prometheus.GaugeVec
			text  *string // nil: unknown
		}{
			{limit, u.LimitGPUHours}, {consumed, &u.ConsumedGPUHours}, {remaining, u.RemainingGPUHours},
			{estimated, &u.EstimatedGPUHours}, {bound, &u.ErrorBoundGPUHours}, {coverage, (*string)(&u.Coverage)}, {burn, &u.BurnRateGPUs},
		} {
			if g.text == nil {
				continue
			}
			if value, err := strconv.ParseFloat(*g.text, 64); err == nil {
				g.gauge.WithLabelValues(b.Name).Set(value)
			}
		}
		tracked.WithLabelValues(b.Name).Set(float64(u.TrackedPods))
		for _, percent := range b.AlertThresholds {
			threshold.WithLabelValues(b.Name, strconv.Itoa(percent)).Set(boolValue(slices.Contains(b.Fired, percent)))
		}
	}
}

func (m exposition) pools(pools []spotpools.Report) {
	minimum := m.vector("gpupool_pool_minimum", "Minimum number of instances of the pool.", "region", "name")
	maximum := m.vector("gpupool_pool_maximum", "Maximum number of instances of the pool.", "region", "name")
	capacity := m.vector("gpupool_pool_capacity", "Instances of the pool that work or soon will.", "region", "name")
	total := m.vector("gpupool_pool_total", "All instances of the pool, including those that do not work.", "region", "name")
	shortfall := m.vector("gpupool_pool_shortfall", "Instances missing to the minimum of the pool.", "region", "name")
	price := m.vector("gpupool_pool_hourly_price", "Hourly price of the instances of the pool, in the currency of the label.", "region", "name",
		"currency")
	for _, p := range pools {
		if p.UID == "" {
			continue // its record is unreadable
		}
		minimum.WithLabelValues(p.Region, p.Name).Set(float64(p.Minimum))
		maximum.WithLabelValues(p.Region, p.Name).Set(float64(p.Maximum))
		if p.Counts == nil {
			continue
		}
		capacity.WithLabelValues(p.Region, p.Name).Set(float64(p.Capacity))
		total.WithLabelValues(p.Region, p.Name).Set(float64(p.Total))
		shortfall.WithLabelValues(p.Region, p.Name).Set(float64(p.Shortfall))
		price.WithLabelValues(p.Region, p.Name, string(p.Currency)).Set(amount(p.HourlyPrice))
	}
	m.nodes(pools)
}

// nodes writes nothing of a pool without nodes, nor of one whose cluster was not seen.
func (m exposition) nodes(pools []spotpools.Report) {
	pools = slices.DeleteFunc(slices.Clone(pools), func(p spotpools.Report) bool { return p.Nodes == nil || p.Nodes.NodeStates == nil })
	if len(pools) == 0 {
		return
	}
	nodes := m.vector("gpupool_pool_nodes", "Instances of the pool by health as a node.", "region", "name", "state")
	drains := m.vector("gpupool_pool_drains", "Nodes of the pool in a drain.", "region", "name")
	suspended := m.vector("gpupool_pool_replacing_suspended", "Whether replacement of failing nodes is suspended (1), or not (0).", "region",
		"name")
	for _, p := range pools {
		for state, n := range map[string]int{
			"ready": p.Nodes.Ready, "joining": p.Nodes.Joining, "unready": p.Nodes.Unready, "failing": p.Nodes.Failing, "unknown": p.Nodes.Unknown,
		} {
			nodes.WithLabelValues(p.Region, p.Name, state).Set(float64(n))
		}
		drains.WithLabelValues(p.Region, p.Name).Set(float64(p.Nodes.Draining))
		suspended.WithLabelValues(p.Region, p.Name).Set(boolValue(!p.Nodes.ReplacingSuspended.IsZero()))
	}
}

// amount is a price as a float.
func amount(p spotpool.Price) float64 {
	value, err := strconv.ParseFloat(p.String(), 64)
	if err != nil {
		return 0
	}
	return value
}

// boolValue is the value of a boolean metric.
func boolValue(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// stock writes metrics of observed stock pools.
func (m exposition) stock(pools []stockpools.Report) {
	if len(pools) == 0 {
		return
	}
	gauge := func(name, help string) *prometheus.GaugeVec { return m.vector(name, help, "namespace", "name") }
	desired := gauge("gpupool_stock_pool_desired", "Desired pods of the stock pool.")
	replicas := gauge("gpupool_stock_pool_replicas", "Pods of the stock pool.")
	allocated := gauge("gpupool_stock_pool_allocated", "Pods of the stock pool in use.")
	available := gauge("gpupool_stock_pool_available", "Ready pods of the stock pool that are not in use.")
	waiting := gauge("gpupool_stock_pool_waiting", "Pending pods of the stock pool without room on any node.")
	for _, p := range pools {
		if p.Status == nil {
			continue
		}
		desired.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Desired))
		replicas.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Replicas))
		allocated.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Allocated))
		available.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Available))
		waiting.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Waiting))
	}
}
