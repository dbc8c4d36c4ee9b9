package cli

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// statusText is a status for people.
func statusText(look style, r reconcile.StatusReport, machines bool) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n\n", look.paint(dim, "Store "+r.Store+", "+lastRunText(r)))
	if len(r.SpotPools)+len(r.Budgets) == 0 {
		out.WriteString("Nothing is declared.\n")
		return out.String()
	}
	writeBudgetStatuses(&out, look, r.Budgets, r.At)
	if len(r.Budgets) > 0 && len(r.SpotPools) > 0 {
		out.WriteByte('\n')
	}
	writePoolStatuses(&out, look, r.SpotPools)
	var told stories
	for _, b := range r.Budgets {
		told.add("budget "+b.Name, budgetDetails(look, b, r.At))
	}
	for _, p := range r.SpotPools {
		told.add(p.Region+"/"+p.Name, poolDetails(look, p, r.At, machines))
	}
	told.write(&out, look)
	return out.String()
}

func writePoolStatuses(out *bytes.Buffer, look style, pools []reconcile.PoolStatus) {
	if len(pools) == 0 {
		return
	}
	t := &table{}
	t.add("POOL", "CAPACITY", "MINIMUM", "MAXIMUM", "HELD", "OUTDATED", "CNY/H", "STATE")
	for _, p := range pools {
		t.add(p.Region+"/"+p.Name, capacityText(look, p.PoolReport), limit(p.PoolReport, p.Minimum), limit(p.PoolReport, p.Maximum),
			number(p.PoolReport, p.Held), number(p.PoolReport, p.Outdated), priceOrDash(p.HourlyPrice), stateText(look, p))
	}
	t.write(out)
}

func lastRunText(r reconcile.StatusReport) string {
	last := r.LastRun
	if last == nil {
		return "no run so far"
	}
	text := fmt.Sprintf("last run %s ago: %s", age(r.At.Sub(last.FinishedAt)), plural(last.Decisions, "decision"))
	if last.Failed > 0 {
		text += fmt.Sprintf(", %d failed", last.Failed)
	}
	return text
}

func capacityText(look style, p reconcile.PoolReport) string {
	text := number(p, p.Capacity)
	if bar := look.bar(p.Capacity, p.Minimum); bar != "" && p.Observed {
		return bar + " " + text
	}
	return text
}

// stateText is one word for how a pool stands.
func stateText(look style, p reconcile.PoolStatus) string {
	switch {
	case p.Outcome == reconcile.Failed:
		return look.paint(red, "not seen")
	case p.Phase != declaration.Active && p.Phase != "":
		return look.paint(cyan, string(p.Phase))
	case p.Shortfall > 0:
		return look.paint(yellow, "short")
	case len(p.Decisions) > 0:
		return look.paint(cyan, "to change")
	case launching(p) > 0:
		return look.paint(cyan, "launching")
	case aboveMaximum(p.PoolReport):
		return look.paint(yellow, "above maximum")
	}
	return look.paint(green, "as declared")
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
func poolDetails(look style, p reconcile.PoolStatus, at time.Time, machines bool) []string {
	s := &story{look: look}
	s.add(dim, "seen: ", p.Notices...)
	for _, d := range p.Decisions {
		s.add(cyan, "a run would ", d.Summary())
		s.reasons(d.Reasons)
	}
	s.add(yellow, "short: ", p.Short...)
	s.heldBack(p.PoolReport)
	for _, c := range p.Cooldowns {
		if c.Until.After(at) {
			s.add(dim, "cooling down: ", cooldownText(c, at))
		}
	}
	if p.Intents > 0 {
		s.add(yellow, "open: ", plural(p.Intents, "launch")+" without a known outcome; the next run asks again")
	}
	s.add(yellow, "warning: ", p.Warnings...)
	if p.Error != nil {
		s.add(red, "failed: ", p.Error.Message)
	}
	if machines && len(p.Machines) > 0 {
		s.lines = append(s.lines, machineLines(look, p.Machines, at)...)
	}
	return s.lines
}

func cooldownText(c spotpool.Cooldown, at time.Time) string {
	text := strings.TrimSpace(c.AvailabilityZone + " " + c.InstanceType)
	if c.Batch > 0 {
		text += fmt.Sprintf(", at most %d at once", c.Batch)
	}
	return fmt.Sprintf("%s for %s more (%s)", text, age(c.Until.Sub(at)), c.Cause)
}

func machineLines(look style, machines []spotpool.Member, at time.Time) []string {
	t := &table{}
	t.add("INSTANCE", "ZONE", "TYPE", "PAID", "AGE", "PRIVATE IP", "PUBLIC IP", "CNY/H", "CONDITION")
	for _, m := range machines {
		launched := "-"
		if !m.LaunchedAt.IsZero() {
			launched = age(at.Sub(m.LaunchedAt))
		}
		paid := "spot"
		if m.ChargeType == spotpool.OnDemand {
			paid = "on-demand"
		}
		t.add(m.ID, m.AvailabilityZone, m.InstanceType, paid, launched,
			orDash(m.PrivateIP), orDash(m.PublicIP), priceOrDash(m.Price), conditionText(look, m))
	}
	return t.lines()
}

func conditionText(look style, m spotpool.Member) string {
	c := yellow
	switch m.Condition {
	case spotpool.Running:
		c = green
	case spotpool.Launching:
		c = cyan
	case spotpool.Failed:
		c = red
	case spotpool.Terminating:
		c = dim
	}
	text := string(m.Condition)
	if m.Outdated {
		text += ", outdated"
	}
	if m.Protected || m.APIProtected {
		text += ", protected"
	}
	if m.OperationError != "" {
		text += ": " + oneLine(m.OperationError)
	}
	return look.paint(c, text)
}

// age is a length of time to the unit that matters: 12s, 3m, 5h, 8d.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

func plural(n int, thing string) string {
	switch {
	case n == 0:
		return "no " + thing + "s"
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "ch"):
		return fmt.Sprintf("%d %ses", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
