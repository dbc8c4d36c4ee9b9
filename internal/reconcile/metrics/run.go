// Package metrics is the metrics of runs and of a store, in the Prometheus text format. Both have
// the same names.
package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// LastSuccess is the name of the metric with the time of the last successful run.
const LastSuccess = "gpupool_last_success_timestamp_seconds"

// OfRun returns the metrics of a run that finished; succeeded is when one last succeeded, in
// seconds.
func OfRun(report reconcile.Report, success bool, finished time.Time, succeeded float64) *prometheus.Registry {
	m := newExposition()
	m.run(report, success)
	m.times(float64(finished.Unix()), succeeded, finished.Sub(report.StartedAt))
	return m.registry
}

func (m exposition) times(finished, succeeded float64, took time.Duration) {
	m.set("gpupool_last_run_timestamp_seconds", "Time at which the last run ended.", finished)
	m.set(LastSuccess, "Time at which the last successful run ended; 0 if none was.", succeeded)
	m.set("gpupool_run_duration_seconds", "Duration of the last run.", took.Seconds())
}

// exposition is a set of metrics with its own registry: default metrics of a process are about no run.
type exposition struct{ registry *prometheus.Registry }

func newExposition() exposition { return exposition{prometheus.NewRegistry()} }

func (m exposition) set(name, help string, value float64) {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	m.registry.MustRegister(g)
	g.Set(value)
}

func (m exposition) vector(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(g)
	return g
}

func (m exposition) run(report reconcile.Report, success bool) {
	m.success(success)
	decided := map[string]int{}
	for _, d := range report.Decisions {
		decided[d.Kind()+"/"+string(d.Outcome)]++
	}
	m.decisions(decided)
	m.calls(report.Calls)
	m.counters(report.Counters)
	if !report.FinishedAt.IsZero() { // without a run, the number is unknown, and no zero is written
		m.declarations(report.Declarations())
	}
	m.pools(report.SpotPools)
	m.budgets(report.Budgets)
	m.stock(report.StockPools)
	changed := map[string]bool{}
	for _, d := range report.Decisions {
		changed[d.Object()] = true
	}
	states := m.states()
	for _, p := range report.SpotPools {
		states(p.Summary(), p.StateAfter(changed[p.Summary().Object()]))
	}
	for _, b := range report.Budgets {
		states(b.Summary(), b.States()...)
	}
	for _, p := range report.StockPools {
		states(p.Summary(), p.StateAfter(changed[p.Summary().Object()]))
	}
}

// decisions writes the decisions of the last run, by kind and outcome. Those that it did not make
// are 0.
func (m exposition) decisions(counts map[string]int) {
	gauge := m.vector("gpupool_decisions", "Decisions of the last run, by kind and outcome.", "kind", "outcome")
	add := func(kind string, outcomes ...outcome.Outcome) {
		for _, o := range outcomes {
			gauge.WithLabelValues(kind, string(o))
		}
	}
	for _, of := range spotpool.Kinds() {
		add(string(of.Kind), outcome.Done, outcome.Short, outcome.Failed)
	}
	for _, of := range budget.Kinds() {
		add(string(of.Kind), outcome.Done, outcome.Skipped, outcome.Failed)
	}
	for _, of := range stockpool.Kinds() {
		add(string(of.Kind), outcome.Done, outcome.Failed)
	}
	for of, n := range counts {
		kind, outcome, _ := strings.Cut(of, "/")
		gauge.WithLabelValues(kind, outcome).Set(float64(n))
	}
}

func (m exposition) calls(counts map[string]int) {
	gauge := m.vector("gpupool_run_calls", "Calls of Tencent Cloud and Kubernetes by the last run, by action.", "action")
	for action, n := range counts {
		gauge.WithLabelValues(action).Set(float64(n))
	}
}

func (m exposition) success(yes bool) {
	m.set("gpupool_run_success", "Whether the last run succeeded (1), or something failed (0).", boolValue(yes))
}

// states returns a function that writes the states of an object, in the words of tables and JSON.
func (m exposition) states() func(outcome.Summary, ...state.State) {
	gauge := m.vector("gpupool_object_state", "The states of an object after the last run: 1 for each.", "kind", "name", "state")
	return func(s outcome.Summary, states ...state.State) {
		for _, is := range states {
			gauge.WithLabelValues(s.Kind, s.Name, string(is)).Set(1)
		}
	}
}

// declarations counts declarations, including unreadable records.
func (m exposition) declarations(list []outcome.Summary) {
	declared := map[string]map[string]bool{"spot_pool": {}, "budget": {}, "stock_pool": {}} // 0 if there is none
	for _, s := range list {
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
