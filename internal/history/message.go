package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Message returns what happened, without the kind and the object, on one line. at writes times. The
// text contains names that tenants chose: escape it for where it goes.
func (e *Event) Message(at func(time.Time) string) string {
	return e.message(reason.Renderer{Instant: at}.Sentence)
}

// Brief returns Message without remedies. The renderer has a format of times.
func (e *Event) Brief(by reason.Renderer) string { return e.message(by.Text) }

func (e *Event) message(say func(reason.Reason) string) string {
	switch e.Kind {
	case Launch:
		return fmt.Sprintf("%d %s%s", e.Count, chargeName(e), offering(e))
	case Refused:
		return fault(e.Error) + offering(e)
	case Lost:
		return strings.Join(e.InstanceIDs, " ") + offering(e) + ": " + say(reason.GoneUnnoticed())
	case Reclaim: // and how many pods were deleted before, if that is known
		return strings.Join(slices.Concat([]string{strings.Join(e.InstanceIDs, " ") + offering(e)}, said(e.Reasons[min(1, len(e.Reasons)):], say)), "; ")
	case Begin, End, Detach:
		return strings.Join(e.InstanceIDs, " ") + offering(e)
	case Join, Replace, Notice, Withdrawn, Drain, Drained, Uncordon,
		DeleteNode:
		return nodeText(e, say)
	case Terminate, Adopt:
		return several(e.Count, e.InstanceIDs)
	case Revert:
		return revertText(e.Reasons, say)
	case Scale:
		return strings.Join(said(e.Reasons, say), "; ")
	case Freeze, Frozen, Pause, Paused, Resume, Evict, Evicted:
		return enforcement(e, say)
	case Threshold:
		return fmt.Sprintf("%d%%", e.Threshold)
	case Price:
		return e.Cost() + " an hour" + offering(e)
	case Failed, RunFailed, Loss:
		return fault(e.Error)
	case Grant, Hold:
		return strings.TrimSpace(say(reason.InForceUntil(reason.Instant{Time: e.Until}, reason.NewForeign(e.Actor))) + ": " + e.first(say))
	}
	return e.first(say)
}

// first returns the text of the first reason; empty if there is none.
func (e *Event) first(say func(reason.Reason) string) string {
	if len(e.Reasons) == 0 {
		return ""
	}
	return say(e.Reasons[0])
}

// Cost returns the price of an event with its currency; empty if it has none.
func (e *Event) Cost() string {
	if e.Price == "" {
		return ""
	}
	return strings.TrimSpace(e.Price + " " + e.Currency)
}

// enforcement describes the target and the outcome of an enforcement.
func enforcement(e *Event, say func(reason.Reason) string) string {
	how := effect(e)
	parts := []string{namesOf(slices.Concat(e.Workloads, e.Pods)), how}
	if parts[0] == "" || strings.HasPrefix(e.Object, "stock_pool/") { // it has only its own workload
		parts = []string{how, e.first(say)}
	}
	if (e.Kind == Paused || e.Kind == Evicted) && how == "ineffective" && parts[0] != how {
		parts = append(parts, e.first(say))
	}
	if e.Kind == Frozen && how == "" {
		parts = []string{say(reason.PodsBlocked())}
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// effect returns the outcome of an event. It is empty if the kind implies it.
func effect(e *Event) string {
	if e.Outcome == Done {
		return ""
	}
	return strings.ReplaceAll(e.Outcome, "_", " ")
}

// revertText describes the reverted changes of a workload and their authors.
func revertText(reasons reason.Reasons, say func(reason.Reason) string) string {
	var by string
	var changes []string
	for _, r := range reasons {
		if who := writers(r); who != "" {
			by = who + ": "
			continue
		}
		changes = append(changes, strings.TrimPrefix(say(r), "spec.template.spec.containers[0]."))
	}
	return by + strings.Join(changes, "; ")
}

// writers returns who made the reverted changes, if a reason says that. Earlier versions stored its text.
func writers(r reason.Reason) string {
	switch r.Code {
	case reason.LastWrittenBy(nil).Code:
		names, _ := r.Args[0].(reason.Names)
		return wording.Some(names)
	case reason.OtherVersion("").Code:
		if who, are := strings.CutPrefix(r.String(), "last written by "); are {
			return who
		}
	}
	return ""
}

// nodeText describes an event of an instance as a node.
func nodeText(e *Event, say func(reason.Reason) string) string {
	text := strings.Join(e.InstanceIDs, " ")
	if e.Node != "" {
		text += ", node " + e.Node
	}
	switch {
	case e.Kind == Notice:
		return text + ": " + say(reason.ReclaimedAt(reason.Instant{Time: e.Until}))
	case e.Kind == Withdrawn:
		return text + ": " + say(reason.NotReclaimedAt(reason.Instant{Time: e.Until}))
	case effect(e) != "":
		text += ": " + effect(e)
	}
	if why := e.first(say); why != "" {
		text += ": " + why
	}
	return text
}

func chargeName(e *Event) string {
	if e.ChargeType == "POSTPAID_BY_HOUR" {
		return "on-demand"
	}
	return "spot"
}

// offering returns the offering of an event.
func offering(e *Event) string {
	if e.Offering == nil || *e.Offering == (Offering{}) {
		return ""
	}
	return " " + e.Offering.InstanceType + " in " + e.Offering.AvailabilityZone
}

// fault is the class and code of an API error, or the message.
func fault(e *Error) string {
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

func namesOf(list []Identity) string {
	var names []string
	for _, i := range list {
		names = append(names, i.String())
	}
	return strings.Join(names, " ")
}

// said returns the texts of reasons.
func said(list reason.Reasons, say func(reason.Reason) string) []string {
	texts := make([]string, len(list))
	for n, r := range list {
		texts[n] = say(r)
	}
	return texts
}
