package describe

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

func BudgetCells(look terminal.Style, b reconcile.BudgetReport) []string {
	u := b.UsageReport
	if u == nil {
		return []string{b.Name, "-", "-", OrDash(b.LimitGPUHours), "-", "-", "-"}
	}
	consumed := u.ConsumedGPUHours
	if u.ErrorBoundGPUHours != "0.000" {
		consumed += " ±" + u.ErrorBoundGPUHours
	}
	return []string{
		b.Name, fillText(look, u), consumed, OrDash(u.LimitGPUHours), OrDash(u.RemainingGPUHours),
		u.BurnRateGPUs, fmt.Sprint(u.TrackedPods),
	}
}

// fillText is how full a budget is, with a bar on a terminal.
func fillText(look terminal.Style, u *reconcile.UsageReport) string {
	if u.UsedPercent == nil {
		return "-"
	}
	text := fmt.Sprintf("%d%%", *u.UsedPercent)
	if bar := look.Bar(int(min(*u.UsedPercent, 100)), 100); bar != "" {
		return bar + " " + text
	}
	return text
}

func OrDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

func Exceeded(b reconcile.BudgetReport) bool {
	return b.UsageReport != nil && b.Exceeded != nil && *b.Exceeded
}

// BudgetState is in a few words how a budget stands.
func BudgetState(look terminal.Style, b reconcile.BudgetReport) string {
	switch {
	case b.Deleted:
		return look.Paint(terminal.Dim, "destroyed")
	case b.Outcome == reconcile.Failed, b.Outcome == reconcile.Skipped:
		return look.Paint(OutcomeColour(b.Outcome), string(b.Outcome))
	case Exceeded(b):
		text := "exceeded"
		if b.Action == budget.AlertOnly {
			text += " (alert only)"
		}
		for _, measure := range b.Enforced {
			text += ", " + inForce[measure]
		}
		return look.Paint(terminal.Red, text)
	case len(b.Enforced) > 0:
		return look.Paint(terminal.Yellow, inForce[b.Enforced[0]])
	case len(b.Fired) > 0:
		return look.Paint(terminal.Yellow, fmt.Sprintf("above %d%%", slices.Max(b.Fired)))
	}
	return look.Paint(terminal.Green, "within its limit")
}

// inForce is how measures are called once they are taken.
var inForce = map[budget.Action]string{budget.Freeze: "frozen", budget.Pause: "paused", budget.Evict: "evicting"}
