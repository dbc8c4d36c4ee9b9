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
			lines:   stockDetails(v, p, clock), failures: failures{object: p.Summary().Object(), last: p.Failing, now: p.Error, whole: v.whole},
		})
	}
	worstFirst(entries)
	return entries
}

// stockDetails describes a stock pool below its row.
func stockDetails(v layout, p stockpools.Description, clock terminal.Clock) []string {
	details := v.details()
	details.PassedOver(clock, p.PassedOver)
	for _, d := range p.Decisions {
		details.Add(terminal.Cyan, "a run would ", d.Summary())
		details.Reasons(details.Texts(d.Reasons))
	}
	details.Conditions(p.Report)
	if p.Owner != "" {
		details.Add(terminal.Dim, "requested by ", fmt.Sprintf("%s; a run deletes it at %s", p.Owner, p.ExpiresAt.UTC().Format(time.RFC3339)))
	}
	details.Deletion(p.Deletion)
	details.Add(terminal.Yellow, "warning: ", details.Texts(p.Warnings)...)
	return clock.Texts(details.Lines)
}
