package status

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

func stockColumns() []string { return slices.Insert(describe.StockColumns(), 1, "STATE") }

// stockEntries are the stock pools, the worst first.
func stockEntries(v layout, pools []stockpools.Description, clock terminal.Clock) []entry {
	var entries []entry
	for _, p := range pools {
		name := describe.StockName(p.Report)
		entries = append(entries, entry{
			state: stockState(p), object: p.Summary().Object(), title: "stock pool " + name, name: name,
			numbers: func(style terminal.Style) []string { return describe.StockCells(style, p.Report)[1:] },
			lines:   stockDetails(v, p, clock),
		})
	}
	worstFirst(entries)
	return entries
}

func stockState(p stockpools.Description) state {
	switch {
	case p.Failing != nil:
		return state{failing, "failing", terminal.Red}
	case p.Outcome == outcome.Failed:
		return state{failing, "not seen", terminal.Red}
	case p.RecordPhase != declaration.Active && p.RecordPhase != "":
		return state{moving, string(p.RecordPhase), terminal.Cyan}
	case p.Phase == decide.Degraded && heldBack(p):
		return state{lacking, "held back", terminal.Yellow}
	case p.Phase == decide.Degraded && p.Of(decide.Stocked).Reason == decide.AtMaximum:
		return state{lacking, "short", terminal.Yellow}
	case p.Phase == decide.Degraded:
		return state{lacking, "degraded", terminal.Red}
	case len(p.Decisions) > 0:
		return state{moving, "to change", terminal.Cyan}
	case p.Phase == decide.Pausing:
		return state{lacking, "pausing", terminal.Yellow}
	case p.Phase == decide.Paused:
		return state{noticed, "paused", terminal.Yellow}
	case p.Phase == decide.Pending && heldBack(p):
		return state{lacking, "held back", terminal.Yellow}
	case p.Phase == decide.Pending:
		return state{lacking, "pending", terminal.Yellow}
	case p.Phase == decide.Progressing:
		return state{moving, "progressing", terminal.Cyan}
	}
	return state{calm, "as declared", terminal.Green}
}

// heldBack says whether pods are missing because a budget lets the pool not grow: all
// that it is to have now are there.
func heldBack(p stockpools.Description) bool {
	return p.Of(decide.WithinBudget).Status != "True" && p.Available+p.Allocated >= p.Desired
}

// stockDetails says what else there is to say about a stock pool.
func stockDetails(v layout, p stockpools.Description, clock terminal.Clock) []string {
	details := &describe.Details{Style: v.style}
	addFailures(details, clock, p.Failing, p.Error, v.whole)
	addPassedOver(details, clock, p.PassedOver)
	for _, d := range p.Decisions {
		details.Add(terminal.Cyan, "a run would ", d.Summary())
		details.Reasons(d.Reasons)
	}
	details.Conditions(p.Report)
	if p.RecordPhase == declaration.Deleting {
		details.Add(terminal.Yellow, "deleting: ", "the next run finishes it")
	}
	details.Add(terminal.Yellow, "warning: ", p.Warnings...)
	return clock.Texts(details.Lines)
}
