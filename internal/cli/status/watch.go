package status

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// watch repeats the status. The first observation must succeed; later ones are retried.
func (o *options) watch(ctx context.Context, all *reconcile.Runner, names []string) error {
	screen := &screen{session: o.session, style: o.session.Style()}
	for first := true; ; first = false {
		report, err := o.observe(ctx, all, names)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && first:
			return err
		case err != nil:
			err = screen.note(err)
		case o.session.JSON():
			err = o.session.PutJSON(report, false)
		default:
			v := o.layout(screen.style, names)
			v.tight = screen.style.IsTerminal() && screen.style.Height < rowsForWords
			err = screen.show(text(v, report), func(room int) []string { return charts(v, report, room) })
		}
		if err != nil {
			return err
		}
		if err := process.Pause(ctx, o.interval); err != nil {
			return err
		}
	}
}

// screen shows texts one after the other. On a terminal each replaces the one before.
type screen struct {
	session *process.Session
	style   terminal.Style
	lines   int  // of the text on the terminal
	before  bool // something was shown
}

// rowsForWords is the least height of a screen with several lines above the tables.
const rowsForWords = 12

// mostForCharts is the part of a screen that text can use before charts.
const mostForCharts = 2 // of 3

// show shows a text, and charts in the remaining lines.
func (s *screen) show(text string, draw func(room int) []string) error {
	if !s.style.IsTerminal() {
		if s.before {
			text = "\n" + text
		}
		s.before = true
		return s.session.Put(text)
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	most := max(2, s.style.Height-1)
	drawn := draw(most - min(len(lines), most*mostForCharts/3))
	if most -= len(drawn); len(lines) > most {
		hidden := len(lines) - most + 1
		lines = append(lines[:most-1], fmt.Sprintf("… %d more lines: select a pool or a budget by name", hidden))
	}
	lines = append(lines, drawn...)
	var b strings.Builder
	if s.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.lines)
	}
	b.WriteString("\r\x1b[J")
	for _, line := range lines {
		b.WriteString(s.style.Clip(terminal.EscapeControls(line, s.style.Color)) + "\n")
	}
	s.lines = len(lines)
	return process.PutTo(terminal.Raw(s.session.Stdout), b.String())
}

// note shows an error instead of a status.
func (s *screen) note(err error) error {
	if s.style.IsTerminal() {
		return s.show(s.style.Paint(terminal.Red, terminal.OneLine(err.Error()))+"\n", func(int) []string { return nil })
	}
	s.session.Complain(err)
	return nil
}
