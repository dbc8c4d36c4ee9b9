// Package describe words for people what several commands print of pools, budgets and
// decisions. What only one command prints is in that command's package.
package describe

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Details gathers the lines about one pool or budget.
type Details struct {
	Style terminal.Style
	Lines []string
}

// Add adds texts, each behind its label.
func (d *Details) Add(c terminal.Colour, label string, texts ...string) {
	for _, text := range texts {
		d.Lines = append(d.Lines, d.Style.Paint(c, label)+indented(text, "    "))
	}
}

// Reasons adds a decision's reasons.
func (d *Details) Reasons(reasons []string) {
	for _, reason := range reasons {
		d.Lines = append(d.Lines, "  - "+reason)
	}
}

// Error adds what went wrong with a decision.
func (d *Details) Error(o outcome.Outcome, message string) {
	d.Lines = append(d.Lines, "  "+d.Style.Paint(OutcomeColour(o), string(o)+": ")+indented(message, "      "))
}

// HeldBack adds why a pool's budget would not let it launch, where nothing is to be
// launched.
func (d *Details) HeldBack(p spotpools.Report) {
	if why := p.HeldBack(); why != "" {
		d.Add(terminal.Yellow, "held back: ", why)
	}
}

// Open adds how many launches have no known outcome, and when that is asked for.
func (d *Details) Open(launches int, hold *spotpool.Hold) {
	then := "the next run asks again"
	if hold != nil {
		then = "it is asked for once the hold has ended"
	}
	if launches > 0 {
		d.Add(terminal.Yellow, "open: ", Plural(launches, "launch")+" without a known outcome; "+then)
	}
}

// indented indents all lines of a text but the first.
func indented(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }

// titlesAtMost is how many pools with the same details are named.
const titlesAtMost = 3

// Sections are the details of pools and budgets, each under a title. Details that
// many have, such as refused credentials, are written once.
type Sections struct {
	list    []*section
	byLines map[string]*section
}

type section struct{ titles, lines []string }

// requests are the ids that the cloud gives to calls, each its own.
var requests = regexp.MustCompile(`RequestId [-0-9A-Za-z]+`)

// Add adds details, if there are any. Those that differ in the ids of requests alone
// are the same.
func (s *Sections) Add(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	key := requests.ReplaceAllString(strings.Join(lines, "\n"), "RequestId")
	if same := s.byLines[key]; same != nil {
		same.titles = append(same.titles, title)
		return
	}
	if s.byLines == nil {
		s.byLines = map[string]*section{}
	}
	s.byLines[key] = &section{titles: []string{title}, lines: lines}
	s.list = append(s.list, s.byLines[key])
}

// Write writes the sections, each with an empty line before it, in lines that are no
// wider than this; zero is no bound.
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
				indent := part[:len(part)-len(strings.TrimLeft(part, " "))] + "    "
				fmt.Fprintln(out, strings.Join(terminal.Wrap(part, width, indent), "\n"))
			}
		}
	}
}

// Grants adds what persons granted to a budget.
func (d *Details) Grants(grants []budget.Grant) {
	for _, g := range grants {
		d.Add(terminal.Yellow, "granted: ", g.String())
	}
}
