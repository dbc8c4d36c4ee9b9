package explain

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// budget explains a budget.
func (p *page) budget(e budgets.Description) {
	p.Deletion(e.Deletion)
	switch {
	case e.UsageReport != nil:
		p.used(e)
	case e.Error == nil:
		p.say("no run has measured it yet")
	}
	p.Grants(e.Grants)
	p.Add(terminal.Dim, "note: ", p.Texts(e.Messages)...)
	for _, d := range e.Decisions {
		p.result(d)
	}
	if e.Decisions != nil && len(e.Decisions) == 0 && e.UsageReport != nil {
		p.say("a run would change nothing now")
	}
	for _, step := range e.Next {
		text := p.clock.When(step.At) + ": " + step.What.String()
		if !step.At.After(p.clock.Now) { // the usage is that of an earlier run
			text += "; the next run updates it"
		}
		p.Add(terminal.Cyan, "next: ", text)
	}
	p.Add(terminal.Yellow, "warning: ", p.Texts(e.Warnings)...)
	p.failure(e.Error)
	if e.Failing != nil && (e.Error == nil || e.Error.Message != e.Failing.Error.Message) {
		p.Failing(p.clock, e.Failing)
	}
	p.PassedOver(p.clock, e.PassedOver)
	p.thresholds(e.Thresholds)
	if u := e.UsageReport; u != nil {
		p.who("NAMESPACE", u.ByNamespace)
		for _, key := range slices.Sorted(maps.Keys(u.ByLabel)) {
			p.who(key, u.ByLabel[key])
		}
	}
}

// result adds a decision of a run now. One that the run would not carry out has its error instead of reasons.
func (p *page) result(d outcome.Result) {
	if d.Outcome != outcome.Skipped && d.Outcome != outcome.Failed {
		p.wouldDo(d, p.Texts(d.Reasons()))
		return
	}
	p.Add(describe.OutcomeColor(d.Outcome), "a run would not ", d.Summary())
	if d.Error != nil {
		p.Error(d.Outcome, *d.Error)
	}
}

// used describes usage, the excess and the enforcement.
func (p *page) used(e budgets.Description) {
	u := e.UsageReport
	line := u.ConsumedGPUHours
	if u.LimitGPUHours != nil && u.UsedPercent != nil {
		line += fmt.Sprintf(" of %s GPU-hours used (%d%%)", *u.LimitGPUHours, *u.UsedPercent)
	} else {
		line += " GPU-hours used"
	}
	p.say("%s in the current window (%s), since %s; as of %s", line, e.Window, p.clock.When(u.WindowStart), p.clock.When(u.AsOf))
	now := describe.Plural(u.ActivePods, "pod") + " with GPUs now"
	if u.ActivePods > 0 {
		now = fmt.Sprintf("%s with %s now", describe.Plural(u.ActivePods, "pod"), wording.Amount(u.BurnRateGPUs, "GPU"))
	}
	p.say("%s; %s in the window", now, describe.Plural(u.TrackedPods, "pod"))
	if u.EstimatedGPUHours != "0.000" {
		p.say("%s of it estimated", u.EstimatedGPUHours)
	}
	if !u.ErrorBoundReason.IsZero() {
		p.say("%s", u.ErrorBoundReason)
	}
	if coverage, err := u.Coverage.Float64(); err == nil && coverage < 1 {
		p.say("%.1f%% of the window was observed by runs; usage in the rest may be missing", coverage*100)
	}
	if u.ExceededSince != nil {
		p.Add(terminal.Red, "exceeded: ", "since "+p.clock.When(*u.ExceededSince))
	}
	line = fmt.Sprintf("enforcement: %s", e.Action)
	if e.EnforceAt != nil && !e.EnforceAt.After(u.AsOf) {
		line += "; the grace period ended " + p.clock.When(*e.EnforceAt)
	}
	p.say("%s", line)
	for _, measure := range e.Enforced {
		p.Add(terminal.Red, "in effect: ", string(measure))
	}
	p.Effects(e.Report, p.clock)
	p.Paused(e.Report, p.clock, pausedAtMost)
}

// pausedAtMost is the most paused workloads that are listed. JSON has more.
const pausedAtMost = 20

func (p *page) thresholds(list []budgets.Threshold) {
	t := &terminal.Table{}
	t.Add("THRESHOLD", "GPU-HOURS", "REACHED", "ALERTED")
	for _, threshold := range list {
		t.Add(fmt.Sprintf("%d%%", threshold.Percent), threshold.GPUHours, yesNo(threshold.Reached), yesNo(threshold.Told))
	}
	p.table(t, len(list))
}

// yesNo is a dash if it is unknown.
func yesNo(yes *bool) string {
	switch {
	case yes == nil:
		return "-"
	case *yes:
		return "yes"
	}
	return "no"
}

// who adds the users of a budget, the largest first.
func (p *page) who(title string, hours map[string]string) {
	t := &terminal.Table{}
	t.Add(title, "GPU-HOURS")
	for _, share := range budgets.Shares(hours) {
		name := share.Name
		if share.Others != 0 {
			name = budget.Others
		}
		t.Add(name, share.GPUHours)
	}
	p.table(t, len(hours))
}
