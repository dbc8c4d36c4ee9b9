package reconcile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

const lastSuccess = "gpupool_last_success_timestamp_seconds"

// validateMetricsFile refuses a path that metrics can't be written to.
func validateMetricsFile(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return process.Usagef("--metrics-file %s is a directory: name a file in it", path)
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return process.Usagef("--metrics-file %s: there is no directory %s", path, dir)
	}
	return nil
}

// writeMetrics writes what a run did and saw, for the textfile collector of
// node_exporter. A run that failed keeps the time of the last success.
func (o *options) writeMetrics(report reconcile.Report, success bool) {
	if o.metricsFile == "" {
		return
	}
	finished := o.session.Now()
	succeeded := float64(finished.Unix())
	if !success {
		var err error
		if succeeded, err = previousSuccess(o.metricsFile); err != nil {
			o.session.Warn(fmt.Sprintf("when a run last succeeded can't be read from %s, and starts anew: %v", o.metricsFile, err))
		}
	}
	if err := prometheus.WriteToTextfile(o.metricsFile, metricsOf(report, success, finished, succeeded).registry); err != nil {
		o.session.Warn(fmt.Sprintf("the metrics could not be written: %v", err))
	}
}

// metricsOf gathers the metrics of a run that finished now; succeeded is when one last did.
func metricsOf(report reconcile.Report, success bool, finished time.Time, succeeded float64) metrics {
	m := newMetrics()
	m.run(report, success)
	m.set("gpupool_last_run_timestamp_seconds", "When the last run ended.", float64(finished.Unix()))
	m.set(lastSuccess, "When the last run ended that succeeded; 0: none has.", succeeded)
	m.set("gpupool_run_duration_seconds", "How long the last run took.", finished.Sub(report.StartedAt).Seconds())
	return m
}

// previousSuccess reads the time of the last success from the last run's metrics; 0
// where there are none.
func previousSuccess(path string) (float64, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(f)
	if err != nil {
		return 0, err
	}
	for _, metric := range families[lastSuccess].GetMetric() {
		return metric.GetGauge().GetValue(), nil
	}
	return 0, nil
}

// metrics gathers the gauges of one run in a registry of their own, since what
// Prometheus tells of a process by default says nothing about a cron run.
type metrics struct{ registry *prometheus.Registry }

func newMetrics() metrics { return metrics{prometheus.NewRegistry()} }

func (m metrics) set(name, help string, value float64) {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	m.registry.MustRegister(g)
	g.Set(value)
}

func (m metrics) vector(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(g)
	return g
}

func (m metrics) run(report reconcile.Report, success bool) {
	m.set("gpupool_run_success", "Whether the last run did all that was declared (1) or something failed (0).", oneIf(success))
	decisions := m.vector("gpupool_decisions", "Decisions of the last run, by what was decided and what became of it.", "kind", "outcome")
	for _, of := range spotpool.Kinds() {
		for _, outcome := range []outcome.Outcome{outcome.Done, outcome.Short, outcome.Failed} {
			decisions.WithLabelValues(string(of.Kind), string(outcome))
		}
	}
	if len(report.Budgets) > 0 {
		for _, of := range budget.Kinds() {
			for _, outcome := range []outcome.Outcome{outcome.Done, outcome.Skipped, outcome.Failed} {
				decisions.WithLabelValues(string(of.Kind), string(outcome))
			}
		}
	}
	if len(report.StockPools) > 0 {
		for _, of := range stockpool.Kinds() {
			for _, outcome := range []outcome.Outcome{outcome.Done, outcome.Failed} {
				decisions.WithLabelValues(string(of.Kind), string(outcome))
			}
		}
	}
	for _, d := range report.Decisions {
		decisions.WithLabelValues(d.Kind(), string(d.Outcome)).Inc()
	}
	m.counters(report.Counters)
	m.declarations(report)
	m.pools(report.SpotPools)
	m.budgets(report.Budgets)
	m.stock(report.StockPools)
}

// counters are kept in the store, so that a new file or another machine goes on with them.
func (m metrics) counters(c declaration.Counters) {
	if c.Runs == 0 {
		return
	}
	runs := prometheus.NewCounter(prometheus.CounterOpts{Name: "gpupool_runs_total", Help: "Runs of the store that were recorded."})
	decisions := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gpupool_decisions_total", Help: "Decisions of all runs of the store, by what was decided and the outcome.",
	}, []string{"kind", "outcome"})
	m.registry.MustRegister(runs, decisions)
	runs.Add(float64(c.Runs))
	for of, n := range c.Decisions {
		kind, outcome, _ := strings.Cut(of, "/")
		decisions.WithLabelValues(kind, outcome).Add(float64(n))
	}
}

// declarations counts the declarations of a run, including records that it could not
// read. Where no run took place, their number is unknown, and no zero is written.
func (m metrics) declarations(report reconcile.Report) {
	if report.FinishedAt.IsZero() {
		return
	}
	declared := map[string]map[string]bool{"spot_pool": {}, "budget": {}, "stock_pool": {}} // 0 where there is none
	for _, s := range report.Declarations() {
		if s.Deleted {
			continue
		}
		if declared[s.Kind] == nil {
			declared[s.Kind] = map[string]bool{}
		}
		declared[s.Kind][s.Name] = true
	}
	gauge := m.vector("gpupool_declarations", "What was declared in the store at the end of the last run.", "kind")
	for kind, names := range declared {
		gauge.WithLabelValues(kind).Set(float64(len(names)))
	}
}

// budgets writes nothing of a budget whose usage is unknown: no number is better than
// a zero that nobody counted.
func (m metrics) budgets(budgets []budgets.Report) {
	if len(budgets) == 0 {
		return
	}
	limit := m.vector("gpupool_budget_limit_gpu_hours", "GPU-hours that the budget allows in its window.", "name")
	consumed := m.vector("gpupool_budget_consumed_gpu_hours", "GPU-hours that were used in the budget's window.", "name")
	remaining := m.vector("gpupool_budget_remaining_gpu_hours", "GPU-hours that are left in the budget's window.", "name")
	estimated := m.vector("gpupool_budget_estimated_gpu_hours", "The part of the used GPU-hours that rests on estimated ends.", "name")
	bound := m.vector("gpupool_budget_error_bound_gpu_hours", "By how much the used GPU-hours may be wrong, either way.", "name")
	coverage := m.vector("gpupool_budget_coverage_ratio", "How much of the window until now was observed.", "name")
	tracked := m.vector("gpupool_budget_tracked_pods", "Pods that held GPUs in the budget's window.", "name")
	burn := m.vector("gpupool_budget_burn_rate_gpus", "GPUs that the budget's pods hold now.", "name")
	threshold := m.vector("gpupool_budget_threshold_reached", "Whether usage reached an alert threshold, in percent of the limit, and has not fallen "+
		"well below it since (1), or not (0).", "name", "threshold")
	effects := m.vector("gpupool_budget_effects", "Workloads and pods of which a freeze, pause or eviction was requested and not observed to be done, "+
		"by phase: requested, or ineffective if its time is over.", "name", "measure", "phase")
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
			threshold.WithLabelValues(b.Name, strconv.Itoa(percent)).Set(oneIf(slices.Contains(b.Fired, percent)))
		}
	}
}

func (m metrics) pools(pools []spotpools.Report) {
	minimum := m.vector("gpupool_pool_minimum", "Instances that the pool is to have at least.", "region", "name")
	maximum := m.vector("gpupool_pool_maximum", "Instances that the pool may have at most.", "region", "name")
	capacity := m.vector("gpupool_pool_capacity", "Instances of the pool that work, or will soon.", "region", "name")
	shortfall := m.vector("gpupool_pool_shortfall", "Instances that the pool lacks to its minimum.", "region", "name")
	price := m.vector("gpupool_pool_hourly_price", "What the pool's instances cost, in CNY an hour.", "region", "name")
	for _, p := range pools {
		if p.UID == "" {
			continue // its record can't be read, so nothing of it is known
		}
		minimum.WithLabelValues(p.Region, p.Name).Set(float64(p.Minimum))
		maximum.WithLabelValues(p.Region, p.Name).Set(float64(p.Maximum))
		if !p.Observed {
			continue // no number is better than a capacity of 0 that nobody saw
		}
		capacity.WithLabelValues(p.Region, p.Name).Set(float64(p.Capacity))
		shortfall.WithLabelValues(p.Region, p.Name).Set(float64(p.Shortfall))
		price.WithLabelValues(p.Region, p.Name).Set(inCNY(p.HourlyPrice))
	}
	m.nodes(pools)
}

// nodes writes nothing of a pool without nodes, nor of one whose cluster was not seen.
func (m metrics) nodes(pools []spotpools.Report) {
	pools = slices.DeleteFunc(slices.Clone(pools), func(p spotpools.Report) bool { return p.Nodes == nil || !p.Nodes.Seen })
	if len(pools) == 0 {
		return
	}
	nodes := m.vector("gpupool_pool_nodes", "Instances of the pool by how they fare as nodes.", "region", "name", "state")
	drains := m.vector("gpupool_pool_drains", "Nodes of the pool that are being emptied before their instances end.", "region", "name")
	suspended := m.vector("gpupool_pool_replacing_suspended", "Whether nothing of the pool is replaced that fails as a node (1), or it may be (0).", "region",
		"name")
	for _, p := range pools {
		for state, n := range map[string]int{
			"ready": p.Nodes.Ready, "joining": p.Nodes.Joining, "unready": p.Nodes.Unready, "failing": p.Nodes.Failing, "untold": p.Nodes.Unknown,
		} {
			nodes.WithLabelValues(p.Region, p.Name, state).Set(float64(n))
		}
		drains.WithLabelValues(p.Region, p.Name).Set(float64(p.Nodes.Draining))
		suspended.WithLabelValues(p.Region, p.Name).Set(oneIf(p.Nodes.ReplacingSuspended != ""))
	}
}

// inCNY is a price as a gauge's float.
func inCNY(p spotpool.Price) float64 {
	value, err := strconv.ParseFloat(p.String(), 64)
	if err != nil {
		return 0
	}
	return value
}

// oneIf is the value of a metric that answers yes or no.
func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
