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
	firstOnTerminal = 400 * time.Millisecond // shorter runs show nothing
	firstElsewhere  = 2 * time.Second
	redrawEvery     = 100 * time.Millisecond
	linesEvery      = 2 * time.Second
	linesAtOnce     = 20
)

// Progress shows the progress of a run on standard error: one changing line on a terminal,
// otherwise a line from time to time. A short run shows nothing.
type Progress struct {
	stream  io.Writer
	style   Style
	now     func() time.Time
	started time.Time
	done    chan struct{}
	ended   sync.WaitGroup

	mu      sync.Mutex
	latest  map[string]outcome.Event
	changed []string // objects with news since the last lines, in order
	last    string   // the object with the latest news
	shown   bool     // the line is on the screen
	frame   int
}

// StartProgress starts to show steps on a stream, if show is true.
func StartProgress(stream io.Writer, style Style, now func() time.Time, show bool) *Progress {
	p := &Progress{
		stream: stream, style: style, now: now, started: now(),
		done: make(chan struct{}), latest: map[string]outcome.Event{},
	}
	if show {
		p.ended.Go(p.loop)
	}
	return p
}

// Stop stops the progress and removes its line.
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

// EraseLine clears the current line of the terminal.
const EraseLine = "\r\x1b[K"

// Hear receives a step. It is called concurrently.
func (p *Progress) Hear(e outcome.Event) {
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

// loop shows news until Stop.
func (p *Progress) loop() {
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

// redraw is the current line, over the last one.
func (p *Progress) redraw() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	p.frame++
	spinner := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	elapsed := p.now().Sub(p.started).Truncate(time.Second)
	return EraseLine + p.style.Clip(fmt.Sprintf("%c %s %s", spinner[p.frame%len(spinner)], elapsed, printable.Line(p.text())))
}

// text is the shortfall of pools, or the latest news.
func (p *Progress) text() string {
	var missing []string
	for _, object := range slices.Sorted(maps.Keys(p.latest)) {
		if s := p.latest[object].Size; s != nil && s.Capacity < s.Minimum {
			missing = append(missing, fmt.Sprintf("%s %d/%d", poolOf(object), s.Capacity, s.Minimum))
		}
	}
	switch {
	case len(missing) > 1:
		return fmt.Sprintf("%d pools below minimum: %s", len(missing), strings.Join(missing, ", "))
	case p.last != "":
		return poolOf(p.last) + ": " + OneLine(p.latest[p.last].Message)
	}
	return "observing"
}

// lines are the news since the last lines.
func (p *Progress) lines() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for n, object := range p.changed {
		if n == linesAtOnce {
			fmt.Fprintf(&b, "%d more pools\n", len(p.changed)-n)
			break
		}
		fmt.Fprintf(&b, "%s: %s\n", poolOf(object), OneLine(p.latest[object].Message))
	}
	p.changed = nil
	return b.String()
}

// poolOf removes the kind from the name of a pool.
func poolOf(object string) string { return strings.TrimPrefix(object, "spot_pool/") }

// OneLine is a text without line breaks.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
