package cvmsim

import (
	"fmt"
	"time"
)

// What a reclaimed instance looks like in DescribeInstances is not documented;
// these are the three ways that it can.
const (
	ViewVanish      = "vanish"      // gone at once
	ViewTerminating = "terminating" // TERMINATING, then gone
	ViewShutdown    = "shutdown"    // SHUTDOWN and isolated, then gone
)

// ReclaimRequest says which spot instances the cloud takes back: by ids, or
// Count of a pool.
type ReclaimRequest struct {
	InstanceIDs []string `json:"instance_ids,omitempty"`
	Pool        string   `json:"pool,omitempty"`
	// Region narrows Pool to one region.
	Region string `json:"region,omitempty"`
	// Count is how many of the pool, oldest first; 0 means 1.
	Count int `json:"count,omitempty"`
	// Notice is how long before the metadata service announces it; 0 means
	// that it happens at once.
	Notice Duration `json:"notice,omitempty"`
	// View is what it looks like afterwards; empty means ViewVanish.
	View string `json:"view,omitempty"`
	// Linger is how long the other two views last; 0 means the terminate
	// delay.
	Linger Duration `json:"linger,omitempty"`
}

// Reclaim takes instances back and returns their ids.
func (p *Panel) Reclaim(r ReclaimRequest) ([]string, error) {
	if r.View == "" {
		r.View = ViewVanish
	}
	if r.View != ViewVanish && r.View != ViewTerminating && r.View != ViewShutdown {
		return nil, fieldError("view", "must be vanish, terminating or shutdown, not %q", r.View)
	}
	if r.Notice < 0 {
		return nil, fieldError("notice", "must not be negative")
	}
	if r.Linger < 0 {
		return nil, fieldError("linger", "must not be negative")
	}
	var ids []string
	err := p.keeper.Change(func(w *world) error {
		now := w.now()
		w.advance(now)
		chosen, err := chooseReclaimed(w, r)
		if err != nil {
			return err
		}
		for _, in := range chosen {
			ids = append(ids, in.ID)
			w.announceReclaim(in, now.Add(time.Duration(r.Notice)), r.View, r.Linger)
		}
		w.advance(now)
		return nil
	})
	return ids, err
}

func chooseReclaimed(w *world, r ReclaimRequest) ([]*instance, error) {
	if (len(r.InstanceIDs) == 0) == (r.Pool == "") {
		return nil, fieldError("instance_ids", "give either instance_ids or pool")
	}
	if len(r.InstanceIDs) > 0 {
		if r.Count != 0 {
			return nil, fieldError("count", "goes with pool, not with instance_ids")
		}
		return reclaimableByID(w, r.InstanceIDs)
	}
	count := r.Count
	if count == 0 {
		count = 1
	}
	if count < 0 {
		return nil, fieldError("count", "must be above 0")
	}
	var chosen []*instance
	for _, in := range w.ordered() {
		if len(chosen) < count && in.finalTag(poolTag) == r.Pool && fits(r.Region, in.Region) && reclaimable(in) == "" {
			chosen = append(chosen, in)
		}
	}
	if len(chosen) < count {
		return nil, fieldError("count", "the pool %q has %d spot instances that can be reclaimed, not %d", r.Pool, len(chosen), count)
	}
	return chosen, nil
}

func reclaimableByID(w *world, ids []string) ([]*instance, error) {
	chosen := make([]*instance, len(ids))
	for i, id := range ids {
		in := w.instance(id)
		if in == nil {
			return nil, fieldError("instance_ids", "there is no instance %q", id)
		}
		if why := reclaimable(in); why != "" {
			return nil, fieldError("instance_ids", "%s %s", id, why)
		}
		chosen[i] = in
	}
	return chosen, nil
}

// reclaimable says why an instance can't be reclaimed, or "".
func reclaimable(in *instance) string {
	switch {
	case in.ChargeType != chargeSpot:
		return fmt.Sprintf("is %s, and only spot instances are reclaimed", in.ChargeType)
	case in.State == stateTerminating || in.State == stateLaunchFailed || in.State == stateShutdown:
		return "is " + in.State
	case !in.ReclaimAt.IsZero():
		return "is being reclaimed already"
	}
	return ""
}

// announceReclaim sets when the cloud takes an instance back, and what it
// looks like then, for how long.
func (w *world) announceReclaim(in *instance, at time.Time, view string, linger Duration) {
	in.ReclaimAt, in.ReclaimView, in.Linger = at, view, linger
	w.touch(in.key())
	w.schedule(in.ReclaimAt, in.ID, eventReclaim)
}

// reclaim takes an instance back. Its place does not go back on sale: the
// cloud wanted it for somebody else.
func (w *world) reclaim(in *instance, at time.Time) {
	view, linger := in.ReclaimView, time.Duration(in.Linger)
	if linger == 0 {
		linger = w.settings.TerminateDelay
	}
	if view == ViewVanish {
		w.remove(in)
		return
	}
	w.beginTermination(in, at, "TerminateInstances")
	in.Restock = false
	in.OperationRequestID = ""
	if view == ViewShutdown {
		in.State, in.IsolatedSource, in.OperationState = stateShutdown, "EXPIRE", "SUCCESS"
	}
	in.GoneAt = at.Add(linger)
	w.schedule(in.GoneAt, in.ID, eventGone)
}
