package reconcile

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// rowsAtMost is how many objects a table lists before it omits those in sync.
const rowsAtMost = 20

// print prints the report of a run, with its time if there are several.
func (o *options) print(ctx context.Context, report reconcile.Report, store string) error {
	ctx = outcome.WithRun(ctx, report.RunID)
	switch {
	case o.session.Output(process.None):
		o.session.WarnOf(ctx, report.Warnings.Texts()...)
		return nil
	case o.session.JSON():
		return o.session.PutJSON(report, o.every == 0)
	}
	var out bytes.Buffer
	if o.every > 0 {
		fmt.Fprintf(&out, "%s\n", report.FinishedAt.In(o.zone()).Format("2006-01-02 15:04:05 MST"))
	}
	writeReport(&out, o.session.Style(), o.session.Clock().WithZone(), report, store)
	if o.every > 0 {
		out.WriteByte('\n')
	}
	o.session.WarnOf(ctx, report.Warnings.Texts()...)
	return o.session.Put(out.String())
}

func (o *options) zone() *time.Location {
	if o.session.Zone == nil {
		return time.UTC
	}
	return o.session.Zone
}

// writeReport writes a report as text: the decisions about each object with their reasons,
// then a table of states.
func writeReport(out *bytes.Buffer, style terminal.Style, clock terminal.Clock, report reconcile.Report, store string) {
	defer writeJobs(out, clock, report)
	if len(report.Declarations()) == 0 {
		fmt.Fprintf(out, "The store %s has no declarations.\n", store)
		return
	}
	if report.DryRun {
		fmt.Fprintln(out, "Dry run: nothing is changed.")
		for _, a := range report.Assumed {
			fmt.Fprintf(out, "Assumed: %s.%s = %s (declared: %s)\n", a.Object, a.Attribute, a.Value, a.Declared)
		}
	}
	decisions := map[string][]outcome.Result{}
	for _, d := range report.Decisions {
		decisions[d.Object()] = append(decisions[d.Object()], d)
	}
	var sections describe.Sections
	for _, b := range report.Budgets {
		there := clock.In(b.TimeZone)
		sections.Add(there.Texts(budgetDetails(style, there, b, decisions["budget/"+b.Name])), "budget/"+b.Name)
	}
	for _, p := range report.SpotPools {
		sections.Add(clock.Texts(poolDetails(style, p, decisions[objectOf(p)])), describe.PoolName(p))
	}
	for _, p := range report.StockPools {
		sections.Add(clock.Texts(stockDetails(style, p, decisions[p.Summary().Object()])), p.Summary().Object())
	}
	sections.Write(out, style, style.Width)
	if out.Len() > 0 {
		out.WriteByte('\n')
	}
	writeBudgets(out, style, report.Budgets)
	if len(report.Budgets) > 0 && len(report.SpotPools) > 0 {
		out.WriteByte('\n')
	}
	writePools(out, style, report.SpotPools, decisions)
	if len(report.StockPools) > 0 && len(report.Budgets)+len(report.SpotPools) > 0 {
		out.WriteByte('\n')
	}
	writeStock(out, style, report.StockPools, decisions)
}

func objectOf(p spotpools.Report) string { return "spot_pool/" + describe.PoolName(p) }

// writePools writes the states of pools. If there are many, those in sync are only counted.
func writePools(out *bytes.Buffer, style terminal.Style, pools []spotpools.Report, decisions map[string][]outcome.Result) {
	if len(pools) == 0 {
		return
	}
	after := func(p spotpools.Report) state.State { return p.StateAfter(len(decisions[objectOf(p)]) > 0) }
	shown := pools
	if len(pools) > rowsAtMost {
		shown = slices.DeleteFunc(slices.Clone(pools), func(p spotpools.Report) bool { return after(p) == state.InSync })
	}
	withNodes := describe.HasNodes(pools, func(p spotpools.Report) spotpools.Report { return p })
	prices := describe.PricesOf(pools, func(p spotpools.Report) spotpool.Cost { return p.Cost() })
	writeTable(out, style, len(shown), len(pools), "pools are InSync.", func(style terminal.Style) *terminal.Table {
		t := &terminal.Table{}
		row := func(nodes, outcome string, cells ...string) {
			if withNodes {
				cells = append(cells, nodes)
			}
			t.Add(append(cells, outcome)...)
		}
		row(describe.NodesColumn, "STATE", "POOL", "CAPACITY", "MINIMUM", "MAXIMUM", "TOTAL", prices.Title())
		for _, p := range shown {
			capacity, total, _ := describe.Observed(p)
			row(describe.NodesCell(style, p), style.Paint(describe.StateColor(after(p)), string(after(p))),
				describe.PoolName(p), capacity, describe.Declared(p, p.Minimum), describe.Declared(p, p.Maximum), total, prices.Cell(p.Cost()))
		}
		return t
	}, prices.Title(), "TOTAL", "MAXIMUM")
}

// writeBudgets writes the states of budgets. If there are many, those below their alert
// thresholds are only counted.
func writeBudgets(out *bytes.Buffer, style terminal.Style, all []budgets.Report) {
	if len(all) == 0 {
		return
	}
	shown := all
	if len(all) > rowsAtMost {
		shown = slices.DeleteFunc(slices.Clone(all), func(b budgets.Report) bool {
			return b.Outcome == outcome.Done && b.Observed && !b.Deleted && !b.IsExceeded() && len(b.Fired) == 0
		})
	}
	writeTable(out, style, len(shown), len(all), "budgets are below their alert thresholds.", func(style terminal.Style) *terminal.Table {
		t := &terminal.Table{}
		t.Add(append(describe.BudgetColumns(), "STATE")...)
		for _, b := range shown {
			t.Add(append(describe.BudgetCells(style, b), describe.BudgetState(style, b.States()))...)
		}
		return t
	}, "PODS", "LEFT", "GPUS NOW", "LIMIT")
}

// writeTable writes a table of the shown objects, and counts the others.
func writeTable(out *bytes.Buffer, style terminal.Style, shown, all int, what string, build func(terminal.Style) *terminal.Table, spare ...string) {
	if shown > 0 {
		terminal.Fitted(style, style.Width, build, spare...).Write(out)
	}
	switch left := all - shown; {
	case left == all:
		fmt.Fprintf(out, "All %d %s\n", left, what)
	case left > 0:
		fmt.Fprintf(out, "%d more %s\n", left, what)
	}
}

// writeJobs lists the jobs that a run completed, or would do, and what it sent.
func writeJobs(out *bytes.Buffer, clock terminal.Clock, report reconcile.Report) {
	if len(report.Jobs) > 0 {
		out.WriteByte('\n')
	}
	for _, job := range report.Jobs {
		fmt.Fprintln(out, clock.Text(describe.Job(job)))
	}
	for n, sent := range report.Notifications {
		if n == 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintln(out, sent)
	}
}
