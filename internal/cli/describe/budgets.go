package describe

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

// BudgetColumns are the titles of BudgetCells.
func BudgetColumns() []string {
	return []string{"BUDGET", "USED", "GPU-HOURS", "LIMIT", "LEFT", "GPUS NOW", "PODS"}
}

// BudgetCells are the usage of a budget.
func BudgetCells(style terminal.Style, b budgets.Report) []string {
	u := b.UsageReport
	if u == nil {
		return []string{b.Name, "-", "-", orDash(b.LimitGPUHours), "-", "-", "-"}
	}
	consumed := u.ConsumedGPUHours
	if u.ErrorBoundGPUHours != "0.000" {
		consumed += " ±" + u.ErrorBoundGPUHours
	}
	return []string{
		b.Name, usedText(style, u), consumed, limitText(b), orDash(u.RemainingGPUHours),
		u.BurnRateGPUs, fmt.Sprint(u.TrackedPods),
	}
}

// limitText is the limit of a budget, with its grants.
func limitText(b budgets.Report) string {
	text := orDash(b.UsageReport.LimitGPUHours)
	granted, coming := b.GrantedGPUHours()
	if granted != "" {
		text += " (" + granted + " granted)"
	}
	if coming != "" {
		text += " (+" + coming + " from next run)"
	}
	return text
}

// usedText is the used part of the limit, with a bar on a terminal.
func usedText(style terminal.Style, u *budgets.UsageReport) string {
	if u.UsedPercent == nil {
		return "-"
	}
	text := fmt.Sprintf("%d%%", *u.UsedPercent)
	if bar := style.Bar(int(min(*u.UsedPercent, 100)), 100); bar != "" {
		return bar + " " + text
	}
	return text
}

// orDash is a number, or a dash if there is none.
func orDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// BudgetState is the states of a budget as a cell.
func BudgetState(style terminal.Style, states []state.State) string {
	return style.Paint(StateColor(states[0]), state.Join(states))
}

// Projection adds when the limit is reached at the rate of the measurement. The usage at that time is unknown until a run
// measures it.
func (d *Details) Projection(u *budgets.UsageReport, clock terminal.Clock) {
	if u == nil || u.ProjectedExhaustion == nil {
		return
	}
	at := *u.ProjectedExhaustion
	text := "limit reached " + clock.When(at) + " at the current rate"
	if !at.After(clock.Now) {
		text = "limit expected " + clock.When(at) + "; the next run updates it"
	}
	d.Add(terminal.Yellow, "projected: ", text)
}

// Recovery adds when an exceeded budget falls below its limit.
func (d *Details) Recovery(u *budgets.UsageReport, clock terminal.Clock) {
	if u == nil || u.RecoversAt == nil {
		return
	}
	at := *u.RecoversAt
	text := clock.When(at) + ", without further usage"
	switch past := !at.After(clock.Now); {
	case u.WindowEnd.After(u.AsOf) && past:
		text = "its period ended " + clock.When(at) + "; the next run updates it"
	case u.WindowEnd.After(u.AsOf):
		text = "when its period ends, " + clock.When(at)
	case past:
		text = clock.When(at) + ", without further usage; the next run updates it"
	}
	d.Add(terminal.Cyan, "recovers: ", text)
}

// ErrorBound adds what the error bound of usage consists of.
func (d *Details) ErrorBound(u *budgets.UsageReport) {
	if u != nil && !u.ErrorBoundReason.IsZero() {
		d.Add(terminal.Dim, "note: ", u.ErrorBoundReason.String())
	}
}

// Coverage adds the observed part of the window if it delays a decision, or if the ledger
// starts later than the window.
func (d *Details) Coverage(b budgets.Report, clock terminal.Clock) {
	if b.UsageReport == nil {
		return
	}
	coverage, err := b.Coverage.Float64()
	if err != nil || coverage >= 1 {
		return
	}
	switch part := fmt.Sprintf("%.1f%% of the window", coverage*100); {
	case !b.Withheld.IsZero():
		d.Add(terminal.Yellow, "coverage: ", part+" was observed by runs; pods before that or in between may be missing")
	case b.KnownSince != nil:
		d.Add(terminal.Dim, "coverage: ", part+" was observed; the ledger starts "+clock.When(*b.KnownSince))
	}
}

// Paused adds the workloads that a budget has paused, at most so many.
func (d *Details) Paused(b budgets.Report, clock terminal.Clock, most int) {
	n := len(b.Paused) + b.PausedLeftOut
	if n == 0 || b.UsageReport == nil {
		return
	}
	d.Add(terminal.Yellow, "paused: ", Plural(n, "workload")+" as of "+clock.When(b.AsOf))
	shown := b.Paused[:min(len(b.Paused), most)]
	var list []string
	for _, p := range shown {
		text := p.Workload.String()
		if !p.Since.IsZero() {
			text += " since " + clock.When(p.Since)
		}
		if p.Replicas > 0 {
			text += "; it resumes with " + Plural(int(p.Replicas), "replica")
		}
		list = append(list, text)
	}
	if more := n - len(shown); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	d.Reasons(list)
}

// Effects adds enforcement that was requested and not yet observed.
func (d *Details) Effects(b budgets.Report, clock terminal.Clock) {
	for _, e := range b.Effects {
		since := " since " + clock.When(e.Since)
		switch {
		case e.Phase == budget.Ineffective:
			d.Add(terminal.Red, "ineffective: ", string(e.Measure)+since+" "+e.String())
		case e.Object != "":
			d.Add(terminal.Yellow, "requested: ", string(e.Measure)+since+" "+e.String())
		}
	}
	if n := b.EffectsLeftOut; n > 0 {
		d.Add(terminal.Yellow, "requested: ", fmt.Sprintf("and %d more", n))
	}
}
