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
	text := summary(l.Event, then)
	if l.Times > 1 {
		text = fmt.Sprintf("%d× since %s: %s", l.Times, then.At(l.First), text)
	}
	return terminal.OneLine(then.Text(text))
}

func summary(e *history.Event, then terminal.Clock) string {
	switch e.Kind {
	case history.Launch:
		return fmt.Sprintf("%d %s%s", e.Count, chargeName(e), offering(e))
	case history.Refused:
		return fault(e.Error) + offering(e)
	case history.Lost:
		return strings.Join(e.InstanceIDs, " ") + offering(e) + ": reclaimed without a notice, or terminated or untagged by hand"
	case history.Begin, history.Reclaim, history.End, history.Detach:
		return strings.Join(e.InstanceIDs, " ") + offering(e)
	case history.Join, history.Replace, history.Notice, history.Withdrawn, history.Drain, history.Drained, history.Uncordon,
		history.DeleteNode:
		return nodeText(e, then)
	case history.Terminate, history.Adopt:
		return several(e.Count, e.InstanceIDs)
	case history.Revert:
		return revertText(e.Reasons)
	case history.Scale:
		return strings.Join(e.Reasons, "; ")
	case history.Freeze, history.Frozen, history.Pause, history.Paused, history.Resume, history.Evict, history.Evicted:
		return enforcement(e)
	case history.Threshold:
		return fmt.Sprintf("%d%%", e.Threshold)
	case history.Price:
		return e.Price + " CNY an hour" + offering(e)
	case history.Failed, history.RunFailed, history.Loss:
		return fault(e.Error)
	case history.Grant, history.Hold:
		return strings.TrimSpace("until " + then.At(e.Until) + " by " + e.Actor + ": " + first(e.Reasons))
	}
	return first(e.Reasons)
}

// enforcement describes the target and the outcome of an enforcement.
func enforcement(e *history.Event) string {
	how := outcome(e)
	parts := []string{identities(slices.Concat(e.Workloads, e.Pods)), how}
	if parts[0] == "" || strings.HasPrefix(e.Object, "stock_pool/") { // it has only its own workload
		parts = []string{how, first(e.Reasons)}
	}
	if e.Kind == history.Frozen && how == "" {
		parts = []string{"new GPU pods are blocked"}
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// outcome returns the outcome of an event. It is empty if the kind implies it.
func outcome(e *history.Event) string {
	if e.Outcome == history.Done {
		return ""
	}
	return strings.ReplaceAll(e.Outcome, "_", " ")
}

// revertText describes the reverted changes of a workload and their authors.
func revertText(reasons []string) string {
	var by string
	var changes []string
	for _, reason := range reasons {
		if who, last := strings.CutPrefix(reason, "last written by "); last {
			by = who + ": "
			continue
		}
		changes = append(changes, strings.TrimPrefix(reason, "spec.template.spec.containers[0]."))
	}
	return by + strings.Join(changes, "; ")
}

// nodeText describes an event of an instance as a node.
func nodeText(e *history.Event, then terminal.Clock) string {
	text := strings.Join(e.InstanceIDs, " ")
	if e.Node != "" {
		text += ", node " + e.Node
	}
	switch {
	case e.Kind == history.Notice:
		return text + ": Tencent Cloud reclaims it at " + then.At(e.Until)
	case e.Kind == history.Withdrawn:
		return text + ": not reclaimed at " + then.At(e.Until)
	case outcome(e) != "":
		text += ": " + outcome(e)
	}
	if why := first(e.Reasons); why != "" {
		text += ": " + why
	}
	return text
}

func chargeName(e *history.Event) string {
	if e.ChargeType == "POSTPAID_BY_HOUR" {
		return "on-demand"
	}
	return "spot"
}

// offering returns the offering of an event.
func offering(e *history.Event) string {
	if e.Offering == nil || *e.Offering == (history.Offering{}) {
		return ""
	}
	return " " + e.Offering.InstanceType + " in " + e.Offering.AvailabilityZone
}

// fault is the class and code of an API error, or the message.
func fault(e *history.Error) string {
	switch {
	case e == nil:
		return ""
	case e.Code != "":
		return strings.TrimSpace(e.Code + " (" + e.Class + ")")
	}
	return e.Message
}

func several(count int, ids []string) string {
	switch {
	case len(ids) == 0:
		return fmt.Sprint(count)
	case count > 1:
		return fmt.Sprintf("%s and %d more", ids[0], count-1)
	}
	return ids[0]
}

func identities(list []history.Identity) string {
	var names []string
	for _, i := range list {
		names = append(names, i.String())
	}
	return strings.Join(names, " ")
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// details prints all fields of an event below its line.
func (p *page) details(l *history.Line, then terminal.Clock) {
	for _, reason := range l.Reasons {
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
	add("price", l.Price)
	add("outcome", strings.ReplaceAll(l.Outcome, "_", " "))
	add("by", strings.TrimSpace(l.Actor+" "+run(l.RunID)))
}

func run(id string) string {
	if id == "" {
		return ""
	}
	return "in run " + id
}
