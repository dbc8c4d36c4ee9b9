package status

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// layout has the options of the text.
type layout struct {
	style    terminal.Style
	machines bool
	named    bool                 // objects were selected by name
	whole    *declaration.Failing // the error of whole runs
	width    int                  // of a line at most; 0: unlimited
	tight    bool                 // only one line fits above the tables
	zone     *time.Location
	names    bool // only the names of objects
	tenant   bool // the reader does not see the whole installation
}

func (v layout) details() *describe.Details {
	return &describe.Details{Style: v.style, Tenant: v.tenant}
}

// text is a status as text, problems first.
func text(v layout, r reconcile.StatusReport) (s string) {
	var out bytes.Buffer
	if v.names {
		for _, s := range r.Declarations() {
			fmt.Fprintln(&out, s.Object())
		}
		return out.String()
	}
	v.whole = r.Failing
	clock := terminal.Clock{Now: r.At, Zone: v.zone}
	lines := header(v, r, clock)
	if v.tight {
		unbroken := v
		unbroken.width = 0
		lines = header(unbroken, r, clock)[:1]
	}
	for _, line := range lines {
		fmt.Fprintln(&out, line)
	}
	out.WriteByte('\n')
	defer func() {
		if lines := describe.Notifications(v.style, clock, r.Notifications); len(lines) > 0 {
			s += "\n" + strings.Join(lines, "\n") + "\n"
		}
	}()
	if len(r.Declarations()) == 0 {
		out.WriteString("The store has no declarations.\n")
		return out.String()
	}
	budgets, pools := budgetEntries(v, r.Budgets, clock), poolEntries(v, r.SpotPools, clock)
	stock := stockEntries(v, r.StockPools, clock)
	all := slices.Concat(budgets, pools, stock)
	writeTable(&out, v, "budgets", budgetColumns(), budgets, all, "PODS", "AS OF", "LEFT", "GPUS NOW", "LIMIT", "GPU-HOURS")
	if len(budgets) > 0 && len(pools) > 0 {
		out.WriteByte('\n')
	}
	writeTable(&out, v, "pools", poolColumns(r.SpotPools), pools, all, "DRIFTED", pricesOf(r.SpotPools).Title(), "TOTAL", "MAXIMUM", "MINIMUM")
	if len(stock) > 0 && len(budgets)+len(pools) > 0 {
		out.WriteByte('\n')
	}
	writeTable(&out, v, "stock pools", stockColumns(), stock, all, "PODS", "IN USE", "PHASE")
	slices.SortStableFunc(all, func(a, b entry) int { return int(a.rank) - int(b.rank) })
	var written describe.Sections
	for _, s := range sections(v, clock, all) {
		written.Add(s.Lines, s.titles...)
	}
	written.Write(&out, v.style, v.width)
	return out.String()
}

// Details returns the lines about objects for a page, which formats the times. A tenant does not see the
// whole installation.
func Details(r reconcile.StatusReport, tenant bool) []Section {
	v, clock := layout{whole: r.Failing, tenant: tenant}, terminal.Exact(r.At)
	return sections(v, clock, slices.Concat(budgetEntries(v, r.Budgets, clock), poolEntries(v, r.SpotPools, clock), stockEntries(v, r.StockPools, clock)))
}

// writeTable writes entries as rows, and counts the others by state.
func writeTable(out *bytes.Buffer, v layout, noun string, columns []string, entries, all []entry, spare ...string) {
	if len(entries) == 0 {
		return
	}
	listed, left := entries, map[string]int{}
	if !v.named {
		listed, left = rows(entries, all)
	}
	if len(listed) > 0 {
		terminal.Fitted(v.style, v.width, func(style terminal.Style) *terminal.Table {
			t := &terminal.Table{}
			t.Add(columns...)
			for _, e := range listed {
				t.Add(slices.Concat([]string{e.name, e.view.text(style)}, e.numbers(style))...)
			}
			return t
		}, spare...).Write(out)
	}
	for _, e := range entries { // in their order
		count := left[e.word]
		if count == 0 {
			continue
		}
		delete(left, e.word)
		text := fmt.Sprintf("%d more %s are %s", count, noun, e.word)
		if count == len(entries) {
			text = fmt.Sprintf("All %d %s are %s", count, noun, e.word)
		}
		if e.rank < state.Calm {
			text += ": gpupool status -o wide lists all"
		}
		fmt.Fprintln(out, v.style.Paint(terminal.Dim, text+"."))
	}
}

func poolColumns(pools []spotpools.Description) []string {
	columns := []string{"POOL", "STATE", "CAPACITY", "MINIMUM", "MAXIMUM", "TOTAL", "DRIFTED", pricesOf(pools).Title()}
	if hasNodes(pools) {
		columns = append(columns, describe.NodesColumn)
	}
	return columns
}

func pricesOf(pools []spotpools.Description) describe.Prices {
	return describe.PricesOf(pools, func(p spotpools.Description) spotpool.Cost { return p.Cost() })
}

func hasNodes(pools []spotpools.Description) bool {
	return describe.HasNodes(pools, func(p spotpools.Description) spotpools.Report { return p.Report })
}

// poolEntries are the rows of pools, the worst first.
func poolEntries(v layout, pools []spotpools.Description, clock terminal.Clock) []entry {
	var entries []entry
	withNodes, prices := hasNodes(pools), pricesOf(pools)
	for _, p := range pools {
		name := describe.PoolName(p.Report)
		entries = append(entries, entry{
			view: viewOf(p.State), object: p.Summary().Object(), title: name, name: name,
			numbers: func(style terminal.Style) []string {
				capacity, total, drifted := describe.Observed(p.Report)
				if p.Counts != nil {
					capacity = strings.TrimSpace(style.Bar(p.Capacity, p.Minimum) + " " + capacity)
				}
				cells := []string{
					capacity, describe.Declared(p.Report, p.Minimum), describe.Declared(p.Report, p.Maximum), total, drifted, prices.Cell(p.Cost()),
				}
				if withNodes {
					cells = append(cells, describe.NodesCell(style, p.Report))
				}
				return cells
			},
			lines: poolDetails(v, p, clock), failures: failures{object: p.Summary().Object(), last: p.Failing, now: p.Error, whole: v.whole},
		})
	}
	worstFirst(entries)
	return entries
}

// poolDetails describes a pool below its row.
func poolDetails(v layout, p spotpools.Description, clock terminal.Clock) []string {
	details := v.details()
	details.PassedOver(clock, p.PassedOver)
	details.Add(terminal.Dim, "observed: ", details.Texts(p.Messages)...)
	for _, d := range p.Decisions {
		details.Add(terminal.Cyan, "a run would ", d.Summary())
		details.Reasons(details.Texts(d.Reasons))
	}
	details.Deletion(p.Deletion)
	details.Nodes(p.Nodes)
	addShort(details, p, clock)
	details.HeldBack(p.Report)
	for _, c := range p.Cooldowns {
		if c.Until.After(clock.Now) {
			details.Add(terminal.Dim, "cooldown: ", cooldownText(c, p.Mixed, clock))
		}
	}
	details.Open(p.Pending, p.Hold)
	details.Add(terminal.Yellow, "warning: ", details.Texts(p.Warnings)...)
	if p.State == state.Oversized && !v.machines {
		details.Remedy(reason.FindKeptInstances(reason.Object(p.Summary().Object())).String())
	}
	lines := clock.Texts(details.Lines)
	if v.machines && len(p.Machines) > 0 {
		lines = append(lines, machineLines(v, p, clock.Now)...)
	}
	return lines
}

// addShort adds why a pool stays short, since when, and a remedy.
func addShort(details *describe.Details, p spotpools.Description, clock terminal.Clock) {
	said := func(why string) bool {
		return p.Error != nil && p.Error.Message == why || p.Failing != nil && p.Failing.Error.Message == why
	}
	all := describe.Short(p.Report)
	if details.Tenant { // whom commands do not help
		all = slices.Clone(p.Short)
	}
	lines := slices.DeleteFunc(all, said)
	if len(lines) == 0 {
		return
	}
	label := describe.ShortLabel(p.Report)
	if !p.ShortSince.IsZero() {
		label = "short since " + clock.At(p.ShortSince) + ": "
	}
	details.Add(terminal.Yellow, label, lines[0])
	details.Add(terminal.Yellow, describe.ShortLabel(p.Report), lines[1:]...)
	details.Remedy(outcome.ShortRemedy(p.Summary().Object(), p.ShortReasons).String())
}

// detailsIndent is the indentation of details.
const detailsIndent = 2

// cooldownText names the charge type of a pool that can have both.
func cooldownText(c markets.Cooldown, mixed bool, clock terminal.Clock) string {
	text := strings.TrimSpace(c.AvailabilityZone + " " + c.InstanceType)
	if mixed {
		text += " " + spotpool.ChargeName(c.ChargeType)
	}
	if c.Batch > 0 {
		text += fmt.Sprintf(", at most %d at once", c.Batch)
	}
	return fmt.Sprintf("%s (%s), ends %s", text, c.Cause, clock.When(c.Until))
}

// orDash is the text, or a dash for an empty one.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
