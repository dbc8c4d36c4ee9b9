package cli

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// budgetStory says what happened about a budget, if anything did.
func budgetStory(look style, b reconcile.BudgetReport, decisions []reconcile.Result) []string {
	s := &story{look: look}
	s.add(dim, "seen: ", b.Notices...)
	s.decisions(decisions)
	s.add(yellow, "warning: ", b.Warnings...)
	s.failure(b.Outcome, b.Error, decisions)
	return s.lines
}

// writeBudgets writes how the budgets stand. Those that are far from their limit
// are counted where there are many.
func writeBudgets(out *bytes.Buffer, look style, budgets []reconcile.BudgetReport) {
	if len(budgets) == 0 {
		return
	}
	t := &table{}
	t.add("BUDGET", "USED", "GPU-HOURS", "LIMIT", "LEFT", "GPUS NOW", "PODS", "STATE")
	left := 0
	for _, b := range budgets {
		calm := b.Outcome == reconcile.Done && b.Observed && !b.Deleted && !exceeded(b) && len(b.Fired) == 0
		if calm && len(budgets) > rowsAtMost {
			left++
			continue
		}
		t.add(append(budgetCells(look, b), budgetState(look, b))...)
	}
	if left < len(budgets) {
		t.write(out)
	}
	switch {
	case left == len(budgets):
		fmt.Fprintf(out, "All %d budgets are below their thresholds.\n", left)
	case left > 0:
		fmt.Fprintf(out, "%d more budgets are below their thresholds.\n", left)
	}
}

func budgetCells(look style, b reconcile.BudgetReport) []string {
	u := b.UsageReport
	if u == nil {
		return []string{b.Name, "-", "-", deref(b.LimitGPUHours), "-", "-", "-"}
	}
	consumed := u.ConsumedGPUHours
	if u.ErrorBoundGPUHours != "0.000" {
		consumed += " ±" + u.ErrorBoundGPUHours
	}
	return []string{
		b.Name, fillText(look, u), consumed, deref(u.LimitGPUHours), deref(u.RemainingGPUHours),
		u.BurnRateGPUs, fmt.Sprint(u.TrackedPods),
	}
}

// fillText is how full a budget is, with a bar on a terminal.
func fillText(look style, u *reconcile.UsageReport) string {
	if u.UsedPercent == nil {
		return "-"
	}
	text := fmt.Sprintf("%d%%", *u.UsedPercent)
	if bar := look.bar(int(min(*u.UsedPercent, 100)), 100); bar != "" {
		return bar + " " + text
	}
	return text
}

func deref(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

func exceeded(b reconcile.BudgetReport) bool {
	return b.UsageReport != nil && b.Exceeded != nil && *b.Exceeded
}

// budgetState is in a few words how a budget stands.
func budgetState(look style, b reconcile.BudgetReport) string {
	switch {
	case b.Deleted:
		return look.paint(dim, "destroyed")
	case b.Outcome == reconcile.Failed, b.Outcome == reconcile.Skipped:
		return look.paint(outcomeColour(b.Outcome), string(b.Outcome))
	case exceeded(b):
		text := "exceeded"
		if b.Action == budget.AlertOnly {
			text += " (alert only)"
		}
		for _, measure := range b.Enforced {
			text += ", " + inForce[measure]
		}
		return look.paint(red, text)
	case len(b.Enforced) > 0:
		return look.paint(yellow, inForce[b.Enforced[0]])
	case len(b.Fired) > 0:
		return look.paint(yellow, fmt.Sprintf("above %d%%", slices.Max(b.Fired)))
	}
	return look.paint(green, "within its limit")
}

// inForce is how measures are called once they are taken.
var inForce = map[budget.Action]string{budget.Freeze: "frozen", budget.Pause: "paused", budget.Evict: "evicting"}

// writeBudgetStatuses writes how the budgets stood at the last run.
func writeBudgetStatuses(out *bytes.Buffer, look style, budgets []reconcile.BudgetStatus, at time.Time) {
	if len(budgets) == 0 {
		return
	}
	t := &table{}
	t.add("BUDGET", "USED", "GPU-HOURS", "LIMIT", "LEFT", "GPUS NOW", "PODS", "AS OF", "STATE")
	for _, b := range budgets {
		asOf, state := "-", budgetState(look, b.BudgetReport)
		switch {
		case b.Phase == declaration.Deleting:
			state = look.paint(cyan, "deleting")
		case b.UsageReport == nil && b.LastRunError != "":
			state = look.paint(red, "failed")
		case b.UsageReport == nil && b.Outcome == reconcile.Skipped:
			state = look.paint(dim, "not judged yet")
		}
		if b.UsageReport != nil {
			asOf = age(at.Sub(b.AsOf)) + " ago"
		}
		t.add(append(budgetCells(look, b.BudgetReport), asOf, state)...)
	}
	t.write(out)
}

// budgetDetails says what there is to say about a budget beside its numbers.
func budgetDetails(look style, b reconcile.BudgetStatus, at time.Time) []string {
	s := &story{look: look}
	if u := b.UsageReport; u != nil {
		if u.ExceededSince != nil {
			text := "since " + u.ExceededSince.UTC().Format(time.RFC3339)
			if b.EnforceAt != nil && b.EnforceAt.After(at) {
				text += fmt.Sprintf("; its enforcement (%s) begins in %s", b.Action, age(b.EnforceAt.Sub(at)))
			}
			s.add(red, "exceeded: ", text)
		} else if u.ProjectedExhaustion != nil {
			s.add(yellow, "projected: ", "used up at "+u.ProjectedExhaustion.UTC().Format(time.RFC3339)+", if it goes on like this")
		}
		if coverage, err := u.Coverage.Float64(); err == nil && coverage < 1 {
			s.add(yellow, "coverage: ", fmt.Sprintf("%.1f%% of the window until now was observed", coverage*100))
		}
	}
	if b.Phase == declaration.Deleting {
		s.add(yellow, "deleting: ", "the next run finishes it")
	}
	s.add(dim, "note: ", b.Notices...)
	s.add(yellow, "warning: ", b.Warnings...)
	if b.Error != nil {
		s.add(red, "failed: ", b.Error.Message)
	}
	if b.LastRunError != "" && (b.Error == nil || b.Error.Message != b.LastRunError) {
		s.add(red, "failed: ", "in the last run: "+b.LastRunError)
	}
	return s.lines
}
