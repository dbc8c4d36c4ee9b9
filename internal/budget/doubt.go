package budget

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// doubt says why nothing destructive may be done, though the limit is reached;
// empty where it may. What was seen for certain must reach the limit alone where
// part of the ledger is lost, which makes that less and never more, and where
// observation was interrupted for longer than the budget allows.
func (d *decider) doubt() string {
	certain, lost := d.usage.certain(), d.Result.Lost
	switch {
	case d.Result.EndsLost:
		return "part of the ledger is lost, and with it when pods ended, " + wording.Some(lost) + ". " + acceptLoss
	case certain >= d.usage.Limit:
		return ""
	case len(lost) > 0:
		return fmt.Sprintf("%s of %s GPU-hours are certain, the rest is estimated, and part of the ledger is lost, %s. %s", Hours(certain),
			Hours(d.usage.Limit), wording.Some(lost), acceptLoss)
	case d.Result.LongestGap <= d.Declaration.Enforce.maxGap():
		return ""
	}
	return fmt.Sprintf("%s of %s GPU-hours are certain, the rest is estimated, and nothing was observed for %s, longer than max_gap %s", Hours(certain),
		Hours(d.usage.Limit), duration.Words(d.Result.LongestGap), duration.Words(d.Declaration.Enforce.maxGap()))
}

// certain reports whether the limit is reached by what was seen for certain alone.
func (d *decider) certain() bool { return d.usage.certain() >= d.usage.Limit && !d.Result.EndsLost }

// acceptLoss says what a person can do about what can't be restored.
const acceptLoss = "Restore the ledger's documents from a copy, or go on without them by gpupool reconcile --accept-loss REASON"

// unknown says whether the limit, as it is declared now, was reached, and a part
// of the window is not in the ledger: that usage is below it now may be for that.
// What was known then stays so until the window is past what is missing.
func (d *decider) unknown() *Unknown {
	switch {
	case d.usage.Exceeded():
		return nil
	case len(d.Result.Lost) > 0 && d.previous().UID != "":
		if u := d.unknownByLoss(); u != nil {
			return u
		}
	}
	return d.unknownBefore()
}

func (d *decider) unknownByLoss() *Unknown {
	before := Unknown{Consumed: d.Previous.Usage.Consumed, At: d.Previous.At}
	if earlier := d.Previous.Unknown; earlier != nil && earlier.Consumed >= before.Consumed {
		before = *earlier
	}
	if before.Consumed < d.usage.Limit {
		return d.unknownByMissing()
	}
	before.Reason = fmt.Sprintf("the ledger was lost in part (%s), and before, at %s, %s of %s GPU-hours were used: whether usage has fallen since is not "+
		"known until the window is past what was lost. %s, or raise the limit above what was used",
		wording.Some(d.Result.Lost), stamp(before.At), Hours(before.Consumed), Hours(d.usage.Limit), acceptLoss)
	return &before
}

// unknownByMissing is unknown where the limit was not reached before the loss, and may be
// by now, with what the ledger lacks since.
func (d *decider) unknownByMissing() *Unknown {
	missing := d.plan.Status.Missing
	if missing == 0 || plus(d.usage.Consumed, missing) < d.usage.Limit {
		return nil
	}
	return &Unknown{
		Consumed: d.usage.Consumed, At: d.plan.Status.At,
		Reason: fmt.Sprintf("the ledger was lost in part (%s): %s are counted, and up to %s more that were counted before the loss are not, so that the "+
			"limit may be reached. %s, or raise the limit",
			wording.Some(d.Result.Lost), d.used(), Hours(missing), acceptLoss),
	}
}

// missing is by how much usage fell when a part of the ledger was lost, at most: the
// window may have slid as well.
func (d *decider) missing() int64 {
	previous := d.previous()
	if len(d.Result.Lost) == 0 || previous.UID == "" || previous.Counted != d.plan.Status.Counted {
		return 0
	}
	if d.Declaration.Period != "" && previous.At.Before(d.usage.WindowStart) {
		return 0 // what was counted then is of another period
	}
	return max(previous.Missing, previous.Usage.Consumed-d.usage.Consumed)
}

// unknownBefore is unknown where the window begins before the ledger does: it was
// just begun, or what no window reached back to was dropped. What falls below the
// limit by itself while a new ledger goes on is not in question, nor is a limit
// that was raised above what was used; another window or other pods are.
func (d *decider) unknownBefore() *Unknown {
	since, previous := d.Result.KnownSince, d.previous()
	exceeded := previous.UID != "" && previous.Usage.Exceeded() || previous.Unknown != nil
	if since == nil || !exceeded && !d.enforced() {
		return nil
	}
	before := Unknown{Consumed: previous.Usage.Consumed, At: previous.At}
	switch {
	case previous.UID == "":
		before = Unknown{Consumed: d.usage.Consumed, At: d.plan.Status.At}
	case previous.Unknown != nil:
		before = *previous.Unknown
	}
	if previous.UID != "" && previous.Counted == d.plan.Status.Counted {
		known := previous.Unknown == nil || before.Consumed >= previous.Usage.Limit
		if known && before.Consumed < d.usage.Limit || previous.Unknown == nil && !d.Result.Forgotten {
			return nil
		}
	}
	before.Reason = fmt.Sprintf("the window begins at %s, and the ledger at %s: whether usage is below the limit is not known before the ledger covers the "+
		"window. Until then a shorter window, the action alert_only, or gpupool reconcile --accept-loss REASON lifts what is in force",
		stamp(d.usage.WindowStart), stamp(*since))
	return &before
}

// enforced says whether a freeze or a pause of this budget is in force.
func (d *decider) enforced() bool { return d.Frozen || len(d.own()) > 0 }

// liftsNothing says whether all that is in force stays, since it is not known that usage
// fell below the limit.
func (d *decider) liftsNothing() bool {
	reason, enforced := "", d.enforced()
	switch {
	case d.usage.Exceeded() || d.Declaration.Enforce.Action == AlertOnly:
		return false
	case d.plan.Status.Unknown != nil:
		reason = d.plan.Status.Unknown.Reason
	case len(d.Result.Lost) > 0 && enforced && (d.Previous == nil || d.Previous.UID != d.Declaration.UID):
		reason = "the ledger was lost in part (" + wording.Some(d.Result.Lost) + "), and so was the last status"
	default:
		return false
	}
	d.plan.Status.Withheld = reason
	if enforced {
		reason = "nothing of what is in force is lifted: " + reason
	}
	d.warn("%s", reason)
	return true
}

// doubtWarnings say what makes the usage itself uncertain.
func (d *decider) doubtWarnings() {
	for _, lost := range d.Result.Lost {
		d.warn("part of the ledger is lost, so usage may be higher: %s", lost)
	}
	if len(d.Result.Lost) > 0 && d.plan.Status.Unknown != nil {
		d.warn("gpupool reconcile --accept-loss REASON counts no more than that %s: it lifts what is in force, and pools that name the budget launch; with "+
			"--dry-run it only prints that", d.used())
	}
	if d.Result.Forgotten {
		d.warn("the window begins at %s, and what ended before %s is forgotten, since no window reached back to it then: usage may be higher",
			stamp(d.usage.WindowStart), stamp(*d.Result.KnownSince))
	}
	if d.usage.Unshown > 0 {
		d.warn("%s of the %s GPU-hours are of pods whose nodes were never seen, and rest on these pods' word alone: nothing is enforced because of them",
			Hours(d.usage.Unshown), Hours(d.usage.Consumed))
	}
	if d.Result.Unbounded {
		d.warn("nothing bounds what was used in a gap of observation: usage may be higher than the error bound says")
	}
}
