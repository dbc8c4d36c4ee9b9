package history

import (
	"crypto/sha256"
	"encoding/hex"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An event has the identity of its kind, the UID of its object, and
//
//	launch, refused         the intent: its sequence, and when it was written down
//	begin, reclaim, lost,
//	end, detach             the instance
//	terminate, adopt        the instances
//	create, delete, destroy nothing more
//	update                  the generation
//	freeze, frozen, unfreeze since when it is, or was, frozen
//	pause, resume           the workload, and since when it is, or was, paused
//	paused                  the workload, when that was requested, and how it ended
//	revert, scale           the workload, and when it was
//	evict                   the pod
//	evicted                 the pod, and how it ended
//	threshold               the threshold, and when it was crossed
//	exceeded, recovered     since when it is, or was, exceeded
//	gate_closed, _opened    since when the gate is, or was, closed
//	suspend, unsuspend      since when it is, or was, suspended
//	price                   the market, the new price, and since when the old one was known
//	failed                  the run, and what failed
//	run_failed              the run
//	grant, hold, release    the grant or the hold
//	loss                    the document
//	join                    the instance
//	replace                 the instance, and since when it is replaced
//	notice, withdrawn       the instance, and when it is taken
//	drain, uncordon         the instance, its node's uid, and when the drain was asked for
//	drained                 the same, and how it ended
//	delete_node             the node's uid

// About is the common part of every event.
type About struct {
	At                time.Time
	Object, ObjectUID string
	ClusterUID        string
	RunID, Actor      string
	Reasons           reason.Reasons
	Outcome           string
}

// Run is the object of events about a whole run.
const Run = "run"

// event returns an event of a kind; the key distinguishes it from others of its kind and object.
//
// Its time is in whole seconds. The clocks of Tencent Cloud and clusters are no finer, and a finer
// one would order it wrongly.
func (a About) event(kind Kind, key ...string) Event {
	uid := a.ObjectUID
	if uid == "" {
		uid = a.Object
	}
	h := sha256.New()
	for _, part := range append([]string{string(kind), uid}, key...) {
		_, _ = h.Write([]byte(strconv.Itoa(len(part)) + ":" + part)) // never fails
	}
	if kind.request() {
		a.Outcome = Requested
	}
	return Event{
		ID: hex.EncodeToString(h.Sum(nil)[:8]), At: moment(a.At.Truncate(time.Second)), Kind: kind, Object: a.Object, ObjectUID: a.ObjectUID,
		ClusterUID: a.ClusterUID, RunID: a.RunID, Actor: a.Actor, Reasons: slices.Clone(a.Reasons), Outcome: a.Outcome,
	}
}

func milli(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// Ask is a requested launch.
type Ask struct {
	Sequence    int
	WrittenAt   time.Time // when its pending launch was recorded
	Count       int
	Offering    Offering
	ChargeType  string
	Price       string
	Currency    string
	InstanceIDs []string
}

func (a About) asked(kind Kind, l Ask) Event {
	e := a.event(kind, strconv.Itoa(l.Sequence), milli(l.WrittenAt))
	e.Count, e.Offering, e.ChargeType, e.InstanceIDs = l.Count, &l.Offering, l.ChargeType, slices.Clone(l.InstanceIDs)
	e.Price, e.Currency = l.Price, l.Currency
	return e
}

// Launched returns the event of a launch that Tencent Cloud accepted.
func (a About) Launched(l Ask) Event { return a.asked(Launch, l) }

// Refused returns the event of a launch that Tencent Cloud refused.
func (a About) Refused(l Ask, why Error) Event {
	e := a.asked(Refused, l)
	e.Error = &why
	return e
}

// Instance is an instance in events.
type Instance struct {
	ID         string
	Offering   Offering
	ChargeType string
	Price      string
	Currency   string
}

// Instance returns a [Begin], [Reclaim], [Lost], [End] or [Detach] of an instance.
func (a About) Instance(kind Kind, i Instance) Event {
	e := a.event(kind, i.ID)
	e.Count, e.InstanceIDs, e.Offering, e.ChargeType = 1, []string{i.ID}, &i.Offering, i.ChargeType
	e.Price, e.Currency = i.Price, i.Currency
	return e
}

// Instances returns a [Terminate] or [Adopt] of instances.
func (a About) Instances(kind Kind, ids ...string) Event {
	e := a.event(kind, slices.Sorted(slices.Values(ids))...)
	e.Count, e.InstanceIDs = len(ids), slices.Clone(ids)
	return e
}

// Declaration returns a [Create], [Delete] or [Destroy] of the object's declaration.
func (a About) Declaration(kind Kind) Event { return a.event(kind) }

// Updated returns the event of a changed declaration.
func (a About) Updated(generation int64) Event {
	return a.event(Update, strconv.FormatInt(generation, 10))
}

// Since returns an event of a state that began at a moment: [Freeze], [Frozen], [Exceeded],
// [GateClosed] or [Suspend]. It also returns the event of its end: [Unfreeze], [Recovered],
// [GateOpened] or [Unsuspend].
func (a About) Since(kind Kind, since time.Time) Event { return a.event(kind, milli(since)) }

// Workload returns a [Pause] or [Resume] of a workload that is or was stopped since a moment. It
// also returns a [Revert] or [Scale] at a moment, which is zero for a Revert of a deleted one.
func (a About) Workload(kind Kind, w Identity, at time.Time) Event {
	e := a.event(kind, w.UID, milli(at))
	e.Workloads = []Identity{w}
	return e
}

// Paused returns the event of the outcome of a pause that was requested at a moment.
func (a About) Paused(w Identity, requested time.Time, how string) Event {
	e := a.event(Paused, w.UID, milli(requested), how)
	e.Workloads, e.Outcome = []Identity{w}, how
	return e
}

// Evict returns the event of a requested eviction.
func (a About) Evict(pod Identity) Event {
	e := a.event(Evict, pod.UID)
	e.Pods = []Identity{pod}
	return e
}

// Evicted returns the event of an eviction's outcome.
func (a About) Evicted(pod Identity, how string) Event {
	e := a.event(Evicted, pod.UID, how)
	e.Pods, e.Outcome = []Identity{pod}, how
	return e
}

// Crossed returns the event of a budget's usage that reached a threshold at a moment.
func (a About) Crossed(threshold int, at time.Time) Event {
	e := a.event(Threshold, strconv.Itoa(threshold), milli(at))
	e.Threshold = threshold
	return e
}

// Priced returns the event of a changed price of an offering in use. The old price was known since
// a moment.
func (a About) Priced(o Offering, chargeType, price, currency string, since time.Time) Event {
	e := a.event(Price, o.AvailabilityZone, o.InstanceType, chargeType, price, milli(since))
	e.Offering, e.ChargeType, e.Price, e.Currency = &o, chargeType, price, currency
	return e
}

// run identifies a run; an apply, which has no ID, by its time.
func (a About) run() string {
	if a.RunID == "" {
		return milli(a.At)
	}
	return a.RunID
}

// Failed returns the event of a failure of a pool or a budget in a run.
func (a About) Failed(what Error) Event {
	key := []string{a.run(), what.Class, what.Code}
	if what.Code == "" {
		key = append(key, what.Message)
	}
	e := a.event(Failed, key...)
	e.Error = &what
	return e
}

// RunFailed returns the event of a failed run.
func (a About) RunFailed(what Error) Event {
	e := a.event(RunFailed, a.run())
	e.Error = &what
	return e
}

// Exception returns a [Grant] or [Hold] until a moment, or a [Release], by the ID of the grant or
// the hold.
func (a About) Exception(kind Kind, id string, until time.Time) Event {
	e := a.event(kind, id)
	e.Until = moment(until)
	return e
}

// Lost returns the event of an unreadable document.
func (a About) Lost(document string, why Error) Event {
	e := a.event(Loss, document)
	e.Error = &why
	return e
}

// Name returns an object's name for people: without its kind, unless it has no other part.
func Name(object string) string {
	if _, name, found := strings.Cut(object, "/"); found {
		return name
	}
	return object
}
