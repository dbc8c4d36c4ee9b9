// Package describe formats pools, budgets and decisions as text, for several commands.
package describe

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Details collects lines about an object.
type Details struct {
	Style terminal.Style
	// Tenant says that the reader does not see the whole installation. Commands, which are for operators, are left out.
	Tenant bool
	Lines  []string
}

// Add adds texts with a label.
func (d *Details) Add(c terminal.Color, label string, texts ...string) {
	for _, text := range texts {
		d.Lines = append(d.Lines, d.Style.Paint(c, label)+indented(text, "    "))
	}
}

// Texts are reasons for the reader. Remedies are for operators.
func (d *Details) Texts(list reason.Reasons) []string {
	if d.Tenant {
		return reason.Renderer{}.Texts(list)
	}
	return list.Texts()
}

// Reasons adds the reasons of a decision.
func (d *Details) Reasons(reasons []string) {
	for _, reason := range reasons {
		d.Lines = append(d.Lines, "  - "+reason)
	}
}

// Error adds the error of a decision, without its remedy.
func (d *Details) Error(o outcome.Outcome, e outcome.ErrorReport) {
	d.Lines = append(d.Lines, "  "+d.Style.Paint(OutcomeColor(o), string(o)+": ")+indented(e.Message, "      "))
}

// Deletion adds since when a deletion is in progress, and what the next run does about it.
func (d *Details) Deletion(of *record.Deletion) {
	if of != nil {
		d.Add(terminal.Yellow, "deleting: ", of.String())
	}
}

// HeldBack adds why the budget of a pool would block launches.
func (d *Details) HeldBack(p spotpools.Report) {
	if why := p.HeldBack(); why != "" {
		d.Add(terminal.Yellow, "blocked: ", why)
	}
}

// Open adds the number of launches with an unknown result. It is nil if the pool was not observed.
func (d *Details) Open(launches *int, hold *spotpool.Hold) {
	then := "the next run repeats"
	if hold != nil {
		then = "after the hold, a run repeats"
	}
	if launches != nil && *launches > 0 {
		d.Add(terminal.Yellow, "pending: ", Plural(*launches, "launch")+" with an unknown result: "+then+
			" each call with the same client token, so that nothing launches twice")
	}
}

// Failing adds the error of the last runs, if they failed.
func (d *Details) Failing(clock terminal.Clock, last *declaration.Failing) {
	if last != nil {
		d.Failure(terminal.Red, "failing: ", LastRuns(clock, *last)+": "+last.Error.Message, last.Error.Remedy)
	}
}

// PassedOver adds why the last runs skipped the object, if they did.
func (d *Details) PassedOver(clock terminal.Clock, last *declaration.Failing) {
	if last != nil {
		d.Add(terminal.Yellow, "skipped: ", LastRuns(clock, *last)+": "+last.Error.Message)
	}
}

// Failure adds an error with its label. The remedy gets its own line.
func (d *Details) Failure(c terminal.Color, label, message, remedy string) {
	d.Add(c, label, message)
	d.Remedy(remedy)
}

// Remedy adds a remedy, if there is one. Its lines after the first are commands.
func (d *Details) Remedy(text string) {
	if text != "" && !d.Tenant {
		d.Add(terminal.Bold, "to do: ", wording.Sentence(text))
	}
}

// indented indents all lines of a text but the first.
func indented(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }

// titlesAtMost is the most objects with the same details that are named.
const titlesAtMost = 3

// Sections are details under titles. Details that several objects share are written once.
type Sections struct {
	list    []*section
	byLines map[string]*section
}

type section struct{ titles, lines []string }

// requests are the IDs of API calls.
var requests = regexp.MustCompile(`RequestId [-0-9A-Za-z]+`)

// Alike is the same for details that differ in request IDs only.
func Alike(lines []string) string {
	return requests.ReplaceAllString(strings.Join(lines, "\n"), "RequestId")
}

// Add adds details about objects, if there are any.
func (s *Sections) Add(lines []string, titles ...string) {
	if len(lines) == 0 {
		return
	}
	key := Alike(lines)
	if same := s.byLines[key]; same != nil {
		same.titles = append(same.titles, titles...)
		return
	}
	if s.byLines == nil {
		s.byLines = map[string]*section{}
	}
	s.byLines[key] = &section{titles: titles, lines: lines}
	s.list = append(s.list, s.byLines[key])
}

// Write writes the sections, wrapped at a width; zero is no limit. Commands are not wrapped.
func (s *Sections) Write(out *bytes.Buffer, style terminal.Style, width int) {
	for _, section := range s.list {
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		for _, line := range terminal.Wrap(FirstOf(section.titles, titlesAtMost), width, "  ") {
			fmt.Fprintln(out, style.Paint(terminal.Bold, line))
		}
		for _, line := range section.lines {
			for part := range strings.SplitSeq("  "+line, "\n") {
				fmt.Fprintln(out, strings.Join(terminal.WrapDetail(part, width), "\n"))
			}
		}
	}
}

// Grants adds the grants of a budget.
func (d *Details) Grants(grants []budget.Grant) {
	for _, g := range grants {
		d.Add(terminal.Yellow, "granted: ", g.String())
	}
}
