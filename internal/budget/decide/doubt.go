package decide

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// doubt returns why nothing destructive is done although the limit is reached, or "". If part of the ledger
// is lost, or observation was interrupted for too long, only certain usage counts: it must reach the limit.
func (f *facts) doubt() string {
	certain, lost, most := f.usage.Certain(), f.Result.Lost, f.Declaration.Enforce.LongestGap()
	switch {
	case f.Result.EndsLost:
		return "part of the ledger with the ends of pods is lost, " + wording.Some(lost) + ". " + acceptLoss
	case certain >= f.usage.Limit:
		return ""
	case len(lost) > 0:
		return fmt.Sprintf("%s of %s GPU-hours are certain, the rest is estimated, and part of the ledger is lost, %s. %s", budget.Hours(certain),
			budget.Hours(f.usage.Limit), wording.Some(lost), acceptLoss)
	case f.Result.LongestGap <= most:
		return ""
	}
	return fmt.Sprintf("%s of %s GPU-hours are certain, the rest is estimated, and nothing was observed for %s, longer than max_gap %s",
		budget.Hours(certain), budget.Hours(f.usage.Limit), duration.Words(f.Result.LongestGap), duration.Words(most))
}

const acceptLoss = "Restore the ledger's documents from a copy, or continue without them: gpupool reconcile --accept-loss REASON"

// withhold warns that nothing destructive is done.
func withhold(f *facts) (r result) {
	r.withheld = f.doubt()
	r.warnf("nothing is %s: %s", f.Declaration.Enforce.Action.Past(), r.withheld)
	return r
}

// warn warns of uncertain usage, and of what the cluster does not have.
func warn(f *facts) (r result) {
	for _, lost := range f.Result.Lost {
		r.warnf("part of the ledger is lost, so usage may be higher: %s", lost)
	}
	if len(f.Result.Lost) > 0 && f.status.Unknown != nil {
		r.warnf("with gpupool reconcile --accept-loss REASON, only %s: everything in force is lifted, and pools that name the budget launch. Add --dry-run "+
			"to preview it", f.used())
	}
	if f.Result.Forgotten {
		r.warnf("the window begins at %s, but usage that ended before %s was already dropped when no window needed it: usage may be higher",
			wording.Instant(f.usage.WindowStart), wording.Instant(*f.Result.KnownSince))
	}
	if f.usage.Unconfirmed > 0 {
		r.warnf("%s of the %s GPU-hours are unconfirmed: their pods are on nodes that were never observed, or request more than any node has. "+
			"They enforce nothing",
			budget.Hours(f.usage.Unconfirmed), budget.Hours(f.usage.Consumed))
	}
	if f.Result.Unbounded {
		r.warnf("usage in an observation gap has no known bound: it may be higher than the error bound")
	}
	for _, text := range budget.LostPauses(f.Lost) {
		r.warnf("%s", text)
	}
	for _, doubt := range f.ClusterDoubts {
		r.warnf("%s", doubt)
	}
	if len(f.Result.Overlaps) > 0 && f.Declaration.Enforce.Action != budget.AlertOnly {
		r.warnf("some of its pods count for %s, too: each budget enforces its own limit on them", wording.Some(f.Result.Overlaps))
	}
	return r
}
