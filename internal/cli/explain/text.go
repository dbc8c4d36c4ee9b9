package explain

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// page is what is explained of one pool, budget or stock pool.
type page struct {
	*describe.Details
	clock terminal.Clock
	rows  map[int]bool // the lines that are a table's, which are not wrapped
}

// indent is by how much lines stand below their title.
const indent = 2

// text explains for people.
func text(style terminal.Style, x reconcile.Explanation) string {
	var out bytes.Buffer
	clock := terminal.Clock{Now: x.At, Zone: time.Local}
	write := func(title string, p page) {
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintln(&out, style.Paint(terminal.Bold, title))
		for n, text := range p.clock.Texts(p.Lines) {
			for line := range strings.SplitSeq(text, "\n") {
				width, hang := max(0, style.Width-indent), len(line)-len(strings.TrimLeft(line, " "))+4
				if p.rows[n] {
					width = 0
				}
				for _, part := range terminal.Wrap(line, width, strings.Repeat(" ", hang)) {
					fmt.Fprintln(&out, strings.TrimRight(strings.Repeat(" ", indent)+part, " "))
				}
			}
		}
	}
	for _, b := range x.Budgets {
		p := newPage(style, clock)
		p.budget(b)
		p.lately(x.Events, "budget/"+b.Name)
		write("budget "+b.Name, p)
	}
	for _, pool := range x.SpotPools {
		p := newPage(style, clock)
		p.pool(pool)
		p.lately(x.Events, "spot_pool/"+describe.PoolName(pool.Report))
		write(describe.PoolName(pool.Report), p)
	}
	for _, pool := range x.StockPools {
		p := newPage(style, clock)
		p.stock(pool)
		p.lately(x.Events, pool.Summary().Object())
		write("stock pool "+describe.StockName(pool.Report), p)
	}
	return out.String()
}

func newPage(style terminal.Style, clock terminal.Clock) page {
	return page{Details: &describe.Details{Style: style}, clock: clock, rows: map[int]bool{}}
}

// say adds plain lines.
func (p *page) say(format string, args ...any) {
	p.Lines = append(p.Lines, fmt.Sprintf(format, args...))
}

// table adds a table, if it has rows, with an empty line before it.
func (p *page) table(t *terminal.Table, rows int) {
	if rows == 0 {
		return
	}
	p.Lines = append(p.Lines, "")
	for _, line := range t.Lines() {
		p.rows[len(p.Lines)] = true
		p.Lines = append(p.Lines, line)
	}
}

// heading is what decisions of both kinds say of themselves.
type heading interface {
	Summary() string
}

// wouldDo adds what a run would do, and why.
func (p *page) wouldDo(d heading, reasons []string) {
	p.Add(terminal.Cyan, "a run would ", d.Summary())
	p.Reasons(reasons)
}

func (p *page) failure(e *outcome.ErrorReport) {
	if e != nil {
		p.Add(terminal.Red, "failed: ", e.Message)
	}
}

// eventsAtMost is how many of the latest events are told.
const eventsAtMost = 10

// lately adds what happened to an object.
func (p *page) lately(events []history.Event, object string) {
	var lines []string
	for _, e := range events {
		if e.Object == object {
			lines = append(lines, p.event(e))
		}
	}
	if len(lines) == 0 {
		return
	}
	p.say("")
	p.say("%s", p.Style.Paint(terminal.Bold, "what happened"))
	if more := len(lines) - eventsAtMost; more > 0 {
		p.say("%d more before, see gpupool history", more)
		lines = lines[more:]
	}
	p.Lines = append(p.Lines, lines...)
}

func (p *page) event(e history.Event) string {
	line := fmt.Sprintf("%s: %s", p.clock.When(e.At), e.Kind)
	if e.Count > 0 {
		line += fmt.Sprintf(" %d", e.Count)
	}
	if o := e.Offering; o != nil {
		line += fmt.Sprintf(" %s in %s", o.InstanceType, o.AvailabilityZone)
	}
	if e.Threshold > 0 {
		line += fmt.Sprintf(" %d%%", e.Threshold)
	}
	var names []string
	for _, list := range [][]history.Identity{e.Workloads, e.Pods} {
		for _, i := range list {
			names = append(names, i.Namespace+"/"+i.Name)
		}
	}
	if names = append(names, e.InstanceIDs...); len(names) > 0 {
		line += ": " + describe.FirstOf(names, namedOfEvent)
	}
	if e.Node != "" {
		line += ", node " + e.Node
	}
	if e.Outcome != "" {
		line += ": " + strings.ReplaceAll(e.Outcome, "_", " ")
	}
	if e.Kind == history.Notice {
		line += ": the cloud takes it at " + p.clock.At(e.Until)
	}
	switch {
	case e.Error != nil:
		line += ": " + terminal.OneLine(e.Error.Message)
	case e.Kind == history.Mend || e.Kind == history.Scale: // what, and who
		line += " (" + terminal.OneLine(strings.Join(e.Reasons, "; ")) + ")"
	case len(e.Reasons) > 0:
		line += " (" + terminal.OneLine(e.Reasons[0]) + ")"
	}
	return line
}

// namedOfEvent is how many pods or instances of an event are named.
const namedOfEvent = 5
