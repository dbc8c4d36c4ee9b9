package history

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// text is a history for people: a line an event, below the day that it was.
func text(style terminal.Style, r Report, verbose bool, zone *time.Location) string {
	var out bytes.Buffer
	if len(r.Events) == 0 {
		fmt.Fprintf(&out, "Nothing is told of between %s and %s.\n", r.Since.In(zone).Format(time.DateTime), r.Until.In(zone).Format(time.DateTime))
		return out.String()
	}
	lines := history.Collapse(r.Events)
	region := oneRegion(lines)
	kinds, names := len("EVENT"), len("OF")
	for _, l := range lines {
		kinds, names = max(kinds, len(l.Kind)), max(names, utf8.RuneCountInString(called(l.Object, region)))
	}
	row := func(time, kind, name, what string) string {
		return strings.TrimRight(fmt.Sprintf("%-8s  %-*s  %-*s  %s", time, kinds, kind, names, name, what), " ")
	}
	fmt.Fprintln(&out, row("TIME", "EVENT", "OF", "WHAT"))
	day := ""
	for n := range lines {
		l := &lines[n]
		at := l.At.In(zone)
		if of := at.Format("2006-01-02 (MST)"); of != day {
			day = of
			fmt.Fprintln(&out, style.Paint(terminal.Bold, of))
		}
		line := row(at.Format(time.TimeOnly), string(l.Kind), called(l.Object, region), style.Paint(colour(l.Kind), what(l, zone)))
		if verbose {
			fmt.Fprintln(&out, line)
			writeDetails(&out, l, zone)
			continue
		}
		fmt.Fprintln(&out, style.Clip(line))
	}
	return out.String()
}

// oneRegion is the region of all pools, where there is but one.
func oneRegion(lines []history.Line) string {
	one := ""
	for _, l := range lines {
		region, _, pool := strings.Cut(history.Name(l.Object), "/")
		switch {
		case !pool || region == one:
		case one == "":
			one = region
		default:
			return ""
		}
	}
	return one
}

// called is what an object is called, without its region where all are of one.
func called(object, region string) string {
	name := printable.Line(history.Name(object))
	if region == "" {
		return name
	}
	return strings.TrimPrefix(name, region+"/")
}

func colour(k history.Kind) terminal.Colour {
	switch k {
	case history.Refused, history.Failed, history.RunFailed, history.Loss, history.Exceeded:
		return terminal.Red
	case history.Reclaim, history.Evict, history.Pause, history.Freeze, history.Threshold, history.GateClosed, history.Grant, history.Hold:
		return terminal.Yellow
	case history.Begin, history.Recovered, history.Unfreeze, history.Resume, history.GateOpened:
		return terminal.Green
	}
	return terminal.Cyan
}

// what says in a few words what an event tells beside its kind and object. How often
// it is told comes first: it must not be cut off.
func what(l *history.Line, zone *time.Location) string {
	text := summary(l.Event, zone)
	if l.Times > 1 {
		text = fmt.Sprintf("%d× since %s: %s", l.Times, clock(l.First, l.At, zone), text)
	}
	return terminal.OneLine(text)
}

// clock is a moment as seen from another: without the day, where that is the same.
func clock(at, from time.Time, zone *time.Location) string {
	at, from = at.In(zone), from.In(zone)
	if at.Format(time.DateOnly) == from.Format(time.DateOnly) {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

func summary(e *history.Event, zone *time.Location) string {
	switch e.Kind {
	case history.Launch:
		return fmt.Sprintf("%d %s%s", e.Count, paid(e), where(e))
	case history.Refused:
		return fault(e.Error) + where(e)
	case history.Begin, history.Reclaim, history.End:
		return strings.Join(e.InstanceIDs, " ") + where(e)
	case history.Terminate, history.Adopt:
		return several(e.Count, e.InstanceIDs)
	case history.Pause, history.Resume:
		return identities(e.Workloads)
	case history.Evict:
		return identities(e.Pods)
	case history.Threshold:
		return fmt.Sprintf("%d%%", e.Threshold)
	case history.Price:
		return e.Price + " an hour" + where(e)
	case history.Failed, history.RunFailed, history.Loss:
		return fault(e.Error)
	case history.Grant, history.Hold:
		return strings.TrimSpace("until " + clock(e.Until, e.At, zone) + " by " + e.Actor + ": " + first(e.Reasons))
	}
	return first(e.Reasons)
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

// writeDetails says all that is known of an event, below its line.
func writeDetails(out *bytes.Buffer, l *history.Line, zone *time.Location) {
	for _, reason := range l.Reasons {
		fmt.Fprintf(out, "  - %s\n", terminal.OneLine(reason))
	}
	add := func(label, text string) {
		if text != "" {
			fmt.Fprintf(out, "  %s: %s\n", label, terminal.OneLine(text))
		}
	}
	if e := l.Error; e != nil {
		add("error", e.Message)
		add("remedy", e.Remedy)
		add("request", e.RequestID)
	}
	if !l.Until.IsZero() {
		add("until", l.Until.In(zone).Format(time.DateTime))
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
