package decide

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// uncertainty is the facts about usage that the ledger does not know.
type uncertainty struct{ *facts }

// unknown returns what was known when the declared limit was reached, if the ledger now lacks a part of the
// window. Usage may then be below the limit only because of that part. It stays until the window is past the
// missing part.
func (f uncertainty) unknown() *budget.Unknown {
	if f.usage.Exceeded() {
		return nil
	}
	if len(f.Result.Lost) > 0 && f.previous.UID != "" {
		if u := f.unknownByLoss(); u != nil {
			return u
		}
	}
	return f.unknownBefore()
}

func (f uncertainty) unknownByLoss() *budget.Unknown {
	before := budget.Unknown{Consumed: f.previous.Usage.Consumed, At: f.previous.At}
	if earlier := f.previous.Unknown; earlier != nil && earlier.Consumed >= before.Consumed {
		before = *earlier
	}
	if before.Consumed < f.usage.Limit {
		return f.unknownByMissing()
	}
	before.Reason = reason.UnknownByLoss(documents(f.Result.Lost), hours(before.Consumed), hours(f.usage.Limit), reason.Instant{Time: before.At})
	return &before
}

// unknownByMissing is unknown for a limit that was not reached before the loss, and that may be
// reached now with the missing usage.
func (f uncertainty) unknownByMissing() *budget.Unknown {
	missing := f.status.Missing
	if missing == 0 || f.usage.Consumed < f.usage.Limit-missing {
		return nil
	}
	return &budget.Unknown{
		Consumed: f.usage.Consumed, At: f.status.At,
		Reason: reason.UnknownByMissing(documents(f.Result.Lost), f.used(), hours(missing)),
	}
}

// missing returns by how much usage fell, at most, when a part of the ledger was lost. The window may
// have moved, too.
func (f uncertainty) missing() int64 {
	if len(f.Result.Lost) == 0 || f.previous.UID == "" || f.previous.Counted != f.status.Counted {
		return 0
	}
	if f.Declaration.Period != "" && f.previous.At.Before(f.usage.WindowStart) {
		return 0 // that was counted in another period
	}
	return max(f.previous.Missing, f.previous.Usage.Consumed-f.usage.Consumed)
}

// unknownBefore is unknown for a window that begins before the ledger: the ledger is new, or dropped
// what no window needed. Usage that falls below the limit under a new ledger is known, and so is a
// limit that was raised above usage. Another window or selector is not.
func (f uncertainty) unknownBefore() *budget.Unknown {
	since, previous := f.Result.KnownSince, f.previous
	exceeded := previous.UID != "" && previous.Usage.Exceeded() || previous.Unknown != nil
	if since == nil || !exceeded && !f.enforced() {
		return nil
	}
	before := budget.Unknown{Consumed: previous.Usage.Consumed, At: previous.At}
	switch {
	case previous.UID == "":
		before = budget.Unknown{Consumed: f.usage.Consumed, At: f.status.At}
	case previous.Unknown != nil:
		before = *previous.Unknown
	}
	if previous.UID != "" && previous.Counted == f.status.Counted {
		known := previous.Unknown == nil || before.Consumed >= previous.Usage.Limit
		if known && before.Consumed < f.usage.Limit || previous.Unknown == nil && !f.Result.Forgotten {
			return nil
		}
	}
	before.Reason = reason.UnknownBefore(reason.Instant{Time: f.usage.WindowStart}, reason.Instant{Time: *since})
	return &before
}
