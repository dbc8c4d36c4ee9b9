package decide

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// unknown says whether the limit, as it is declared now, was reached, and a part
// of the window is not in the ledger: that usage is below it now may be for that.
// What was known then stays so until the window is past what is missing.
func (f *facts) unknown() *budget.Unknown {
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

func (f *facts) unknownByLoss() *budget.Unknown {
	before := budget.Unknown{Consumed: f.previous.Usage.Consumed, At: f.previous.At}
	if earlier := f.previous.Unknown; earlier != nil && earlier.Consumed >= before.Consumed {
		before = *earlier
	}
	if before.Consumed < f.usage.Limit {
		return f.unknownByMissing()
	}
	before.Reason = fmt.Sprintf("the ledger was lost in part (%s), and before, at %s, %s of %s GPU-hours were used: whether usage has fallen since is not "+
		"known until the window is past what was lost. %s, or raise the limit above what was used",
		wording.Some(f.Result.Lost), wording.Instant(before.At), budget.Hours(before.Consumed), budget.Hours(f.usage.Limit), acceptLoss)
	return &before
}

// unknownByMissing is unknown where the limit was not reached before the loss, and may be
// by now, with what the ledger lacks since.
func (f *facts) unknownByMissing() *budget.Unknown {
	missing := f.status.Missing
	if missing == 0 || f.usage.Consumed < f.usage.Limit-missing {
		return nil
	}
	return &budget.Unknown{
		Consumed: f.usage.Consumed, At: f.status.At,
		Reason: fmt.Sprintf("the ledger was lost in part (%s): %s are counted, and up to %s more that were counted before the loss are not, so that the "+
			"limit may be reached. %s, or raise the limit",
			wording.Some(f.Result.Lost), f.used(), budget.Hours(missing), acceptLoss),
	}
}

// missing is by how much usage fell when a part of the ledger was lost, at most: the
// window may have slid as well.
func (f *facts) missing() int64 {
	if len(f.Result.Lost) == 0 || f.previous.UID == "" || f.previous.Counted != f.status.Counted {
		return 0
	}
	if f.Declaration.Period != "" && f.previous.At.Before(f.usage.WindowStart) {
		return 0 // what was counted then is of another period
	}
	return max(f.previous.Missing, f.previous.Usage.Consumed-f.usage.Consumed)
}

// unknownBefore is unknown where the window begins before the ledger does: it was
// just begun, or what no window reached back to was dropped. What falls below the
// limit by itself while a new ledger goes on is not in question, nor is a limit
// that was raised above what was used; another window or other pods are.
func (f *facts) unknownBefore() *budget.Unknown {
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
	before.Reason = fmt.Sprintf("the window begins at %s, and the ledger at %s: whether usage is below the limit is not known before the ledger covers the "+
		"window. Until then a shorter window, the action alert_only, or gpupool reconcile --accept-loss REASON lifts what is in force",
		wording.Instant(f.usage.WindowStart), wording.Instant(*since))
	return &before
}
