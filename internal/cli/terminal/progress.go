package terminal

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

const (
	firstOnTerminal = 400 * time.Millisecond // what is over before is not shown
	firstElsewhere  = 2 * time.Second
	redrawEvery     = 100 * time.Millisecond
	linesEvery      = 2 * time.Second
	linesAtOnce     = 20
)

// Progress shows on standard error how a run goes on: on a terminal by a line that
// changes, elsewhere by lines now and then. A short run shows nothing.
type Progress struct {
	stream  io.Writer
	style   Style
	now     func() time.Time
	started time.Time
	done    chan struct{}
	ended   sync.WaitGroup

	mu      sync.Mutex
	latest  map[string]outcome.Event
	changed []string // objects with news since the lines before, in their order
	last    string   // the object with the latest news
	shown   bool     // the line is on the screen
	frame   int
}

// StartProgress starts to show steps on a stream, where they are to be shown.
func StartProgress(stream io.Writer, style Style, now func() time.Time, show bool) *Progress {
	p := &Progress{
		stream: stream, style: style, now: now, started: now(),
		done: make(chan struct{}), latest: map[string]outcome.Event{},
	}
	if show {
		p.ended.Go(p.keepShowing)
	}
	return p
}

// Stop ends the progress, and removes the line from the screen.
func (p *Progress) Stop() {
	close(p.done)
	p.ended.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(Raw(p.stream), EraseLine)
		p.shown = false
	}
}

// EraseLine clears the terminal's current line.
const EraseLine = "\r\x1b[K"

// Hear is called with each step, by several pools at the same time.
func (p *Progress) Hear(e outcome.Event) {
	if e.Counts != nil {
		counts := *e.Counts // the run goes on changing its own
		e.Counts = &counts
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	old, known := p.latest[e.Object]
	if known && old.Message == e.Message {
		return
	}
	p.latest[e.Object], p.last = e, e.Object
	if !slices.Contains(p.changed, e.Object) {
		p.changed = append(p.changed, e.Object)
	}
}

// keepShowing shows news now and then, until the progress is stopped.
func (p *Progress) keepShowing() {
	first, every, show, to := firstElsewhere, linesEvery, p.lines, p.stream
	if p.style.IsTerminal() {
		first, every, show, to = firstOnTerminal, redrawEvery, p.redraw, Raw(to)
	}
	next := time.NewTimer(first)
	defer next.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-next.C:
			fmt.Fprint(to, show())
			next.Reset(every)
		}
	}
}

// redraw is the present line, drawn over the one before.
func (p *Progress) redraw() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	p.frame++
	spinner := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	elapsed := p.now().Sub(p.started).Truncate(time.Second)
	return EraseLine + p.style.Clip(fmt.Sprintf("%c %s %s", spinner[p.frame%len(spinner)], elapsed, printable.Line(p.text())))
}

// text says what the pools wait for: the shortfall where there is one, else the
// latest news.
func (p *Progress) text() string {
	var missing []string
	for _, object := range slices.Sorted(maps.Keys(p.latest)) {
		if c := p.latest[object].Counts; c != nil && c.Capacity < c.Minimum {
			missing = append(missing, fmt.Sprintf("%s %d/%d", poolOf(object), c.Capacity, c.Minimum))
		}
	}
	switch {
	case len(missing) > 1:
		return fmt.Sprintf("%d pools below minimum: %s", len(missing), strings.Join(missing, ", "))
	case p.last != "":
		return poolOf(p.last) + ": " + OneLine(p.latest[p.last].Message)
	}
	return "looking at what is declared and what is there"
}

// lines is the news since the last lines.
func (p *Progress) lines() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for n, object := range p.changed {
		if n == linesAtOnce {
			fmt.Fprintf(&b, "and %d more pools\n", len(p.changed)-n)
			break
		}
		fmt.Fprintf(&b, "%s: %s\n", poolOf(object), OneLine(p.latest[object].Message))
	}
	p.changed = nil
	return b.String()
}

// poolOf removes the kind from an object's name, where it is clear that it is a pool.
func poolOf(object string) string { return strings.TrimPrefix(object, "spot_pool/") }

// OneLine is a text without line breaks.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
