package decide

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// keepReason returns why everything in force stays: usage is not known to be below the limit. It
// returns "" if it is.
func (f *facts) keepReason() string {
	switch {
	case f.usage.Exceeded() || f.Declaration.Enforce.Action == budget.AlertOnly:
		return ""
	case f.status.Unknown != nil:
		return f.status.Unknown.Reason
	case len(f.Result.Lost) > 0 && f.enforced() && f.previous.UID == "":
		return "part of the ledger is lost (" + wording.Some(f.Result.Lost) + "), and so was the last status"
	}
	return ""
}

// liftNothing warns that nothing is lifted, and repairs the freeze. It leaves a freeze of another
// selector as it is: nothing more is frozen before usage is known.
func liftNothing(f *facts) (r result) {
	reason := f.keepReason()
	if r.withheld = reason; f.enforced() {
		reason = "nothing in force is lifted: " + reason
	}
	r.warnf("%s", reason)
	if f.Frozen && !f.FreezeOutdated {
		r.EnsureFreeze, r.FreezeRecoversAt = true, f.freezeEnds()
	}
	return r
}

// unfreeze decides to lift a freeze.
func unfreeze(f *facts) (r result) {
	if f.Frozen && !f.asks(budget.Freeze, budget.Evict) && !f.fallsBack() {
		r.decide(budget.Decision{Kind: budget.KindUnfreeze, Namespaces: f.namespaces(), Reasons: []string{f.liftReason()}})
	}
	return r
}

// resume decides to resume what the budget paused: everything once usage is below the limit, and
// what its selector no longer matches.
func resume(f *facts) (r result) {
	pauses, reason := f.asks(budget.Pause, budget.Evict), f.liftReason()
	if pauses {
		reason = "the budget's selector no longer matches its pods"
	}
	own := slices.SortedStableFunc(slices.Values(f.own), func(a, b Paused) int {
		return budget.CompareForResumption(a.Workload, b.Workload, a.CreatedAt, b.CreatedAt)
	})
	for _, p := range own {
		if !pauses || p.Set != nil && f.Declaration.Selector.Excludes(p.Set) {
			r.decide(budget.Decision{Kind: budget.KindResume, Owner: &p.Workload, Reasons: []string{reason}})
		}
	}
	return r
}

// asks reports whether the limit is reached and the declared action is one of these.
func (f *facts) asks(actions ...budget.Action) bool {
	return f.usage.Exceeded() && slices.Contains(actions, f.Declaration.Enforce.Action)
}

func (f *facts) liftReason() string {
	if !f.usage.Exceeded() {
		return "usage is below the limit: " + f.used()
	}
	return fmt.Sprintf("its enforcement is %s now", f.Declaration.Enforce.Action)
}
