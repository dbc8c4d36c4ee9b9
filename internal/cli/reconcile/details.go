package reconcile

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// idsAtMost is the most instances of a launch that are listed.
const idsAtMost = 8

// poolDetails describes what happened to a pool.
func poolDetails(style terminal.Style, p spotpools.Report, decisions []outcome.Result) []string {
	details := &describe.Details{Style: style}
	details.Add(terminal.Dim, "observed: ", p.Messages.Texts()...)
	addDecisions(details, withoutDrains(decisions, p.Nodes))
	details.Nodes(p.Nodes)
	for _, why := range describe.Short(p) {
		if p.Error == nil || p.Error.Message != why {
			details.Add(terminal.Yellow, describe.ShortLabel(p), why)
		}
	}
	details.HeldBack(p)
	details.Add(terminal.Yellow, "warning: ", p.Warnings.Texts()...)
	addFailure(details, p.Outcome, p.Error, decisions)
	return details.Lines
}

// budgetDetails describes what happened to a budget, and its users if there was anything.
func budgetDetails(style terminal.Style, clock terminal.Clock, b budgets.Report, decisions []outcome.Result) []string {
	details := &describe.Details{Style: style}
	details.Add(terminal.Dim, "observed: ", b.Messages.Texts()...)
	details.Grants(b.Grants)
	addBudgetDecisions(details, clock, decisions)
	details.Recovery(b.UsageReport, clock)
	if b.IsExceeded() || len(decisions) > 0 {
		details.Users(b.UsageReport, 2)
	}
	details.Add(terminal.Yellow, "warning: ", b.Warnings.Texts()...)
	addFailure(details, b.Outcome, b.Error, decisions)
	return details.Lines
}

// addDecisions adds decisions with reasons and errors.
func addDecisions(details *describe.Details, decisions []outcome.Result) {
	for _, d := range decisions {
		details.Lines = append(details.Lines, decisionText(details.Style, d))
		details.Reasons(d.Reasons().Texts())
		if d.Error != nil {
			details.Error(d.Outcome, *d.Error)
			if d.Outcome == outcome.Short { // an object that failed has the remedy
				details.Remedy(d.Error.Remedy)
			}
		}
	}
}

// withoutDrains omits drains in progress, which the report of nodes describes.
func withoutDrains(decisions []outcome.Result, n *decide.PoolNodes) []outcome.Result {
	if n == nil {
		return decisions
	}
	inProgress := func(r outcome.Result) bool {
		d, ok := r.Decision.(spotpool.Decision)
		return ok && d.Kind == spotpool.KindDrain && r.Outcome == outcome.Short && slices.ContainsFunc(n.Drains, func(drain decide.DrainReport) bool {
			return slices.Contains(d.InstanceIDs, drain.InstanceID)
		})
	}
	return slices.DeleteFunc(slices.Clone(decisions), inProgress)
}

// addFailure adds an error, unless a decision has it, and its remedy.
func addFailure(details *describe.Details, o outcome.Outcome, e *outcome.ErrorReport, decisions []outcome.Result) {
	switch {
	case e == nil:
	case hasError(decisions, e):
		details.Remedy(e.Remedy)
	default:
		details.Failure(describe.OutcomeColor(o), string(o)+": ", e.Message, e.Remedy)
	}
}

// hasError reports whether one of the decisions has this error.
func hasError(decisions []outcome.Result, e *outcome.ErrorReport) bool {
	for _, d := range decisions {
		if d.Error != nil && d.Error.Message == e.Message {
			return true
		}
	}
	return false
}

// decisionText is a decision with a verb for its outcome.
func decisionText(style terminal.Style, d outcome.Result) string {
	verb := d.Verb()
	rest := strings.TrimPrefix(d.Summary(), verb.Base+" ")
	text := style.Paint(describe.OutcomeColor(d.Outcome), d.Outcome.Form(verb)) + " " + rest
	if p, ok := d.Decision.(spotpool.Decision); ok && p.Offering != nil && d.Outcome == outcome.Done && len(p.InstanceIDs) > 0 {
		text += ": " + describe.FirstOf(p.InstanceIDs, idsAtMost)
	}
	return text
}
