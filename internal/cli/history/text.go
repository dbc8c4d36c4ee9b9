package history

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
)

// table prints a history for people: a line an event, below the day that it was. All
// events were seen before.
func (p *page) table(q history.Query, until time.Time, verbose bool, walk walker) (eventlog.Answer, error) {
	clock, style, lay := p.session.Clock(), p.session.Style(), p.layout(verbose)
	if len(p.objects) == 0 {
		at := clock.Column(q.Since, until)
		fmt.Fprintf(&p.out, "Nothing is told of between %s and %s.\n", at(q.Since), at(until))
	} else {
		fmt.Fprintln(&p.out, lay.row("TIME", "EVENT", "OF", "WHAT"))
	}
	day := ""
	answer, err := walk(func(e *history.Event) error {
		l, is := p.collapse.Line(e)
		if !is {
			return nil
		}
		if of := clock.Day(l.At); of != day {
			day = of
			fmt.Fprintln(&p.out, style.Paint(terminal.Bold, day))
		}
		then := clock.As(l.At)
		line := lay.row(then.At(l.At), string(l.Kind), lay.called(l.Object), style.Paint(colour(l.Kind), what(&l, then)))
		if verbose {
			fmt.Fprintln(&p.out, line)
			p.details(&l, then)
		} else {
			fmt.Fprintln(&p.out, style.Clip(line))
		}
		return p.flush(atOnce)
	})
	if err == nil {
		err = p.flush(1)
	}
	return answer, err
}

// layout is how wide the columns are, and the region of all pools, where there is but
// one.
type layout struct {
	kinds, names int
	region       string
	longest      int // how many characters of a name are shown; 0 for all
}

func (p *page) layout(verbose bool) layout {
	l := layout{kinds: max(p.kinds, len("EVENT")), names: len("OF"), region: oneRegion(slices.Collect(maps.Keys(p.objects)))}
	if style := p.session.Style(); !verbose && style.IsTerminal() && style.Width > 0 {
		l.longest = max(12, style.Width/4) // the rest is for what happened
	}
	for object := range p.objects {
		l.names = max(l.names, utf8.RuneCountInString(l.called(object)))
	}
	return l
}

func (l layout) row(time, kind, name, what string) string {
	return strings.TrimRight(fmt.Sprintf("%-5s  %-*s  %-*s  %s", time, l.kinds, kind, l.names, name, what), " ")
}

func oneRegion(objects []string) string {
	one := ""
	for _, object := range objects {
		region, _, pool := strings.Cut(history.Name(object), "/")
		switch {
		case !pool || region == one || !ofRegion(object):
		case one == "":
			one = region
		default:
			return ""
		}
	}
	return one
}

// ofRegion says whether an object is a pool: the namespace of a stock pool is no region.
func ofRegion(object string) bool { return !strings.HasPrefix(object, "stock_pool/") }

// called is what an object is called, without its region where all are of one.
func (l layout) called(object string) string {
	name := printable.Line(history.Name(object))
	if l.region != "" && ofRegion(object) {
		name = strings.TrimPrefix(name, l.region+"/")
	}
	if runes := []rune(name); l.longest > 0 && len(runes) > l.longest {
		half := l.longest / 2
		return string(runes[:half]) + "…" + string(runes[len(runes)-(l.longest-half-1):])
	}
	return name
}

func colour(k history.Kind) terminal.Colour {
	switch k {
	case history.Refused, history.Failed, history.RunFailed, history.Loss, history.Exceeded, history.Replace, history.Suspend, history.Mend:
		return terminal.Red
	case history.Reclaim, history.Evict, history.Evicted, history.Pause, history.Paused, history.Freeze, history.Frozen, history.Threshold,
		history.GateClosed, history.Grant, history.Hold, history.Notice, history.Drain:
		return terminal.Yellow
	case history.Begin, history.Recovered, history.Unfreeze, history.Resume, history.GateOpened, history.Unsuspend, history.Join, history.Uncordon:
		return terminal.Green
	}
	return terminal.Cyan
}

// what says in a few words what an event tells beside its kind and object. How often
// it is told comes first: it must not be cut off.
func what(l *history.Line, then terminal.Clock) string {
	text := summary(l.Event, then)
	if l.Times > 1 {
		text = fmt.Sprintf("%d× since %s: %s", l.Times, then.At(l.First), text)
	}
	return terminal.OneLine(then.Text(text))
}

func summary(e *history.Event, then terminal.Clock) string {
	switch e.Kind {
	case history.Launch:
		return fmt.Sprintf("%d %s%s", e.Count, paid(e), where(e))
	case history.Refused:
		return fault(e.Error) + where(e)
	case history.Begin, history.Reclaim, history.End:
		return strings.Join(e.InstanceIDs, " ") + where(e)
	case history.Join, history.Replace, history.Notice, history.Drain, history.Drained, history.Uncordon, history.DeleteNode:
		return ofNode(e, then)
	case history.Terminate, history.Adopt:
		return several(e.Count, e.InstanceIDs)
	case history.Mend:
		return mended(e.Reasons)
	case history.Scale:
		return strings.Join(e.Reasons, "; ")
	case history.Freeze, history.Frozen, history.Pause, history.Paused, history.Resume, history.Evict, history.Evicted:
		return enforced(e)
	case history.Threshold:
		return fmt.Sprintf("%d%%", e.Threshold)
	case history.Price:
		return e.Price + " an hour" + where(e)
	case history.Failed, history.RunFailed, history.Loss:
		return fault(e.Error)
	case history.Grant, history.Hold:
		return strings.TrimSpace("until " + then.At(e.Until) + " by " + e.Actor + ": " + first(e.Reasons))
	}
	return first(e.Reasons)
}

// enforced says what a measure is about, and whether it was requested or how it ended.
func enforced(e *history.Event) string {
	parts := []string{identities(slices.Concat(e.Workloads, e.Pods)), e.Outcome}
	if parts[0] == "" || strings.HasPrefix(e.Object, "stock_pool/") { // which has one workload, its own
		parts = []string{e.Outcome, first(e.Reasons)}
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// mended says who changed what of a workload: who comes first, and must not be cut off.
func mended(reasons []string) string {
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

// ofNode says what happened to an instance as a node.
func ofNode(e *history.Event, then terminal.Clock) string {
	text := strings.Join(e.InstanceIDs, " ")
	if e.Node != "" {
		text += ", node " + e.Node
	}
	switch {
	case e.Kind == history.Notice:
		return text + ": the cloud takes it at " + then.At(e.Until)
	case e.Outcome != "":
		text += ": " + strings.ReplaceAll(e.Outcome, "_", " ")
	}
	if why := first(e.Reasons); why != "" {
		text += ": " + why
	}
	return text
}

func paid(e *history.Event) string {
	if e.ChargeType == "POSTPAID_BY_HOUR" {
		return "on-demand"
	}
	return "spot"
}

// where is an offering, with the zone as its region's pools see it.
func where(e *history.Event) string {
	if e.Offering == nil || *e.Offering == (history.Offering{}) {
		return ""
	}
	zone := e.Offering.AvailabilityZone
	if region, _ := path.Split(history.Name(e.Object)); region != "" {
		zone = strings.TrimPrefix(zone, strings.TrimSuffix(region, "/")+"-")
	}
	return " " + e.Offering.InstanceType + " zone " + zone
}

// fault is the class of an error of the cloud, and else what it says.
func fault(e *history.Error) string {
	switch {
	case e == nil:
		return ""
	case e.Code != "":
		return strings.TrimSpace(e.Class + " " + e.Code)
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

// details says all that is known of an event, below its line.
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
	add("outcome", l.Outcome)
	add("by", strings.TrimSpace(l.Actor+" "+run(l.RunID)))
}

func run(id string) string {
	if id == "" {
		return ""
	}
	return "in run " + id
}
