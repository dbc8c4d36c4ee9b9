package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
)

// table prints events as lines below their day. All events were seen before.
func (p *page) table(q history.Query, until time.Time, verbose bool, walk walker) (eventlog.Answer, error) {
	clock, style, lay := p.session.Clock(), p.session.Style(), p.layout()
	if len(p.objects) == 0 {
		at := clock.WithZone().Column(q.Since, until)
		fmt.Fprintf(&p.out, "No events between %s and %s.\n", at(q.Since), at(until))
	} else {
		fmt.Fprintln(&p.out, lay.row("TIME", "EVENT", "NAME", "MESSAGE"))
	}
	day := ""
	answer, err := walk(func(e *history.Event) error {
		l, is := p.collapse.Line(e)
		if !is {
			return nil
		}
		if of := clock.Day(l.At) + " " + clock.ZoneAt(l.At); of != day {
			day = of
			fmt.Fprintln(&p.out, style.Paint(terminal.Bold, day))
		}
		then := clock.As(l.At)
		at, message := lay.row(then.At(l.At), string(l.Kind), lay.nameOf(l.Object), ""), messageOf(&l, then)
		room := style.Width
		if room > 0 {
			room = max(leastMessage, room-lay.message())
		}
		for n, line := range terminal.Wrap(message, room, "") {
			if n > 0 {
				at = ""
			}
			fmt.Fprintln(&p.out, strings.TrimRight(fmt.Sprintf("%-*s%s", lay.message(), at, style.Paint(color(l.Kind), line)), " "))
		}
		if verbose {
			p.details(&l, then)
		}
		return p.flush(atOnce)
	})
	if err == nil {
		err = p.flush(1)
	}
	return answer, err
}

// layout has the widths of columns, and the region of all pools if there is only one.
type layout struct {
	kinds, names int
	region       string
}

func (p *page) layout() layout {
	l := layout{kinds: max(p.kinds, len("EVENT")), names: len("NAME"), region: oneRegion(slices.Collect(maps.Keys(p.objects)))}
	for object := range p.objects {
		l.names = max(l.names, utf8.RuneCountInString(l.nameOf(object)))
	}
	return l
}

// leastMessage is the least width of messages. Longer names make lines wider.
const leastMessage = 24

// message is the column of messages.
func (l layout) message() int { return len("15:04  ") + l.kinds + 2 + l.names + 2 }

func (l layout) row(time, kind, name, message string) string {
	return strings.TrimRight(fmt.Sprintf("%-5s  %-*s  %-*s  %s", time, l.kinds, kind, l.names, name, message), " ")
}

func oneRegion(objects []string) string {
	one := ""
	for _, object := range objects {
		region, _, pool := strings.Cut(history.Name(object), "/")
		switch {
		case !pool || region == one || !hasRegion(object):
		case one == "":
			one = region
		default:
			return ""
		}
	}
	return one
}

// hasRegion reports whether the name of an object starts with a region.
func hasRegion(object string) bool { return !strings.HasPrefix(object, "stock_pool/") }

// nameOf returns an object as commands accept it. It omits the region if all pools have the same
// one. The events of a whole run are those of "run".
func (l layout) nameOf(object string) string {
	object = printable.Line(object)
	kind, name, found := strings.Cut(object, "/")
	if !found || l.region == "" || !hasRegion(object) {
		return object
	}
	return kind + "/" + strings.TrimPrefix(name, l.region+"/")
}

func color(k history.Kind) terminal.Color {
	switch k {
	case history.Refused, history.Failed, history.RunFailed, history.Loss, history.Exceeded, history.Replace, history.Suspend, history.Revert:
		return terminal.Red
	case history.Reclaim, history.Lost, history.Evict, history.Evicted, history.Pause, history.Paused, history.Freeze, history.Frozen, history.Threshold,
		history.GateClosed, history.Grant, history.Hold, history.Notice, history.Drain:
		return terminal.Yellow
	case history.Begin, history.Recovered, history.Unfreeze, history.Resume, history.GateOpened, history.Unsuspend,
		history.Join, history.Uncordon, history.Withdrawn:
		return terminal.Green
	}
	return terminal.Cyan
}

// message returns the message of an event. The number of repetitions comes first.
func messageOf(l *history.Line, then terminal.Clock) string {
	text := l.Message(then.At)
	if l.Times > 1 {
		text = fmt.Sprintf("%d× since %s: %s", l.Times, then.At(l.First), text)
	}
	return terminal.OneLine(then.Text(text))
}

// details prints all fields of an event below its line.
func (p *page) details(l *history.Line, then terminal.Clock) {
	for _, reason := range l.Reasons.Texts() {
		fmt.Fprintf(&p.out, "  - %s\n", terminal.OneLine(then.Text(reason)))
	}
	add := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&p.out, "  %s: %s\n", label, terminal.OneLine(then.Text(text)))
		}
	}
	if e := l.Error; e != nil {
		add("error", e.Message)
		add("remedy", e.Remedy)
		add("request", e.RequestID)
	}
	if !l.Until.IsZero() {
		add("until", then.At(l.Until))
	}
	add("instances", strings.Join(l.InstanceIDs, " "))
	add("price", l.Cost())
	add("outcome", strings.ReplaceAll(l.Outcome, "_", " "))
	add("by", strings.TrimSpace(l.Actor+" "+run(l.RunID)))
}

func run(id string) string {
	if id == "" {
		return ""
	}
	return "in run " + id
}
