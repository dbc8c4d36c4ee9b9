package reconcile

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// rowsAtMost is how many pools the table lists before it leaves out those that
// are as declared.
const rowsAtMost = 20

// idsAtMost is how many instances of a launch are named.
const idsAtMost = 8

func (r *runner) print(report reconcile.Report) error {
	if r.output == process.AsJSON {
		return r.session.PutJSON(report, r.every == 0)
	}
	var out bytes.Buffer
	if r.every > 0 {
		fmt.Fprintf(&out, "%s\n", report.FinishedAt.Format("2006-01-02 15:04:05 UTC"))
	}
	writeReport(&out, r.session.StyleOf(r.session.Stdout), report, r.engine.Store.String())
	if r.every > 0 {
		out.WriteByte('\n')
	}
	for _, text := range report.Warnings {
		r.session.Warn(text)
	}
	return r.session.Put(out.Bytes())
}

// writeReport writes a report for people: what was decided of each pool and
// why, and then how the pools stand.
func writeReport(out *bytes.Buffer, look terminal.Style, report reconcile.Report, store string) {
	if len(report.SpotPools)+len(report.Budgets) == 0 {
		fmt.Fprintf(out, "Nothing is declared in the store %s.\n", store)
		return
	}
	if report.DryRun {
		fmt.Fprintln(out, "A dry run: nothing is changed.")
	}
	decisions := map[string][]reconcile.Result{}
	for _, d := range report.Decisions {
		decisions[d.Object()] = append(decisions[d.Object()], d)
	}
	var told describe.Sections
	for _, b := range report.Budgets {
		told.Add("budget "+b.Name, budgetDetails(look, b, decisions["budget/"+b.Name]))
	}
	for _, p := range report.SpotPools {
		told.Add(p.Region+"/"+p.Name, poolDetails(look, p, decisions[describe.ObjectOf(p)]))
	}
	told.Write(out, look)
	if out.Len() > 0 {
		out.WriteByte('\n')
	}
	writeBudgets(out, look, report.Budgets)
	if len(report.Budgets) > 0 && len(report.SpotPools) > 0 {
		out.WriteByte('\n')
	}
	writePools(out, look, report.SpotPools, decisions)
}

// poolDetails says what happened to a pool, if anything did.
func poolDetails(look terminal.Style, p reconcile.PoolReport, decisions []reconcile.Result) []string {
	s := &describe.Details{Style: look}
	s.Add(terminal.Dim, "seen: ", p.Notices...)
	addDecisions(s, decisions)
	for _, why := range p.Short {
		if p.Error == nil || p.Error.Message != why {
			s.Add(terminal.Yellow, "short: ", why)
		}
	}
	s.HeldBack(p)
	s.Add(terminal.Yellow, "warning: ", p.Warnings...)
	addFailure(s, p.Outcome, p.Error, decisions)
	return s.Lines
}

// addDecisions adds what was decided, why, and what went wrong with it.
func addDecisions(s *describe.Details, decisions []reconcile.Result) {
	for _, d := range decisions {
		s.Lines = append(s.Lines, decisionText(s.Style, d))
		s.Reasons(d.Reasons())
		if d.Error != nil {
			s.Lines = append(s.Lines, "  "+s.Style.Paint(describe.OutcomeColour(d.Outcome), string(d.Outcome)+": ")+describe.Indented(d.Error.Message, "      "))
		}
	}
}

// addFailure adds what went wrong, unless it stands at a decision.
func addFailure(s *describe.Details, o reconcile.Outcome, e *reconcile.ErrorReport, decisions []reconcile.Result) {
	if e != nil && !saidAlready(decisions, e) {
		s.Add(describe.OutcomeColour(o), string(o)+": ", e.Message)
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

func decisionText(look terminal.Style, d reconcile.Result) string {
	verb, rest, _ := strings.Cut(d.Summary(), " ")
	form, known := forms[verb][d.Outcome]
	if !known {
		form = verb + " (" + string(d.Outcome) + ")"
	}
	text := look.Paint(describe.OutcomeColour(d.Outcome), form) + " " + rest
	if p := d.Pool; p != nil && p.Offering != nil && d.Outcome == reconcile.Done && len(p.InstanceIDs) > 0 {
		text += ": " + describe.FirstOf(p.InstanceIDs, idsAtMost)
	}
	return text
}

// writePools writes how the pools stand.
func writePools(out *bytes.Buffer, look terminal.Style, pools []reconcile.PoolReport, decisions map[string][]reconcile.Result) {
	if len(pools) == 0 {
		return
	}
	t := &terminal.Table{}
	t.Add("POOL", "CAPACITY", "MINIMUM", "MAXIMUM", "HELD", "CNY/H", "OUTCOME")
	left := 0
	for _, p := range pools {
		idle := p.Outcome == reconcile.Done && len(decisions[describe.ObjectOf(p)]) == 0
		above := describe.AboveMaximum(p)
		if idle && !above && len(pools) > rowsAtMost {
			left++
			continue
		}
		outcome := string(p.Outcome)
		switch {
		case idle && above:
			outcome = "above maximum"
		case idle:
			outcome = "as declared"
		}
		t.Add(p.Region+"/"+p.Name, describe.Number(p, p.Capacity), describe.Limit(p, p.Minimum), describe.Limit(p, p.Maximum),
			describe.Number(p, p.Held), describe.Price(p.HourlyPrice), look.Paint(describe.OutcomeColour(p.Outcome), outcome))
	}
	if left < len(pools) {
		t.Write(out)
	}
	switch {
	case left == len(pools):
		fmt.Fprintf(out, "All %d pools are as declared.\n", left)
	case left > 0:
		fmt.Fprintf(out, "%d more pools are as declared.\n", left)
	}
}
