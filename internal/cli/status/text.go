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
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// view is how a status is shown.
type view struct {
	style    terminal.Style
	machines bool
	width    int // of a line at most; 0: unlimited
	zone     *time.Location
}

// fitting is a table within the width: it leaves out bars first, and then columns in
// the order of spare. Other columns stay.
func (v view) fitting(width int, build func(terminal.Style) *terminal.Table, spare ...string) *terminal.Table {
	t := build(v.style)
	if v.width == 0 || t.Fits(width) {
		return t
	}
	plain := v.style
	plain.Width = 0
	t = build(plain)
	t.Fit(width, spare...)
	return t
}

// text is a status for people.
func text(v view, r reconcile.StatusReport) string {
	var out bytes.Buffer
	style, clock := v.style, terminal.Clock{Now: r.At, Zone: v.zone}
	fmt.Fprintf(&out, "%s\n\n", style.Paint(terminal.Dim, "Store "+r.Store+", "+lastRunText(r, clock)))
	if len(r.Declarations()) == 0 {
		out.WriteString("Nothing is declared.\n")
		return out.String()
	}
	writeBudgetStatuses(&out, v, r.Budgets, clock)
	if len(r.Budgets) > 0 && len(r.SpotPools) > 0 {
		out.WriteByte('\n')
	}
	writePoolStatuses(&out, v, r.SpotPools)
	var sections describe.Sections
	for _, b := range r.Budgets {
		sections.Add("budget "+b.Name, budgetDetails(style, b, clock))
	}
	for _, p := range r.SpotPools {
		sections.Add(describe.PoolName(p.Report), poolDetails(v, p, clock))
	}
	sections.Write(&out, style)
	return out.String()
}

func writePoolStatuses(out *bytes.Buffer, v view, pools []spotpools.Overview) {
	if len(pools) == 0 {
		return
	}
	v.fitting(v.width, func(style terminal.Style) *terminal.Table {
		t := &terminal.Table{}
		t.Add("POOL", "CAPACITY", "MINIMUM", "MAXIMUM", "HELD", "OUTDATED", "CNY/H", "STATE")
		for _, p := range pools {
			t.Add(describe.PoolName(p.Report), capacityText(style, p.Report), describe.Declared(p.Report, p.Minimum), describe.Declared(p.Report, p.Maximum),
				describe.Seen(p.Report, p.Held), describe.Seen(p.Report, p.Outdated), describe.Price(p.HourlyPrice), stateText(style, p))
		}
		return t
	}, "OUTDATED", "CNY/H", "HELD", "MAXIMUM", "MINIMUM").Write(out)
}

func lastRunText(r reconcile.StatusReport, clock terminal.Clock) string {
	last := r.LastRun
	if last == nil {
		return "no run so far"
	}
	text := fmt.Sprintf("last run %s: %s", clock.When(last.FinishedAt), describe.Plural(last.Decisions, "decision"))
	if last.Failed > 0 {
		text += fmt.Sprintf(", %d failed", last.Failed)
	}
	return text
}

func capacityText(style terminal.Style, p spotpools.Report) string {
	text := describe.Seen(p, p.Capacity)
	if bar := style.Bar(p.Capacity, p.Minimum); bar != "" && p.Observed {
		return bar + " " + text
	}
	return text
}

// stateText says in a word or two what state a pool is in.
func stateText(style terminal.Style, p spotpools.Overview) string {
	switch {
	case p.Outcome == outcome.Failed:
		return style.Paint(terminal.Red, "not seen")
	case p.Phase != declaration.Active && p.Phase != "":
		return style.Paint(terminal.Cyan, string(p.Phase))
	case p.Hold != nil:
		return style.Paint(terminal.Yellow, "on hold")
	case p.Shortfall > 0:
		return style.Paint(terminal.Yellow, "short")
	case len(p.Decisions) > 0:
		return style.Paint(terminal.Cyan, "to change")
	case slices.ContainsFunc(p.Machines, func(m spotpool.Member) bool { return m.Condition == spotpool.Launching }):
		return style.Paint(terminal.Cyan, "launching")
	case describe.AboveMaximum(p.Report):
		return style.Paint(terminal.Yellow, "above maximum")
	}
	return style.Paint(terminal.Green, "as declared")
}

// poolDetails says what else there is to say about a pool.
func poolDetails(v view, p spotpools.Overview, clock terminal.Clock) []string {
	details := &describe.Details{Style: v.style}
	details.Add(terminal.Dim, "seen: ", p.Notices...)
	for _, d := range p.Decisions {
		details.Add(terminal.Cyan, "a run would ", d.Summary())
		details.Reasons(d.Reasons)
	}
	details.Add(terminal.Yellow, "short: ", describe.Short(p.Report)...)
	details.HeldBack(p.Report)
	for _, c := range p.Cooldowns {
		if c.Until.After(clock.Now) {
			details.Add(terminal.Dim, "cooling down: ", cooldownText(c, clock))
		}
	}
	if p.Intents > 0 {
		details.Add(terminal.Yellow, "open: ", describe.Plural(p.Intents, "launch")+" without a known outcome; the next run asks again")
	}
	details.Add(terminal.Yellow, "warning: ", p.Warnings...)
	if p.Error != nil {
		details.Add(terminal.Red, "failed: ", p.Error.Message)
	}
	if v.machines && len(p.Machines) > 0 {
		details.Lines = append(details.Lines, machineLines(v, p.Machines, clock.Now)...)
	}
	return clock.Texts(details.Lines)
}

func cooldownText(c spotpool.Cooldown, clock terminal.Clock) string {
	text := strings.TrimSpace(c.AvailabilityZone + " " + c.InstanceType)
	if c.Batch > 0 {
		text += fmt.Sprintf(", at most %d at once", c.Batch)
	}
	return fmt.Sprintf("%s (%s), over %s", text, c.Cause, clock.When(c.Until))
}

func machineLines(v view, machines []spotpool.Member, at time.Time) []string {
	const indent = 2
	return v.fitting(v.width-indent, func(style terminal.Style) *terminal.Table {
		t := &terminal.Table{}
		t.Add("INSTANCE", "ZONE", "TYPE", "PAID", "AGE", "PRIVATE IP", "PUBLIC IP", "CNY/H", "CONDITION")
		for _, m := range machines {
			launched := "-"
			if !m.LaunchedAt.IsZero() {
				launched = terminal.Age(at.Sub(m.LaunchedAt))
			}
			paid := "spot"
			if m.ChargeType == spotpool.OnDemand {
				paid = "on-demand"
			}
			t.Add(m.ID, m.AvailabilityZone, m.InstanceType, paid, launched,
				orDash(m.PrivateIP), orDash(m.PublicIP), describe.Price(m.Price), conditionText(style, m))
		}
		return t
	}, "PUBLIC IP", "CNY/H", "PAID", "PRIVATE IP", "AGE", "TYPE", "ZONE").Lines()
}

func conditionText(style terminal.Style, m spotpool.Member) string {
	c := terminal.Yellow
	switch m.Condition {
	case spotpool.Running:
		c = terminal.Green
	case spotpool.Launching:
		c = terminal.Cyan
	case spotpool.Failed:
		c = terminal.Red
	case spotpool.Terminating:
		c = terminal.Dim
	}
	text := string(m.Condition)
	if m.Outdated {
		text += ", outdated"
	}
	if m.Protected || m.APIProtected {
		text += ", protected"
	}
	if m.OperationError != "" {
		text += ": " + terminal.OneLine(m.OperationError)
	}
	return style.Paint(c, text)
}

// orDash is the text, or a dash for an empty one.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
