package status

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// text is a status for people.
func text(look terminal.Style, r reconcile.StatusReport, machines bool) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n\n", look.Paint(terminal.Dim, "Store "+r.Store+", "+lastRunText(r)))
	if len(r.SpotPools)+len(r.Budgets) == 0 {
		out.WriteString("Nothing is declared.\n")
		return out.String()
	}
	writeBudgetStatuses(&out, look, r.Budgets, r.At)
	if len(r.Budgets) > 0 && len(r.SpotPools) > 0 {
		out.WriteByte('\n')
	}
	writePoolStatuses(&out, look, r.SpotPools)
	var told describe.Sections
	for _, b := range r.Budgets {
		told.Add("budget "+b.Name, budgetDetails(look, b, r.At))
	}
	for _, p := range r.SpotPools {
		told.Add(p.Region+"/"+p.Name, poolDetails(look, p, r.At, machines))
	}
	told.Write(&out, look)
	return out.String()
}

func writePoolStatuses(out *bytes.Buffer, look terminal.Style, pools []reconcile.PoolStatus) {
	if len(pools) == 0 {
		return
	}
	t := &terminal.Table{}
	t.Add("POOL", "CAPACITY", "MINIMUM", "MAXIMUM", "HELD", "OUTDATED", "CNY/H", "STATE")
	for _, p := range pools {
		t.Add(p.Region+"/"+p.Name, capacityText(look, p.PoolReport), describe.Limit(p.PoolReport, p.Minimum), describe.Limit(p.PoolReport, p.Maximum),
			describe.Number(p.PoolReport, p.Held), describe.Number(p.PoolReport, p.Outdated), describe.Price(p.HourlyPrice), stateText(look, p))
	}
	t.Write(out)
}

func lastRunText(r reconcile.StatusReport) string {
	last := r.LastRun
	if last == nil {
		return "no run so far"
	}
	text := fmt.Sprintf("last run %s ago: %s", describe.Age(r.At.Sub(last.FinishedAt)), describe.Plural(last.Decisions, "decision"))
	if last.Failed > 0 {
		text += fmt.Sprintf(", %d failed", last.Failed)
	}
	return text
}

func capacityText(look terminal.Style, p reconcile.PoolReport) string {
	text := describe.Number(p, p.Capacity)
	if bar := look.Bar(p.Capacity, p.Minimum); bar != "" && p.Observed {
		return bar + " " + text
	}
	return text
}

// stateText is one word for how a pool stands.
func stateText(look terminal.Style, p reconcile.PoolStatus) string {
	switch {
	case p.Outcome == reconcile.Failed:
		return look.Paint(terminal.Red, "not seen")
	case p.Phase != declaration.Active && p.Phase != "":
		return look.Paint(terminal.Cyan, string(p.Phase))
	case p.Shortfall > 0:
		return look.Paint(terminal.Yellow, "short")
	case len(p.Decisions) > 0:
		return look.Paint(terminal.Cyan, "to change")
	case launching(p) > 0:
		return look.Paint(terminal.Cyan, "launching")
	case describe.AboveMaximum(p.PoolReport):
		return look.Paint(terminal.Yellow, "above maximum")
	}
	return look.Paint(terminal.Green, "as declared")
}

func launching(p reconcile.PoolStatus) int {
	n := 0
	for _, m := range p.Machines {
		if m.Condition == spotpool.Launching {
			n++
		}
	}
	return n
}

// poolDetails says what there is to say about a pool beside its numbers.
func poolDetails(look terminal.Style, p reconcile.PoolStatus, at time.Time, machines bool) []string {
	s := &describe.Details{Style: look}
	s.Add(terminal.Dim, "seen: ", p.Notices...)
	for _, d := range p.Decisions {
		s.Add(terminal.Cyan, "a run would ", d.Summary())
		s.Reasons(d.Reasons)
	}
	s.Add(terminal.Yellow, "short: ", p.Short...)
	s.HeldBack(p.PoolReport)
	for _, c := range p.Cooldowns {
		if c.Until.After(at) {
			s.Add(terminal.Dim, "cooling down: ", cooldownText(c, at))
		}
	}
	if p.Intents > 0 {
		s.Add(terminal.Yellow, "open: ", describe.Plural(p.Intents, "launch")+" without a known outcome; the next run asks again")
	}
	s.Add(terminal.Yellow, "warning: ", p.Warnings...)
	if p.Error != nil {
		s.Add(terminal.Red, "failed: ", p.Error.Message)
	}
	if machines && len(p.Machines) > 0 {
		s.Lines = append(s.Lines, machineLines(look, p.Machines, at)...)
	}
	return s.Lines
}

func cooldownText(c spotpool.Cooldown, at time.Time) string {
	text := strings.TrimSpace(c.AvailabilityZone + " " + c.InstanceType)
	if c.Batch > 0 {
		text += fmt.Sprintf(", at most %d at once", c.Batch)
	}
	return fmt.Sprintf("%s for %s more (%s)", text, describe.Age(c.Until.Sub(at)), c.Cause)
}

func machineLines(look terminal.Style, machines []spotpool.Member, at time.Time) []string {
	t := &terminal.Table{}
	t.Add("INSTANCE", "ZONE", "TYPE", "PAID", "AGE", "PRIVATE IP", "PUBLIC IP", "CNY/H", "CONDITION")
	for _, m := range machines {
		launched := "-"
		if !m.LaunchedAt.IsZero() {
			launched = describe.Age(at.Sub(m.LaunchedAt))
		}
		paid := "spot"
		if m.ChargeType == spotpool.OnDemand {
			paid = "on-demand"
		}
		t.Add(m.ID, m.AvailabilityZone, m.InstanceType, paid, launched,
			orDash(m.PrivateIP), orDash(m.PublicIP), describe.Price(m.Price), conditionText(look, m))
	}
	return t.Lines()
}

func conditionText(look terminal.Style, m spotpool.Member) string {
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
	return look.Paint(c, text)
}

// orDash stands for what is not there.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
