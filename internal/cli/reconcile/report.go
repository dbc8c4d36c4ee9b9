package reconcile

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

// rowsAtMost is how many pools, or budgets, a table lists before it leaves out those
// that need no attention.
const rowsAtMost = 20

// print prints the report of a run. Where there are several runs, it begins with the
// time.
func (o *options) print(ctx context.Context, report reconcile.Report, store string) error {
	ctx = outcome.WithRun(ctx, report.RunID)
	switch {
	case o.session.Mute():
		o.session.WarnOf(ctx, report.Warnings...)
		return nil
	case o.session.JSON():
		return o.session.PutJSON(report, o.every == 0)
	}
	var out bytes.Buffer
	if o.every > 0 {
		fmt.Fprintf(&out, "%s\n", report.FinishedAt.In(o.zone()).Format("2006-01-02 15:04:05 MST"))
	}
	writeReport(&out, o.session.Style(), o.session.Clock(), report, store)
	if o.every > 0 {
		out.WriteByte('\n')
	}
	o.session.WarnOf(ctx, report.Warnings...)
	return o.session.Put(out.String())
}

// zone is where the people are.
func (o *options) zone() *time.Location {
	if o.session.Zone == nil {
		return time.UTC
	}
	return o.session.Zone
}

// writeReport writes a report for people: what was decided about each pool and why,
// and then the pools' and budgets' state.
func writeReport(out *bytes.Buffer, style terminal.Style, clock terminal.Clock, report reconcile.Report, store string) {
	if len(report.Declarations()) == 0 {
		fmt.Fprintf(out, "Nothing is declared in the store %s.\n", store)
		return
	}
	if report.DryRun {
		fmt.Fprintln(out, "A dry run: nothing is changed.")
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
		sections.Add("budget "+b.Name, there.Texts(budgetDetails(style, there, b, decisions["budget/"+b.Name])))
	}
	for _, p := range report.SpotPools {
		sections.Add(describe.PoolName(p), clock.Texts(poolDetails(style, p, decisions[objectOf(p)])))
	}
	for _, p := range report.StockPools {
		sections.Add("stock pool "+describe.StockName(p), clock.Texts(stockDetails(style, p, decisions[p.Summary().Object()])))
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

// objectOf names a pool as decisions do.
func objectOf(p spotpools.Report) string { return "spot_pool/" + describe.PoolName(p) }

// writePools writes the pools' state. Where there are many, those that are as
// declared are only counted.
func writePools(out *bytes.Buffer, style terminal.Style, pools []spotpools.Report, decisions map[string][]outcome.Result) {
	if len(pools) == 0 {
		return
	}
	t := &terminal.Table{}
	withNodes := describe.HasNodes(pools, func(p spotpools.Report) spotpools.Report { return p })
	row := func(nodes, outcome string, cells ...string) {
		if withNodes {
			cells = append(cells, nodes)
		}
		t.Add(append(cells, outcome)...)
	}
	row(describe.NodesColumn, "STATE", "POOL", "CAPACITY", "MINIMUM", "MAXIMUM", "HELD", "CNY/H")
	left := 0
	for _, p := range pools {
		s := p.StateAfter(len(decisions[objectOf(p)]) > 0)
		if s == state.InSync && len(pools) > rowsAtMost {
			left++
			continue
		}
		row(describe.NodesCell(style, p), style.Paint(describe.StateColor(s), string(s)),
			describe.PoolName(p), describe.Seen(p, p.Capacity), describe.Declared(p, p.Minimum), describe.Declared(p, p.Maximum),
			describe.Seen(p, p.Held), describe.Price(p.HourlyPrice))
	}
	writeTable(out, t, left, len(pools), "pools are InSync.")
}

// writeBudgets writes the budgets' state. Where there are many, those far from their
// limit are only counted.
func writeBudgets(out *bytes.Buffer, style terminal.Style, budgets []budgets.Report) {
	if len(budgets) == 0 {
		return
	}
	t := &terminal.Table{}
	t.Add(append(describe.BudgetColumns(), "STATE")...)
	left := 0
	for _, b := range budgets {
		calm := b.Outcome == outcome.Done && b.Observed && !b.Deleted && !b.IsExceeded() && len(b.Fired) == 0
		if calm && len(budgets) > rowsAtMost {
			left++
			continue
		}
		t.Add(append(describe.BudgetCells(style, b), describe.BudgetState(style, b.States()))...)
	}
	writeTable(out, t, left, len(budgets), "budgets are below their thresholds.")
}

// writeTable writes a table, and then how many of all it leaves out, and what they
// have in common.
func writeTable(out *bytes.Buffer, t *terminal.Table, left, all int, what string) {
	if left < all {
		t.Write(out)
	}
	switch {
	case left == all:
		fmt.Fprintf(out, "All %d %s\n", left, what)
	case left > 0:
		fmt.Fprintf(out, "%d more %s\n", left, what)
	}
}
