package status

import (
	"bytes"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// writeBudgetStatuses writes the budgets' state as of the last run.
func writeBudgetStatuses(out *bytes.Buffer, v view, budgets []budgets.Overview, clock terminal.Clock) {
	if len(budgets) == 0 {
		return
	}
	v.fitting(v.width, func(style terminal.Style) *terminal.Table {
		t := &terminal.Table{}
		t.Add(append(describe.BudgetColumns(), "AS OF", "STATE")...)
		for _, b := range budgets {
			asOf := "-"
			if b.UsageReport != nil {
				asOf = clock.When(b.AsOf)
			}
			t.Add(append(describe.BudgetCells(style, b.Report), asOf, budgetState(style, b))...)
		}
		return t
	}, "PODS", "AS OF", "LEFT", "GPUS NOW", "LIMIT", "GPU-HOURS").Write(out)
}

// budgetState says in a few words what state a budget is in, even before a run judged
// it.
func budgetState(style terminal.Style, b budgets.Overview) string {
	switch {
	case b.Phase == declaration.Deleting:
		return style.Paint(terminal.Cyan, "deleting")
	case b.UsageReport == nil && b.LastRunError != "":
		return style.Paint(terminal.Red, "failed")
	case b.UsageReport == nil && b.Outcome == outcome.Skipped:
		return style.Paint(terminal.Dim, "not judged yet")
	}
	return describe.BudgetState(style, b.Report)
}

// budgetDetails says what else there is to say about a budget.
func budgetDetails(style terminal.Style, b budgets.Overview, clock terminal.Clock) []string {
	clock = clock.In(b.TimeZone)
	details := &describe.Details{Style: style}
	if u := b.UsageReport; u != nil {
		if u.ExceededSince != nil {
			text := "began " + clock.When(*u.ExceededSince)
			if b.EnforceAt != nil && b.EnforceAt.After(clock.Now) {
				text += fmt.Sprintf("; its enforcement (%s) begins %s", b.Action, clock.When(*b.EnforceAt))
			}
			details.Add(terminal.Red, "exceeded: ", text)
			details.Recovery(u, clock)
		} else if u.ProjectedExhaustion != nil {
			details.Add(terminal.Yellow, "projected: ", "used up "+clock.When(*u.ProjectedExhaustion)+", if it goes on like this")
		}
		if u.ExceededSince != nil || len(b.Fired) > 0 {
			details.Users(u, 1)
		}
		details.Coverage(b.Report, clock)
	}
	details.Grants(b.Grants)
	if b.Phase == declaration.Deleting {
		details.Add(terminal.Yellow, "deleting: ", "the next run finishes it")
	}
	details.Add(terminal.Dim, "note: ", b.Notices...)
	details.Add(terminal.Yellow, "warning: ", b.Warnings...)
	if b.Error != nil {
		details.Add(terminal.Red, "failed: ", b.Error.Message)
	}
	if b.LastRunError != "" && (b.Error == nil || b.Error.Message != b.LastRunError) {
		details.Add(terminal.Red, "failed: ", "in the last run: "+b.LastRunError)
	}
	return clock.Texts(details.Lines)
}
