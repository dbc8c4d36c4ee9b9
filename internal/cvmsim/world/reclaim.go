package world

import (
	"fmt"
	"time"
)

// The visible state of a reclaimed instance in DescribeInstances is not documented; these are the
// three possibilities.
const (
	ViewVanish      = "vanish"      // gone at once
	ViewTerminating = "terminating" // TERMINATING, then gone
	ViewShutdown    = "shutdown"    // SHUTDOWN and isolated, then gone
)

// Reclaimable returns why an instance cannot be reclaimed, or "".
func Reclaimable(in *Instance) string {
	switch {
	case in.ChargeType != ChargeSpot:
		return fmt.Sprintf("is %s, and only spot instances are reclaimed", in.ChargeType)
	case in.State == stateTerminating || in.State == stateLaunchFailed || in.State == StateShutdown:
		return "is " + in.State
	case !in.ReclaimAt.IsZero():
		return "is being reclaimed already"
	}
	return ""
}

// AnnounceReclaim sets when an instance is reclaimed, and its visible state after that.
func (w *World) AnnounceReclaim(in *Instance, at time.Time, view string, linger Duration) {
	in.ReclaimAt, in.ReclaimView, in.Linger = at, view, linger
	w.Instances.Changed(in)
	w.schedule(in.ReclaimAt, in.ID, eventReclaim)
}

// reclaim reclaims an instance. Its place is not for sale again: Tencent Cloud needed it for
// another customer.
func (w *World) reclaim(in *Instance, at time.Time) {
	view, linger := in.ReclaimView, time.Duration(in.Linger)
	if linger == 0 {
		linger = w.Settings.TerminateDelay
	}
	if view == ViewVanish {
		w.Remove(in)
		return
	}
	w.BeginTermination(in, at, "TerminateInstances")
	in.Restock = false
	in.OperationRequestID = ""
	if view == ViewShutdown {
		in.State, in.IsolatedSource, in.OperationState = StateShutdown, "EXPIRE", "SUCCESS"
	}
	in.GoneAt = at.Add(linger)
	w.schedule(in.GoneAt, in.ID, eventGone)
}
