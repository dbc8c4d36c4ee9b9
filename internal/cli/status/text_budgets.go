package status

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

func budgetColumns() []string {
	titles := append(describe.BudgetColumns(), "AS OF")
	return slices.Insert(titles, 1, "STATE")
}

// budgetEntries are the rows of budgets as of the last run, the worst first.
func budgetEntries(v layout, budgets []budgets.Description, clock terminal.Clock) []entry {
	var entries []entry
	for _, b := range budgets {
		entries = append(entries, entry{
			view: viewOf(b.State...), object: b.Summary().Object(), title: b.Summary().Object(), name: b.Name,
			numbers: func(style terminal.Style) []string {
				asOf := "-"
				if b.UsageReport != nil {
					asOf = clock.When(b.AsOf)
				}
				return append(describe.BudgetCells(style, b.Report)[1:], asOf)
			},
			lines: budgetDetails(v, b, clock), failures: failures{object: b.Summary().Object(), last: b.Failing, now: b.Error},
		})
	}
	worstFirst(entries)
	return entries
}

// budgetDetails describes a budget below its row.
func budgetDetails(v layout, b budgets.Description, clock terminal.Clock) []string {
	clock = clock.In(b.TimeZone)
	details := v.details()
	details.PassedOver(clock, b.PassedOver)
	if u := b.UsageReport; u != nil {
		if u.ExceededSince != nil {
			text := "since " + clock.When(*u.ExceededSince)
			if b.EnforceAt != nil && b.EnforceAt.After(clock.Now) {
				text += fmt.Sprintf("; enforcement (%s) starts %s", b.Action, clock.When(*b.EnforceAt))
			}
			details.Add(terminal.Red, "exceeded: ", text)
			details.Recovery(u, clock)
		} else {
			details.Projection(u, clock)
		}
		if u.ExceededSince != nil || len(b.Fired) > 0 {
			details.Users(u, 1)
		}
		details.Coverage(b.Report, clock)
		details.ErrorBound(u)
		details.Effects(b.Report, clock)
		details.Paused(b.Report, clock, wording.NamedAtMost)
	}
	details.Grants(b.Grants)
	details.Deletion(b.Deletion)
	if b.IsExceeded() {
		details.Remedy(reason.GrantHours(reason.Word(b.Name)).String())
	}
	details.Add(terminal.Dim, "note: ", details.Texts(b.Messages)...)
	details.Add(terminal.Yellow, "warning: ", details.Texts(b.Warnings)...)
	return clock.Texts(details.Lines)
}
