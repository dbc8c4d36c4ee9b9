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
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

const lastSuccess = "gpupool_last_success_timestamp_seconds"

// validateMetricsFile refuses an invalid path.
func validateMetricsFile(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return process.Usagef("--metrics-file %s is a directory: use a file in it", path)
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return process.Usagef("--metrics-file %s: directory %s does not exist", path, dir)
	}
	return nil
}

// writeMetrics writes metrics of a run for the node_exporter textfile collector. A failed run
// keeps the time of the last success.
func (o *options) writeMetrics(report reconcile.Report, success bool) {
	if o.metricsFile == "" {
		return
	}
	finished := o.session.Now()
	succeeded := float64(finished.Unix())
	if !success {
		var err error
		if succeeded, err = previousSuccess(o.metricsFile); err != nil {
			o.session.Warn(fmt.Sprintf("%s has no readable time of the last success, so it is reset: %v", o.metricsFile, err))
		}
	}
	if err := prometheus.WriteToTextfile(o.metricsFile, metricsOf(report, success, finished, succeeded).registry); err != nil {
		o.session.Warn(fmt.Sprintf("cannot write metrics: %v", err))
	}
}

// metricsOf gathers the metrics of a run that finished now; succeeded is when one last did.
func metricsOf(report reconcile.Report, success bool, finished time.Time, succeeded float64) metrics {
	m := newMetrics()
	m.run(report, success)
	m.set("gpupool_last_run_timestamp_seconds", "Time at which the last run ended.", float64(finished.Unix()))
	m.set(lastSuccess, "Time at which the last successful run ended; 0 if none was.", succeeded)
	m.set("gpupool_run_duration_seconds", "Duration of the last run.", finished.Sub(report.StartedAt).Seconds())
	return m
}

// previousSuccess reads the time of the last success from the metrics of the last run; 0 if
// there are none.
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

// metrics has its own registry: default metrics of a process say nothing about a cron run.
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
	m.set("gpupool_run_success", "Whether the last run succeeded (1), or something failed (0).", boolValue(success))
	decisions := m.vector("gpupool_decisions", "Decisions of the last run, by kind and outcome.", "kind", "outcome")
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
	m.states(report)
}

// states writes the states of each object, in the words of tables and JSON.
func (m metrics) states(report reconcile.Report) {
	changed := map[string]bool{}
	for _, d := range report.Decisions {
		changed[d.Object()] = true
	}
	gauge := m.vector("gpupool_object_state", "The states of an object after the last run: 1 for each.", "kind", "name", "state")
	set := func(s outcome.Summary, states ...state.State) {
		for _, is := range states {
			gauge.WithLabelValues(s.Kind, s.Name, string(is)).Set(1)
		}
	}
	for _, p := range report.SpotPools {
		set(p.Summary(), p.StateAfter(changed[p.Summary().Object()]))
	}
	for _, b := range report.Budgets {
		set(b.Summary(), b.States()...)
	}
	for _, p := range report.StockPools {
		set(p.Summary(), p.StateAfter(changed[p.Summary().Object()]))
	}
}

// counters come from the store, so that a new file or another host continues them.
func (m metrics) counters(c declaration.Counters) {
	if c.Runs == 0 {
		return
	}
	runs := prometheus.NewCounter(prometheus.CounterOpts{Name: "gpupool_runs_total", Help: "Recorded runs of the store."})
	decisions := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gpupool_decisions_total", Help: "Decisions of all runs of the store, by kind and outcome.",
	}, []string{"kind", "outcome"})
	m.registry.MustRegister(runs, decisions)
	runs.Add(float64(c.Runs))
	for of, n := range c.Decisions {
		kind, outcome, _ := strings.Cut(of, "/")
		decisions.WithLabelValues(kind, outcome).Add(float64(n))
	}
}

// declarations counts the declarations of a run, including unreadable records. Without a
// run, the number is unknown, and no zero is written.
func (m metrics) declarations(report reconcile.Report) {
	if report.FinishedAt.IsZero() {
		return
	}
	declared := map[string]map[string]bool{"spot_pool": {}, "budget": {}, "stock_pool": {}} // 0 if there is none
	for _, s := range report.Declarations() {
		if s.Deleted {
			continue
		}
		if declared[s.Kind] == nil {
			declared[s.Kind] = map[string]bool{}
		}
		declared[s.Kind][s.Name] = true
	}
	gauge := m.vector("gpupool_declarations", "Declarations in the store at the end of the last run.", "kind")
	for kind, names := range declared {
		gauge.WithLabelValues(kind).Set(float64(len(names)))
	}
}

// budgets writes no usage of a budget that was not measured: zero would be wrong.
func (m metrics) budgets(budgets []budgets.Report) {
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

func (m metrics) pools(pools []spotpools.Report) {
	minimum := m.vector("gpupool_pool_minimum", "Minimum number of instances of the pool.", "region", "name")
	maximum := m.vector("gpupool_pool_maximum", "Maximum number of instances of the pool.", "region", "name")
	capacity := m.vector("gpupool_pool_capacity", "Instances of the pool that work or soon will.", "region", "name")
	shortfall := m.vector("gpupool_pool_shortfall", "Instances missing to the minimum of the pool.", "region", "name")
	price := m.vector("gpupool_pool_hourly_price", "Price of the instances of the pool, in CNY an hour.", "region", "name")
	for _, p := range pools {
		if p.UID == "" {
			continue // its record is unreadable
		}
		minimum.WithLabelValues(p.Region, p.Name).Set(float64(p.Minimum))
		maximum.WithLabelValues(p.Region, p.Name).Set(float64(p.Maximum))
		if !p.Observed {
			continue // capacity 0 would be wrong
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
		suspended.WithLabelValues(p.Region, p.Name).Set(boolValue(p.Nodes.ReplacingSuspended != ""))
	}
}

// inCNY is a price as a float.
func inCNY(p spotpool.Price) float64 {
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
