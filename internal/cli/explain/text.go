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
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

// page is the explanation of one object.
type page struct {
	*describe.Details
	clock terminal.Clock
	rows  map[int]bool // the lines of tables, which are not wrapped
}

// indent is the indentation below a title.
const indent = 2

// PageText returns an explanation for a page, which formats the times and has the events itself. A tenant does not
// see the whole installation.
func PageText(x reconcile.Explanation, tenant bool) string {
	x.Events = nil
	return render(terminal.Style{}, x, terminal.Exact(x.At), tenant)
}

// text is an explanation as text, with times in a zone.
func text(style terminal.Style, x reconcile.Explanation, zone *time.Location) string {
	return render(style, x, terminal.Clock{Now: x.At, Zone: zone}, false)
}

func render(style terminal.Style, x reconcile.Explanation, clock terminal.Clock, tenant bool) string {
	var out bytes.Buffer
	write := func(title string, p page, states ...state.State) {
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintln(&out, style.Paint(terminal.Bold, title)+" at "+clock.WithZone().At(x.At)+": "+state.Join(states))
		for n, text := range p.clock.Texts(p.Lines) {
			for line := range strings.SplitSeq(text, "\n") {
				width := max(0, style.Width-indent)
				if p.rows[n] {
					width = 0
				}
				for _, part := range terminal.WrapDetail(line, width) {
					fmt.Fprintln(&out, strings.TrimRight(strings.Repeat(" ", indent)+part, " "))
				}
			}
		}
	}
	for _, b := range x.Budgets {
		p := newPage(style, clock.In(b.TimeZone), tenant)
		p.budget(b)
		p.recent(x.Events, "budget/"+b.Name)
		write("budget/"+b.Name, p, b.State...)
	}
	for _, pool := range x.SpotPools {
		p := newPage(style, clock, tenant)
		p.pool(pool)
		p.recent(x.Events, "spot_pool/"+describe.PoolName(pool.Report))
		write(describe.PoolName(pool.Report), p, pool.State)
	}
	for _, pool := range x.StockPools {
		p := newPage(style, clock, tenant)
		p.stock(pool)
		p.recent(x.Events, pool.Summary().Object())
		write(pool.Summary().Object(), p, pool.State)
	}
	return out.String()
}

func newPage(style terminal.Style, clock terminal.Clock, tenant bool) page {
	return page{Details: &describe.Details{Style: style, Tenant: tenant}, clock: clock, rows: map[int]bool{}}
}

// say adds a line.
func (p *page) say(format string, args ...any) {
	p.Lines = append(p.Lines, fmt.Sprintf(format, args...))
}

// table adds a table after an empty line, if it has rows.
func (p *page) table(t *terminal.Table, rows int, spare ...string) {
	if rows == 0 {
		return
	}
	if p.Style.Width > 0 {
		t.Fit(max(1, p.Style.Width-indent), spare...)
	}
	p.Lines = append(p.Lines, "")
	for _, line := range t.Lines() {
		p.rows[len(p.Lines)] = true
		p.Lines = append(p.Lines, line)
	}
}

// heading is the common part of decisions.
type heading interface {
	Summary() string
}

// wouldDo adds a decision of a run now.
func (p *page) wouldDo(d heading, reasons []string) {
	p.Add(terminal.Cyan, "a run would ", d.Summary())
	p.Reasons(reasons)
}

func (p *page) failure(e *outcome.ErrorReport) {
	if e != nil {
		p.Failure(terminal.Red, "failed: ", e.Message, e.Remedy)
	}
}

// eventsAtMost is the most events that are listed.
const eventsAtMost = 10

// recent adds the latest events of an object.
func (p *page) recent(events []history.Event, object string) {
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
	p.say("%s", p.Style.Paint(terminal.Bold, "recent events"))
	if more := len(lines) - eventsAtMost; more > 0 {
		p.say("%s: gpupool history %s", describe.Plural(more, "earlier event"), object)
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
	if names := e.Subjects(); len(names) > 0 {
		line += ": " + describe.FirstOf(names, namedOfEvent)
	}
	if e.Node != "" {
		line += ", node " + e.Node
	}
	if e.Outcome != "" && e.Outcome != history.Done {
		line += ": " + strings.ReplaceAll(e.Outcome, "_", " ")
	}
	if e.Kind == history.Notice {
		line += ": Tencent Cloud reclaims it at " + p.clock.At(e.Until)
	}
	switch {
	case e.Error != nil:
		line += ": " + terminal.OneLine(e.Error.Message)
	case e.Kind == history.Revert || e.Kind == history.Scale: // the fields and the writer
		line += " (" + terminal.OneLine(strings.Join(e.Reasons.Texts(), "; ")) + ")"
	case len(e.Reasons) > 0:
		line += " (" + terminal.OneLine(e.Reasons[0].String()) + ")"
	}
	return line
}

// namedOfEvent is the most pods or instances of an event that are listed.
const namedOfEvent = 5
