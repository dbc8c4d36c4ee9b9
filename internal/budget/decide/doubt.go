package decide

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// doubt says why nothing destructive may be done, though the limit is reached;
// empty where it may. What was seen for certain must reach the limit alone where
// part of the ledger is lost, which makes that less and never more, and where
// observation was interrupted for longer than the budget allows.
func (f *facts) doubt() string {
	certain, lost, most := f.usage.Certain(), f.Result.Lost, f.Declaration.Enforce.LongestGap()
	switch {
	case f.Result.EndsLost:
		return "part of the ledger is lost, and with it when pods ended, " + wording.Some(lost) + ". " + acceptLoss
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

// acceptLoss says what a person can do about what can't be restored.
const acceptLoss = "Restore the ledger's documents from a copy, or go on without them by gpupool reconcile --accept-loss REASON"

// withhold says that nothing destructive is done, and why.
func withhold(f *facts) (r result) {
	r.withheld = f.doubt()
	r.warnf("nothing is %s: %s", f.Declaration.Enforce.Action.Past(), r.withheld)
	return r
}

// warn warns of what makes the usage itself uncertain, and of what is odd about whose it
// is.
func warn(f *facts) (r result) {
	for _, lost := range f.Result.Lost {
		r.warnf("part of the ledger is lost, so usage may be higher: %s", lost)
	}
	if len(f.Result.Lost) > 0 && f.status.Unknown != nil {
		r.warnf("gpupool reconcile --accept-loss REASON counts no more than that %s: it lifts what is in force, and pools that name the budget launch; with "+
			"--dry-run it only prints that", f.used())
	}
	if f.Result.Forgotten {
		r.warnf("the window begins at %s, and what ended before %s is forgotten, since no window reached back to it then: usage may be higher",
			wording.Instant(f.usage.WindowStart), wording.Instant(*f.Result.KnownSince))
	}
	if f.usage.Unshown > 0 {
		r.warnf("%s of the %s GPU-hours are of pods whose nodes were never seen, or that request more than any node has: nothing is enforced because of them",
			budget.Hours(f.usage.Unshown), budget.Hours(f.usage.Consumed))
	}
	if f.Result.Unbounded {
		r.warnf("nothing bounds what was used in a gap of observation: usage may be higher than the error bound says")
	}
	for _, doubt := range f.SelectorDoubts {
		r.warnf("%s", doubt)
	}
	if len(f.Result.Overlaps) > 0 && f.Declaration.Enforce.Action != budget.AlertOnly {
		r.warnf("some of its pods count for %s as well: each budget enforces its own limit on them", wording.Some(f.Result.Overlaps))
	}
	return r
}
