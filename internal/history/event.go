package history

import (
	"cmp"
	"errors"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"slices"
	"strings"
	"time"
)

// Event is one event. Parquet and CSV have the same columns. A column of a CSV that belongs to a
// group starts with its name, as in `error_code`.
type Event struct {
	// An ID that is derived from the content. The same event has the same ID.
	ID string `json:"id"`
	// When it happened.
	At time.Time `json:"at"`
	// The kind of the event.
	Kind Kind `json:"kind"`
	// The object, such as `spot_pool/REGION/NAME`, `budget/NAME`, `stock_pool/NAMESPACE/NAME` or
	// `run`.
	Object string `json:"object"`
	// The object's UID.
	ObjectUID string `json:"object_uid,omitempty"`
	// The UID of the cluster. Absent if no cluster is involved.
	ClusterUID string `json:"cluster_uid,omitempty"`
	// The ID of the run.
	RunID string `json:"run_id,omitempty"`
	// `reconcile`, `terraform` or a person.
	Actor string `json:"actor,omitempty"`
	// The reasons.
	Reasons reason.Reasons `json:"reasons,omitempty"`
	// `requested` for a request, and `done`, `ineffective`, `timed_out` or `kept` for its effect.
	Outcome string `json:"outcome,omitempty"`

	// The number of instances.
	Count int `json:"count,omitempty"`
	// The offering of an instance.
	Offering *Offering `json:"offering,omitempty"`
	// The charge type of an instance.
	ChargeType string `json:"charge_type,omitempty"`
	// The hourly price.
	Price string `json:"price,omitempty"`
	// The currency of the price. Absent in events from before it was recorded.
	Currency string `json:"currency,omitempty"`
	// The instances.
	InstanceIDs []string `json:"instance_ids,omitempty"`
	// The pods.
	Pods []Identity `json:"pods,omitempty"`
	// The workloads.
	Workloads []Identity `json:"workloads,omitempty"`
	// The alert threshold, in percent.
	Threshold int `json:"threshold,omitempty"`
	// The error.
	Error *Error `json:"error,omitempty"`
	// When it expires, or when Tencent Cloud reclaims the instance.
	Until time.Time `json:"until,omitzero"`
	// The name of the node.
	Node string `json:"node,omitempty"`
}

// Offering is the offering of an instance.
type Offering struct {
	// The availability zone.
	AvailabilityZone string `json:"availability_zone"`
	// The instance type.
	InstanceType string `json:"instance_type"`
	// The subnet.
	SubnetID string `json:"subnet_id"`
}

// Identity is a pod or a workload. A workload's name starts with its kind, as in
// "Deployment/serve".
type Identity struct {
	// The namespace.
	Namespace string `json:"namespace"`
	// The name. For a workload, it starts with the kind, as in `Deployment/serve`.
	Name string `json:"name"`
	// The UID.
	UID string `json:"uid"`
}

// Error is a failure and its remedy.
type Error struct {
	// The error class.
	Class string `json:"class"`
	// Tencent Cloud's error code.
	Code string `json:"code"`
	// The message.
	Message string `json:"message"`
	// Tencent Cloud's request ID, for a support ticket.
	RequestID string `json:"request_id"`
	// The remedy.
	Remedy string `json:"remedy"`
}

// For returns the error as a reader may see it. Its reason is zero if it has none.
func (e *Error) For(reader reason.Renderer, of reason.Reason) *Error {
	if e == nil {
		return nil
	}
	seen := *e
	seen.Message, seen.Remedy = reader.Message(of, e.Message, e.Remedy)
	return &seen
}

// For returns the event as a reader of its object may see it.
func (e Event) For(reader reason.Renderer) Event {
	var why reason.Reason
	if e.failed() && len(e.Reasons) > 0 {
		why = e.Reasons[0]
	}
	hidden := func(i Identity) bool { return !reader.SeesNamespace(i.Namespace) }
	e.Pods, e.Workloads = slices.DeleteFunc(slices.Clone(e.Pods), hidden), slices.DeleteFunc(slices.Clone(e.Workloads), hidden)
	e.Reasons, e.Error = reader.RedactAll(e.Reasons), e.Error.For(reader, why)
	return e
}

// failed reports whether it says that an object or a run failed. Its reasons are then those of the error.
func (e Event) failed() bool { return e.Kind == Failed || e.Kind == RunFailed }

// Subjects are the names of its workloads, pods and instances.
func (e *Event) Subjects() []string {
	var names []string
	for _, i := range slices.Concat(e.Workloads, e.Pods) {
		names = append(names, i.Namespace+"/"+i.Name)
	}
	return append(names, e.InstanceIDs...)
}

// The limits of an event: no message and no list fills a document. Count is the length of the whole
// list.
const (
	maxName = 253 // bytes
	maxText = 2048
	maxList = 200
)

// lastMoment is the end of the year 9999, the latest valid time.
const lastMoment = 253_402_300_799_999

// normalize truncates an event to its stored form, and returns why it is invalid.
func (e *Event) normalize() error {
	e.At, e.Until = moment(e.At), moment(e.Until)
	switch {
	case e.ID == "" || len(e.ID) > 64:
		return errors.New("it has no id")
	case !possible(e.At.UnixMilli()) || e.At.UnixMilli() == 0:
		return errors.New("its time is out of range")
	case !e.Until.IsZero() && !possible(e.Until.UnixMilli()):
		return errors.New("its end is out of range")
	case e.Count < 0 || e.Threshold < 0 || e.Count > 1<<30 || e.Threshold > 1<<30:
		return errors.New("one of its numbers is out of range")
	}
	kind := string(e.Kind)
	for _, s := range []*string{
		&e.ID, &kind, &e.Object, &e.ObjectUID, &e.ClusterUID, &e.RunID, &e.Actor, &e.Outcome, &e.ChargeType, &e.Price, &e.Currency, &e.Node,
	} {
		*s = short(*s)
	}
	e.Kind = Kind(kind)
	e.InstanceIDs = shortList(e.InstanceIDs, short)
	e.Pods, e.Workloads = shortList(e.Pods, Identity.short), shortList(e.Workloads, Identity.short)
	if o := e.Offering; o != nil && !o.kept() {
		e.Offering = &Offering{short(o.AvailabilityZone), short(o.InstanceType), short(o.SubnetID)}
	}
	if f := e.Error; f != nil {
		e.Error = &Error{short(f.Class), short(f.Code), text(f.Message), short(f.RequestID), text(f.Remedy)}
	}
	return nil
}

func (o *Offering) kept() bool {
	return o.AvailabilityZone == short(o.AvailabilityZone) && o.InstanceType == short(o.InstanceType) && o.SubnetID == short(o.SubnetID)
}

func possible(milli int64) bool { return milli >= 0 && milli <= lastMoment }

func moment(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

func (i Identity) short() Identity {
	return Identity{short(i.Namespace), short(i.Name), short(i.UID)}
}

// short truncates a name, and text a text, to whole characters.
func short(s string) string { return cut(s, maxName) }
func text(s string) string  { return cut(s, maxText) }

func cut(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "")
}

func shortList[T any](list []T, of func(T) T) []T {
	if len(list) == 0 {
		return nil
	}
	kept := make([]T, min(len(list), maxList))
	for n := range kept {
		kept[n] = of(list[n])
	}
	return kept
}

// compare orders events by time, and those of one moment by consequence.
func compare(a, b *Event) int {
	if c := a.At.Compare(b.At); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(ranks[a.Kind], ranks[b.Kind]), strings.Compare(a.ID, b.ID))
}

// Merge adds the events whose ID is missing. Of two times of one event it keeps the earlier. The
// result is sorted; added is the number of new events.
func Merge(events []Event, more ...Event) (merged []Event, added int) {
	there := make(map[string]bool, len(events))
	for n := range events {
		there[events[n].ID] = true
	}
	merged = Once(slices.Concat(events, more))
	return merged, len(merged) - len(there)
}

// Once sorts events in place, and removes repeated ones.
func Once(events []Event) []Event {
	order(events)
	seen := make(map[string]struct{}, len(events))
	return slices.DeleteFunc(events, func(e Event) bool {
		_, again := seen[e.ID]
		seen[e.ID] = struct{}{}
		return again
	})
}

// order sorts events. They are large, so each is moved only once.
func order(events []Event) {
	if slices.IsSortedFunc(events, func(a, b Event) int { return compare(&a, &b) }) {
		return
	}
	from := make([]int32, len(events))
	for n := range from {
		from[n] = int32(n)
	}
	slices.SortStableFunc(from, func(a, b int32) int { return compare(&events[a], &events[b]) })
	for n := range from {
		if from[n] < 0 || int(from[n]) == n {
			continue
		}
		first, at := events[n], n
		for next := int(from[at]); next != n; next = int(from[at]) {
			events[at] = events[next]
			from[at], at = -1, next
		}
		events[at], from[at] = first, -1
	}
}
