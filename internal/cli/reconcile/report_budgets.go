package reconcile

import (
	"bytes"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// budgetDetails says what happened about a budget, if anything did.
func budgetDetails(look terminal.Style, b reconcile.BudgetReport, decisions []reconcile.Result) []string {
	s := &describe.Details{Style: look}
	s.Add(terminal.Dim, "seen: ", b.Notices...)
	addDecisions(s, decisions)
	s.Add(terminal.Yellow, "warning: ", b.Warnings...)
	addFailure(s, b.Outcome, b.Error, decisions)
	return s.Lines
}

// writeBudgets writes how the budgets stand. Those that are far from their limit
// are counted where there are many.
func writeBudgets(out *bytes.Buffer, look terminal.Style, budgets []reconcile.BudgetReport) {
	if len(budgets) == 0 {
		return
	}
	t := &terminal.Table{}
	t.Add("BUDGET", "USED", "GPU-HOURS", "LIMIT", "LEFT", "GPUS NOW", "PODS", "STATE")
	left := 0
	for _, b := range budgets {
		calm := b.Outcome == reconcile.Done && b.Observed && !b.Deleted && !describe.Exceeded(b) && len(b.Fired) == 0
		if calm && len(budgets) > rowsAtMost {
			left++
			continue
		}
		t.Add(append(describe.BudgetCells(look, b), describe.BudgetState(look, b))...)
	}
	if left < len(budgets) {
		t.Write(out)
	}
	switch {
	case left == len(budgets):
		fmt.Fprintf(out, "All %d budgets are below their thresholds.\n", left)
	case left > 0:
		fmt.Fprintf(out, "%d more budgets are below their thresholds.\n", left)
	}
}
