package decide

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// freeze decides to block new GPU pods, or ensures that they are blocked.
func freeze(f *facts) (r result) {
	r.FreezeRecoversAt = f.freezeEnds()
	if f.Frozen && !f.FreezeOutdated {
		r.EnsureFreeze = true
		return r
	}
	reasons := append(f.reasons(), f.recovery()...)
	if gone := f.freezeGone(); !gone.IsZero() {
		r.warn(gone)
		reasons = append(reasons, gone)
		f.status.Unreported = append(f.status.Unreported, aboutStatus(&f.status, gone).Since(history.Unfreeze, *f.status.FrozenSince))
		f.status.FrozenSince = nil
	}
	if f.Frozen {
		reasons = append(reasons, reason.OtherSelector())
	}
	r.decide(budget.Decision{Kind: budget.KindFreeze, Namespaces: f.namespaces(), Reasons: reasons})
	return r
}

// freezeGone says that another process lifted the freeze, and which, if known.
func (f *facts) freezeGone() reason.Reason {
	since := f.status.FrozenSince
	if since == nil || f.Frozen || f.Unseen {
		return reason.Reason{}
	}
	at := reason.Instant{Time: f.previous.At}
	if w := f.FreezeSlots; w.At.After(*since) {
		return reason.FreezeGoneBy(at, reason.NewForeign(w.Manager), reason.Instant{Time: w.At})
	}
	return reason.FreezeGone(at)
}

// The precision of the end that a freeze announces.
const (
	// roundEnd is the unit to which it is rounded up.
	roundEnd = 5 * time.Minute
	// endTolerance is the part of the remaining time by which it may be wrong.
	endTolerance = 10
)

// freezeEnds returns the end that the freeze announces.
func (f *facts) freezeEnds() time.Time {
	return announcedEnd(f.FreezeRecoversAt, f.usage.RecoversAt, f.Now)
}

// announcedEnd returns the end that a freeze announces: the present one if it is close enough. While
// pods run, the recovery moves with each run, and all API servers reload a freeze that changes.
func announcedEnd(named time.Time, recovers *time.Time, now time.Time) time.Time {
	if recovers == nil {
		return time.Time{}
	}
	enough := max(roundEnd, recovers.Sub(now)/endTolerance)
	if named.After(now) && named.Sub(*recovers).Abs() <= enough {
		return named
	}
	return recovers.Add(roundEnd - 1).Truncate(roundEnd).UTC()
}
