package reconcile

import (
	"bytes"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
)

// stockDetails describes what happened to a stock pool.
func stockDetails(style terminal.Style, p stockpools.Report, decisions []outcome.Result) []string {
	details := &describe.Details{Style: style}
	details.Add(terminal.Dim, "observed: ", p.Notices.Texts()...)
	addDecisions(details, decisions)
	details.Conditions(p)
	details.Add(terminal.Yellow, "warning: ", p.Warnings.Texts()...)
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
