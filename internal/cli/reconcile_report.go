package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// rowsAtMost is how many pools the table lists before it leaves out those that
// are as declared.
const rowsAtMost = 20

// idsAtMost is how many instances of a launch are named.
const idsAtMost = 8

func (r *runner) print(report reconcile.Report) error {
	if r.output == asJSON {
		return r.session.putJSON(report, r.every == 0)
	}
	var out bytes.Buffer
	if r.every > 0 {
		fmt.Fprintf(&out, "%s\n", report.FinishedAt.Format("2006-01-02 15:04:05 UTC"))
	}
	writeReport(&out, r.session.styleOf(r.session.Stdout), report, r.engine.Store.String())
	if r.every > 0 {
		out.WriteByte('\n')
	}
	for _, text := range report.Warnings {
		r.session.warn(text)
	}
	return r.session.put(out.Bytes())
}

// writeReport writes a report for people: what was decided of each pool and
// why, and then how the pools stand.
func writeReport(out *bytes.Buffer, look style, report reconcile.Report, store string) {
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
	var told stories
	for _, b := range report.Budgets {
		told.add("budget "+b.Name, budgetStory(look, b, decisions["budget/"+b.Name]))
	}
	for _, p := range report.SpotPools {
		told.add(p.Region+"/"+p.Name, poolStory(look, p, decisions[objectOf(p)]))
	}
	told.write(out, look)
	if out.Len() > 0 {
		out.WriteByte('\n')
	}
	writeBudgets(out, look, report.Budgets)
	if len(report.Budgets) > 0 && len(report.SpotPools) > 0 {
		out.WriteByte('\n')
	}
	writePools(out, look, report.SpotPools, decisions)
}

// objectOf names a pool as decisions do.
func objectOf(p reconcile.PoolReport) string { return "spot_pool/" + p.Region + "/" + p.Name }

// poolStory says what happened to a pool, if anything did.
func poolStory(look style, p reconcile.PoolReport, decisions []reconcile.Result) []string {
	s := &story{look: look}
	s.add(dim, "seen: ", p.Notices...)
	s.decisions(decisions)
	for _, why := range p.Short {
		if p.Error == nil || p.Error.Message != why {
			s.add(yellow, "short: ", why)
		}
	}
	s.heldBack(p)
	s.add(yellow, "warning: ", p.Warnings...)
	s.failure(p.Outcome, p.Error, decisions)
	return s.lines
}

// decisions add what was decided, why, and what went wrong with it.
func (s *story) decisions(decisions []reconcile.Result) {
	for _, d := range decisions {
		s.lines = append(s.lines, decisionText(s.look, d))
		s.reasons(d.Reasons())
		if d.Error != nil {
			s.lines = append(s.lines, "  "+s.look.paint(outcomeColour(d.Outcome), string(d.Outcome)+": ")+indented(d.Error.Message, "      "))
		}
	}
}

func (s *story) reasons(reasons []string) {
	for _, reason := range reasons {
		s.lines = append(s.lines, "  - "+reason)
	}
}

// failure adds what went wrong, unless it stands at a decision.
func (s *story) failure(o reconcile.Outcome, e *reconcile.ErrorReport, decisions []reconcile.Result) {
	if e != nil && !saidAlready(decisions, e) {
		s.add(outcomeColour(o), string(o)+": ", e.Message)
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

// indented keeps the further lines of a text below its first.
func indented(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }

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

func decisionText(look style, d reconcile.Result) string {
	verb, rest, _ := strings.Cut(d.Summary(), " ")
	form, known := forms[verb][d.Outcome]
	if !known {
		form = verb + " (" + string(d.Outcome) + ")"
	}
	text := look.paint(outcomeColour(d.Outcome), form) + " " + rest
	if p := d.Pool; p != nil && p.Offering != nil && d.Outcome == reconcile.Done && len(p.InstanceIDs) > 0 {
		text += ": " + firstOf(p.InstanceIDs, idsAtMost)
	}
	return text
}

// writePools writes how the pools stand.
func writePools(out *bytes.Buffer, look style, pools []reconcile.PoolReport, decisions map[string][]reconcile.Result) {
	if len(pools) == 0 {
		return
	}
	t := &table{}
	t.add("POOL", "CAPACITY", "MINIMUM", "MAXIMUM", "HELD", "CNY/H", "OUTCOME")
	left := 0
	for _, p := range pools {
		idle := p.Outcome == reconcile.Done && len(decisions[objectOf(p)]) == 0
		above := aboveMaximum(p)
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
		t.add(p.Region+"/"+p.Name, number(p, p.Capacity), limit(p, p.Minimum), limit(p, p.Maximum),
			number(p, p.Held), priceOrDash(p.HourlyPrice), look.paint(outcomeColour(p.Outcome), outcome))
	}
	if left < len(pools) {
		t.write(out)
	}
	switch {
	case left == len(pools):
		fmt.Fprintf(out, "All %d pools are as declared.\n", left)
	case left > 0:
		fmt.Fprintf(out, "%d more pools are as declared.\n", left)
	}
}

// aboveMaximum says that a pool holds more than it may: what is protected, or
// can't be ended, is not trimmed.
func aboveMaximum(p reconcile.PoolReport) bool { return p.Observed && p.Held > p.Maximum }

// number is what was seen of a pool, if it was.
func number(p reconcile.PoolReport, n int) string {
	if !p.Observed {
		return "-"
	}
	return fmt.Sprint(n)
}

// limit is what is declared of a pool, where its record can be read.
func limit(p reconcile.PoolReport, n int) string {
	if p.UID == "" {
		return "-"
	}
	return fmt.Sprint(n)
}

func outcomeColour(o reconcile.Outcome) colour {
	switch o {
	case reconcile.Done:
		return green
	case reconcile.Planned:
		return cyan
	case reconcile.Short:
		return yellow
	case reconcile.Failed:
		return red
	}
	return dim
}
