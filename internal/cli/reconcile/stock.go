package reconcile

import (
	"bytes"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// stockDetails says what happened to a stock pool; nothing where nothing did.
func stockDetails(style terminal.Style, p stockpools.Report, decisions []outcome.Result) []string {
	details := &describe.Details{Style: style}
	details.Add(terminal.Dim, "seen: ", p.Notices...)
	addDecisions(details, decisions)
	details.Conditions(p)
	details.Add(terminal.Yellow, "warning: ", p.Warnings...)
	addFailure(details, p.Outcome, p.Error, decisions)
	return details.Lines
}

// writeStock writes the stock pools' state. Where there are many, those that are as
// declared are only counted.
func writeStock(out *bytes.Buffer, style terminal.Style, pools []stockpools.Report, decisions map[string][]outcome.Result) {
	if len(pools) == 0 {
		return
	}
	t := &terminal.Table{}
	t.Add(append(describe.StockColumns(), "STATE")...)
	left := 0
	for _, p := range pools {
		s := p.StateAfter(len(decisions[p.Summary().Object()]) > 0)
		if s == state.InSync && len(pools) > rowsAtMost {
			left++
			continue
		}
		t.Add(append(describe.StockCells(p), style.Paint(describe.StateColor(s), string(s)))...)
	}
	writeTable(out, t, left, len(pools), "stock pools are InSync.")
}

// stock writes the gauges of stock pools, and nothing of one that nobody saw.
func (m metrics) stock(pools []stockpools.Report) {
	if len(pools) == 0 {
		return
	}
	gauge := func(name, help string) *prometheus.GaugeVec { return m.vector(name, help, "namespace", "name") }
	desired := gauge("gpupool_stock_pool_desired", "Pods that the stock pool is to have now.")
	replicas := gauge("gpupool_stock_pool_replicas", "Pods of the stock pool.")
	allocated := gauge("gpupool_stock_pool_allocated", "Pods of the stock pool that are in use.")
	available := gauge("gpupool_stock_pool_available", "Pods of the stock pool that are ready and not in use.")
	waiting := gauge("gpupool_stock_pool_waiting", "Pods of the stock pool that no node has room for.")
	phase := m.vector("gpupool_stock_pool_phase", "Whether the stock pool is in this phase (1) or not (0).", "namespace", "name", "phase")
	for _, p := range pools {
		if !p.Observed {
			continue
		}
		desired.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Desired))
		replicas.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Replicas))
		allocated.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Allocated))
		available.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Available))
		waiting.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Waiting))
		for _, of := range decide.Phases() {
			phase.WithLabelValues(p.Namespace, p.Name, string(of)).Set(oneIf(of == p.Phase))
		}
	}
}
