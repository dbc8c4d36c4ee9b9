package history

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What makes an event the same as another: its kind, the uid of its object, and
//
//	launch, refused         the intent: its sequence, and when it was written down
//	begin, reclaim, end     the instance
//	terminate, adopt        the instances
//	create, destroy         nothing more
//	update                  the generation
//	freeze, unfreeze        since when it is, or was, frozen
//	pause, resume           the workload, and since when it is, or was, paused
//	mend, scale             the workload, and when it was
//	evict                   the pod
//	threshold               the threshold, and when it was crossed
//	exceeded, recovered     since when it is, or was, exceeded
//	gate_closed, _opened    since when the gate is, or was, closed
//	price                   the market, the new price, and since when the old one was known
//	failed                  the run, and what failed
//	run_failed              the run
//	grant, hold, release    the grant or the hold
//	loss                    the document
//	join                    the instance
//	replace                 the instance, and since when it is replaced
//	notice                  the instance, and when it is taken
//	drain, uncordon         the instance, its node's uid, and when the drain was asked for
//	drained                 the same, and how it ended
//	delete_node             the node's uid

// About is what every event tells.
type About struct {
	At                time.Time
	Object, ObjectUID string
	ClusterUID        string
	RunID, Actor      string
	Reasons           []string
	Outcome           string
}

// Run is the object of what is about a whole run.
const Run = "run"

// event makes an event of a kind; the key is what tells it from others of its kind
// and object.
//
// It happened in a second, and not at a finer moment: the clocks of the cloud and of
// clusters tell no more, and what follows from what could not be told beside others.
func (a About) event(kind Kind, key ...string) Event {
	uid := a.ObjectUID
	if uid == "" {
		uid = a.Object
	}
	h := sha256.New()
	for _, part := range append([]string{string(kind), uid}, key...) {
		_, _ = h.Write([]byte(strconv.Itoa(len(part)) + ":" + part)) // never fails
	}
	return Event{
		ID: hex.EncodeToString(h.Sum(nil)[:8]), At: moment(a.At.Truncate(time.Second)), Kind: kind, Object: a.Object, ObjectUID: a.ObjectUID,
		ClusterUID: a.ClusterUID, RunID: a.RunID, Actor: a.Actor, Reasons: slices.Clone(a.Reasons), Outcome: a.Outcome,
	}
}

func milli(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// Ask is a launch that was asked for.
type Ask struct {
	Sequence    int
	WrittenAt   time.Time // when its intent was written down
	Count       int
	Offering    Offering
	ChargeType  string
	Price       string
	InstanceIDs []string
}

func (a About) asked(kind Kind, l Ask) Event {
	e := a.event(kind, strconv.Itoa(l.Sequence), milli(l.WrittenAt))
	e.Count, e.Offering, e.ChargeType, e.Price, e.InstanceIDs = l.Count, &l.Offering, l.ChargeType, l.Price, slices.Clone(l.InstanceIDs)
	return e
}

// Launched tells that the cloud took a launch.
func (a About) Launched(l Ask) Event { return a.asked(Launch, l) }

// Refused tells that it did not.
func (a About) Refused(l Ask, why Error) Event {
	e := a.asked(Refused, l)
	e.Error = &why
	return e
}

// Instance is an instance as events tell of it.
type Instance struct {
	ID         string
	Offering   Offering
	ChargeType string
	Price      string
}

func (a About) instance(kind Kind, i Instance) Event {
	e := a.event(kind, i.ID)
	e.Count, e.InstanceIDs, e.Offering, e.ChargeType, e.Price = 1, []string{i.ID}, &i.Offering, i.ChargeType, i.Price
	return e
}

// Begun tells that an instance came.
func (a About) Begun(i Instance) Event { return a.instance(Begin, i) }

// Reclaimed tells that the cloud took an instance back.
func (a About) Reclaimed(i Instance) Event { return a.instance(Reclaim, i) }

// Ended tells that an instance ended otherwise.
func (a About) Ended(i Instance) Event { return a.instance(End, i) }

func (a About) instances(kind Kind, ids []string) Event {
	e := a.event(kind, slices.Sorted(slices.Values(ids))...)
	e.Count, e.InstanceIDs = len(ids), slices.Clone(ids)
	return e
}

// Terminated tells that instances were asked to end.
func (a About) Terminated(ids ...string) Event { return a.instances(Terminate, ids) }

// Adopted tells that instances were taken into a pool.
func (a About) Adopted(ids ...string) Event { return a.instances(Adopt, ids) }

// Created tells that a pool or a budget was declared.
func (a About) Created() Event { return a.event(Create) }

// Updated tells that its declaration changed.
func (a About) Updated(generation int64) Event {
	return a.event(Update, strconv.FormatInt(generation, 10))
}

// Destroyed tells that it was destroyed.
func (a About) Destroyed() Event { return a.event(Destroy) }

// Frozen tells that a budget keeps new pods out since a moment.
func (a About) Frozen(since time.Time) Event { return a.event(Freeze, milli(since)) }

// Unfrozen tells that it no longer does.
func (a About) Unfrozen(since time.Time) Event { return a.event(Unfreeze, milli(since)) }

func (a About) workload(kind Kind, w Identity, since time.Time) Event {
	e := a.event(kind, w.UID, milli(since))
	e.Workloads = []Identity{w}
	return e
}

// Paused tells that a workload is stopped since a moment.
func (a About) Paused(w Identity, since time.Time) Event { return a.workload(Pause, w, since) }

// Resumed tells that it no longer is.
func (a About) Resumed(w Identity, since time.Time) Event { return a.workload(Resume, w, since) }

// Mended tells that what somebody changed of a workload was undone at a moment; zero
// where all of it was gone.
func (a About) Mended(w Identity, at time.Time) Event { return a.workload(Mend, w, at) }

// Scaled tells that a workload got another number of pods at a moment.
func (a About) Scaled(w Identity, at time.Time) Event { return a.workload(Scale, w, at) }

// Evicted tells that a pod was evicted.
func (a About) Evicted(pod Identity) Event {
	e := a.event(Evict, pod.UID)
	e.Pods = []Identity{pod}
	return e
}

// Crossed tells that a budget's use reached a threshold at a moment.
func (a About) Crossed(threshold int, at time.Time) Event {
	e := a.event(Threshold, strconv.Itoa(threshold), milli(at))
	e.Threshold = threshold
	return e
}

// Exceeded tells that a budget is used up since a moment.
func (a About) Exceeded(since time.Time) Event { return a.event(Exceeded, milli(since)) }

// Recovered tells that it no longer is.
func (a About) Recovered(since time.Time) Event { return a.event(Recovered, milli(since)) }

// GateClosed tells that a pool may not launch since a moment.
func (a About) GateClosed(since time.Time) Event { return a.event(GateClosed, milli(since)) }

// GateOpened tells that it may again.
func (a About) GateOpened(since time.Time) Event { return a.event(GateOpened, milli(since)) }

// Priced tells what an offering in use costs now, and that it was known to cost
// something else since a moment.
func (a About) Priced(o Offering, chargeType, price string, since time.Time) Event {
	e := a.event(Price, o.AvailabilityZone, o.InstanceType, chargeType, price, milli(since))
	e.Offering, e.ChargeType, e.Price = &o, chargeType, price
	return e
}

// run tells one run from another; an apply, which has no id, by its time.
func (a About) run() string {
	if a.RunID == "" {
		return milli(a.At)
	}
	return a.RunID
}

// Failed tells that something about a pool or a budget failed in a run.
func (a About) Failed(what Error) Event {
	key := []string{a.run(), what.Class, what.Code}
	if what.Code == "" {
		key = append(key, what.Message)
	}
	e := a.event(Failed, key...)
	e.Error = &what
	return e
}

// RunFailed tells that a whole run failed.
func (a About) RunFailed(what Error) Event {
	e := a.event(RunFailed, a.run())
	e.Error = &what
	return e
}

// Granted tells that a person added hours to a budget, by the grant's id.
func (a About) Granted(id string, until time.Time) Event { return a.until(Grant, id, until) }

// Held tells that a person keeps a pool as it is, by the hold's id.
func (a About) Held(id string, until time.Time) Event { return a.until(Hold, id, until) }

// Released tells that a grant or a hold ended, by itself or early, by its id.
func (a About) Released(id string) Event { return a.until(Release, id, time.Time{}) }

func (a About) until(kind Kind, id string, until time.Time) Event {
	e := a.event(kind, id)
	e.Until = moment(until)
	return e
}

// Lost tells that a document could not be read.
func (a About) Lost(document string, why Error) Event {
	e := a.event(Loss, document)
	e.Error = &why
	return e
}

// Name is what people call an object: without its kind, unless it has no more.
func Name(object string) string {
	if _, name, found := strings.Cut(object, "/"); found {
		return name
	}
	return object
}
