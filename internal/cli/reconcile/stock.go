package reconcile

import (
	"bytes"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
)

// stockDetails describes what happened to a stock pool.
func stockDetails(style terminal.Style, p stockpools.Report, decisions []outcome.Result) []string {
	details := &describe.Details{Style: style}
	details.Add(terminal.Dim, "observed: ", p.Notices...)
	addDecisions(details, decisions)
	details.Conditions(p)
	details.Add(terminal.Yellow, "warning: ", p.Warnings...)
	addFailure(details, p.Outcome, p.Error, decisions)
	return details.Lines
}

// writeStock writes the states of stock pools. If there are many, those in sync are only
// counted.
func writeStock(out *bytes.Buffer, style terminal.Style, pools []stockpools.Report, decisions map[string][]outcome.Result) {
	if len(pools) == 0 {
		return
	}
	after := func(p stockpools.Report) state.State { return p.StateAfter(len(decisions[p.Summary().Object()]) > 0) }
	shown := pools
	if len(pools) > rowsAtMost {
		shown = slices.DeleteFunc(slices.Clone(pools), func(p stockpools.Report) bool { return after(p) == state.InSync })
	}
	writeTable(out, style, len(shown), len(pools), "stock pools are InSync.", func(style terminal.Style) *terminal.Table {
		t := &terminal.Table{}
		t.Add(append(describe.StockColumns(), "STATE")...)
		for _, p := range shown {
			t.Add(append(describe.StockCells(p), style.Paint(describe.StateColor(after(p)), string(after(p))))...)
		}
		return t
	}, "PODS", "ALLOCATED")
}

// stock writes metrics of observed stock pools.
func (m metrics) stock(pools []stockpools.Report) {
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
		if !p.Observed {
			continue
		}
		desired.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Desired))
		replicas.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Replicas))
		allocated.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Allocated))
		available.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Available))
		waiting.WithLabelValues(p.Namespace, p.Name).Set(float64(p.Waiting))
	}
}
