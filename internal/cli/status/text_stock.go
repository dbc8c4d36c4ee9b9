package status

import (
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
)

func stockColumns() []string { return slices.Insert(describe.StockColumns(), 1, "STATE") }

// stockEntries are the rows of stock pools, the worst first.
func stockEntries(v layout, pools []stockpools.Description, clock terminal.Clock) []entry {
	var entries []entry
	for _, p := range pools {
		name := describe.StockName(p.Report)
		entries = append(entries, entry{
			view: viewOf(p.State), object: p.Summary().Object(), title: p.Summary().Object(), name: name,
			numbers: func(terminal.Style) []string { return describe.StockCells(p.Report)[1:] },
			lines:   stockDetails(v, p, clock),
		})
	}
	worstFirst(entries)
	return entries
}

// stockDetails describes a stock pool below its row.
func stockDetails(v layout, p stockpools.Description, clock terminal.Clock) []string {
	details := &describe.Details{Style: v.style}
	addFailures(details, clock, failures{p.Summary().Object(), p.Failing, p.Error, v.whole})
	addSkipped(details, clock, p.PassedOver)
	for _, d := range p.Decisions {
		details.Add(terminal.Cyan, "a run would ", d.Summary())
		details.Reasons(d.Reasons.Texts())
	}
	details.Conditions(p.Report)
	if p.Owner != "" {
		details.Add(terminal.Dim, "requested by ", fmt.Sprintf("%s; a run deletes it at %s", p.Owner, p.ExpiresAt.UTC().Format(time.RFC3339)))
	}
	details.Deletion(p.Deletion)
	details.Add(terminal.Yellow, "warning: ", p.Warnings.Texts()...)
	return clock.Texts(details.Lines)
}
