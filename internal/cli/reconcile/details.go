package reconcile

import (
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// idsAtMost is how many instances of a launch are named.
const idsAtMost = 8

// poolDetails says what happened to a pool, if anything did.
func poolDetails(style terminal.Style, p reconcile.PoolReport, decisions []reconcile.Result) []string {
	details := &describe.Details{Style: style}
	details.Add(terminal.Dim, "seen: ", p.Notices...)
	addDecisions(details, decisions)
	for _, why := range p.Short {
		if p.Error == nil || p.Error.Message != why {
			details.Add(terminal.Yellow, "short: ", why)
		}
	}
	details.HeldBack(p)
	details.Add(terminal.Yellow, "warning: ", p.Warnings...)
	addFailure(details, p.Outcome, p.Error, decisions)
	return details.Lines
}

// budgetDetails says what happened about a budget, if anything did.
func budgetDetails(style terminal.Style, b reconcile.BudgetReport, decisions []reconcile.Result) []string {
	details := &describe.Details{Style: style}
	details.Add(terminal.Dim, "seen: ", b.Notices...)
	addDecisions(details, decisions)
	details.Add(terminal.Yellow, "warning: ", b.Warnings...)
	addFailure(details, b.Outcome, b.Error, decisions)
	return details.Lines
}

// addDecisions adds what was decided, why, and what went wrong with it.
func addDecisions(details *describe.Details, decisions []reconcile.Result) {
	for _, d := range decisions {
		details.Lines = append(details.Lines, decisionText(details.Style, d))
		details.Reasons(d.Reasons())
		if d.Error != nil {
			details.Error(d.Outcome, d.Error.Message)
		}
	}
}

// addFailure adds what went wrong, unless it stands at a decision.
func addFailure(details *describe.Details, o reconcile.Outcome, e *reconcile.ErrorReport, decisions []reconcile.Result) {
	if e != nil && !saidAlready(decisions, e) {
		details.Add(describe.OutcomeColour(o), string(o)+": ", e.Message)
	}
}

// saidAlready reports whether an error stands at one of its decisions already.
func saidAlready(decisions []reconcile.Result, e *reconcile.ErrorReport) bool {
	for _, d := range decisions {
		if d.Error != nil && d.Error.Message == e.Message {
			return true
		}
	}
	return false
}

// forms are how a decision's verb reads once it is known what became of it.
var forms = map[string]map[reconcile.Outcome]string{
	"launch":    {reconcile.Planned: "would launch", reconcile.Done: "launched", reconcile.Short: "could not launch", reconcile.Failed: "failed to launch"},
	"terminate": {reconcile.Planned: "would terminate", reconcile.Done: "terminated", reconcile.Short: "could not terminate", reconcile.Failed: "failed to terminate"},
	"alert":     {reconcile.Planned: "would alert", reconcile.Done: "alerted", reconcile.Failed: "failed to alert"},
	"freeze:":   {reconcile.Planned: "would freeze:", reconcile.Done: "froze:", reconcile.Failed: "failed to freeze:"},
	"lift":      {reconcile.Planned: "would lift", reconcile.Done: "lifted", reconcile.Failed: "failed to lift"},
	"pause":     {reconcile.Planned: "would pause", reconcile.Done: "paused", reconcile.Failed: "failed to pause", reconcile.Skipped: "did not pause"},
	"resume":    {reconcile.Planned: "would resume", reconcile.Done: "resumed", reconcile.Failed: "failed to resume", reconcile.Skipped: "did not resume"},
	"evict":     {reconcile.Planned: "would evict", reconcile.Done: "evicted", reconcile.Failed: "failed to evict", reconcile.Skipped: "did not evict"},
	"ask":       {reconcile.Planned: "would ask", reconcile.Done: "asked", reconcile.Short: "asked", reconcile.Failed: "asked"},
}

// decisionText is what was decided, with what became of it for a verb.
func decisionText(style terminal.Style, d reconcile.Result) string {
	verb, rest, _ := strings.Cut(d.Summary(), " ")
	form, known := forms[verb][d.Outcome]
	if !known {
		form = verb + " (" + string(d.Outcome) + ")"
	}
	text := style.Paint(describe.OutcomeColour(d.Outcome), form) + " " + rest
	if p := d.Pool; p != nil && p.Offering != nil && d.Outcome == reconcile.Done && len(p.InstanceIDs) > 0 {
		text += ": " + describe.FirstOf(p.InstanceIDs, idsAtMost)
	}
	return text
}
