package decide

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// topUp launches up to the minimum: on-demand up to on_demand_base, then the declared charge
// type. It launches on-demand again if spot has failed for long enough.
func topUp(v View, t Tally) (_ Tally, r Result) {
	missing := v.Declaration.Minimum - t.coming
	if missing <= 0 {
		return t, r
	}
	because := shortfallReason(v, t)
	if code, why := v.heldBack(); code != "" {
		r.short(code, why)
		return t, r
	}
	if room := t.room(v); room < missing {
		r.because(noRoomReason(v, t, missing-room))
		missing = room
	}
	filled, more := fill(v, t, missing, t.byCharge[spotpool.OnDemand], false, because)
	r.add(more)
	instead, more := fallBack(v, filled, missing-(filled.launched-t.launched), because)
	r.add(more)
	return instead, r
}

// fill launches up to n instances: on-demand while onDemand is below the base, and the rest
// of the declared charge type.
func fill(v View, t Tally, n, onDemand int, refresh bool, because reason.Reason) (Tally, Result) {
	d := v.Declaration
	var r Result
	most := t.launched + n
	if base := min(n, d.OnDemandBase-onDemand); base > 0 && d.InstanceChargeType == spotpool.Spot {
		t, r = launch(v, t, base, spotpool.OnDemand, refresh, because, onDemandBaseReason(d))
	}
	t, rest := launch(v, t, most-t.launched, d.InstanceChargeType, refresh, because)
	r.add(rest)
	return t, r
}

// fallBack launches on-demand instances instead of n spot instances that are unavailable,
// once the pool has been short for long enough.
func fallBack(v View, t Tally, n int, because reason.Reason) (_ Tally, r Result) {
	d := v.Declaration
	f := d.OnDemandFallback
	if f == nil || n <= 0 || d.InstanceChargeType != spotpool.Spot {
		return t, r
	}
	since := v.Journal.ShortSince
	if since.IsZero() {
		since = v.Now // the pool is short only once this plan is carried out
	}
	if due := since.Add(time.Duration(f.After)); v.Now.Before(due) {
		r.short(spotpool.BecauseFallbackLater, reason.FallbackAt(reason.Instant{Time: due}))
		return t, r
	}
	standIns := max(0, t.byCharge[spotpool.OnDemand]-d.OnDemandBase)
	if standIns >= f.Maximum {
		r.short(spotpool.BecauseFallbackMaximum, reason.FallbackUsedUp(reason.Count(f.Maximum), reason.Count(standIns)))
		return t, r
	}
	return launch(v, t, min(n, f.Maximum-standIns), spotpool.OnDemand, false, because,
		reason.NoSpotSince(reason.Instant{Time: since}, reason.Duration(f.After)))
}

// shortfallReason says why the pool is below its minimum.
func shortfallReason(v View, t Tally) reason.Reason {
	var but reason.Clauses
	if len(v.interrupted) > 0 {
		but = append(but, reason.AsReclaimed(reclaimed(v.interrupted)))
	}
	if v.unseen > 0 {
		but = append(but, reason.MoreRequested(reason.Count(v.unseen)))
	}
	if ending := t.capacity + v.unseen - t.coming; ending > 0 {
		but = append(but, reason.ToBeTerminated(reason.Count(ending)))
	}
	capacity, minimum := reason.Count(t.capacity), reason.Count(v.Declaration.Minimum)
	if len(but) == 0 {
		return reason.BelowMinimum(capacity, minimum)
	}
	return reason.BelowMinimumBut(capacity, but, minimum)
}

// noRoomReason returns why n instances cannot be launched.
func noRoomReason(v View, t Tally, n int) spotpool.Reason {
	d, total := v.Declaration, t.total+t.launched
	if d.Maximum-total > d.MaxLaunchesPerRun-v.SoFar.Launched-t.launched {
		return spotpool.Reason{Code: spotpool.BecausePerRunCap, Why: reason.LaunchedByNextRun(reason.Count(d.MaxLaunchesPerRun), reason.Count(n))}
	}
	why, stuck := reason.NoRoom(reason.Count(total), reason.Count(d.Maximum), reason.Count(n)), 0
	for _, m := range t.members {
		if m.Condition == Stuck {
			stuck++
		}
	}
	if stuck >= n {
		return spotpool.Reason{
			Code: spotpool.BecauseLaunchTimeout, Why: reason.NoRoomWhileStarting(why, reason.Count(stuck), reason.Duration(d.LaunchTimeout)),
		}
	}
	return spotpool.Reason{Code: spotpool.BecauseMaximum, Why: why}
}
