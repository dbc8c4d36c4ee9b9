package budget

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

// doubt says why nothing destructive may be done, though the limit is reached;
// empty where it may. What was seen for certain must reach the limit alone where
// observation was interrupted for longer than the budget allows.
func (d *decider) doubt() string {
	if lost := d.Result.Lost; len(lost) > 0 {
		return "part of the ledger is lost, " + some(lost)
	}
	certain := d.usage.Consumed - d.usage.Estimated
	if certain >= d.usage.Limit || d.Result.LongestGap <= d.maxGap() {
		return ""
	}
	return fmt.Sprintf("%s of %s GPU-hours are certain, the rest is estimated, and nothing was observed for %s, longer than max_gap %s", Hours(certain), Hours(d.usage.Limit), duration.Words(d.Result.LongestGap), duration.Words(d.maxGap()))
}

// unknown says whether the limit, as it is declared now, was reached before a
// part of the ledger was lost that the window still holds: that usage is below it
// now may be the loss. What was known then stays so until the window is past it.
func (d *decider) unknown() *Unknown {
	if d.usage.Exceeded() || len(d.Result.Lost) == 0 || d.Previous == nil || d.Previous.UID != d.Declaration.UID {
		return nil
	}
	before := Unknown{Consumed: d.Previous.Usage.Consumed, At: d.Previous.At}
	if earlier := d.Previous.Unknown; earlier != nil && earlier.Consumed >= before.Consumed {
		before = *earlier
	}
	if before.Consumed < d.usage.Limit {
		return nil
	}
	before.Reason = fmt.Sprintf("the ledger was lost in part (%s), and before, at %s, %s of %s GPU-hours were used: whether usage has fallen since is not known until the window is past what was lost. Restore the ledger's documents from a copy, or raise the limit above what was used",
		some(d.Result.Lost), stamp(before.At), Hours(before.Consumed), Hours(d.usage.Limit))
	return &before
}

// holds says whether all that is in force stays, since it is not known that usage
// fell below the limit.
func (d *decider) holds() bool {
	reason, inForce := "", d.Frozen || len(d.own()) > 0
	switch {
	case d.usage.Exceeded() || len(d.Result.Lost) == 0:
		return false
	case d.plan.Status.Unknown != nil:
		reason = d.plan.Status.Unknown.Reason
	case inForce && (d.Previous == nil || d.Previous.UID != d.Declaration.UID):
		reason = "the ledger was lost in part (" + some(d.Result.Lost) + "), and so was the last status"
	default:
		return false
	}
	if inForce {
		reason = "nothing of what is in force is lifted: " + reason
	}
	d.warn("%s", reason)
	return true
}

func (d *decider) maxGap() time.Duration {
	gap, err := duration.Parse(or(d.Declaration.Enforce.MaxGap, DefaultMaxGap))
	if err != nil {
		return 0
	}
	return gap
}

// doubtWarnings say what makes the usage itself uncertain.
func (d *decider) doubtWarnings() {
	for _, lost := range d.Result.Lost {
		d.warn("part of the ledger is lost, so usage may be higher: %s", lost)
	}
	if d.Result.Unbounded {
		d.warn("nothing bounds what was used in a gap of observation: usage may be higher than the error bound says")
	}
}
