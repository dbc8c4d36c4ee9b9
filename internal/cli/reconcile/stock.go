package reconcile

import (
	"bytes"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
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
	t.Add(append(describe.StockColumns(), "OUTCOME")...)
	left := 0
	for _, p := range pools {
		text := stockOutcome(p, len(decisions[p.Summary().Object()]) > 0)
		if text == "as declared" && len(pools) > rowsAtMost {
			left++
			continue
		}
		t.Add(append(describe.StockCells(style, p), style.Paint(describe.OutcomeColour(p.Outcome), text))...)
	}
	writeTable(out, t, left, len(pools), "stock pools are as declared.")
}

// stockOutcome is what the run came to for a stock pool: one that is done with it leaves its
// pods to their Deployment, and is not the pool's being done.
func stockOutcome(p stockpools.Report, changed bool) string {
	switch {
	case p.Outcome != outcome.Done:
		return string(p.Outcome)
	case changed:
		return "changed"
	case p.Phase == decide.Ready:
		return "as declared"
	}
	return "unchanged"
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
