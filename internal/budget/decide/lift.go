package decide

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// keepReason returns why everything in force stays: usage is not known to be below the limit. It
// returns zero if it is.
func (f *facts) keepReason() reason.Reason {
	switch {
	case f.usage.Exceeded() || f.Declaration.Enforce.Action == budget.AlertOnly:
		return reason.Reason{}
	case f.status.Unknown != nil:
		return f.status.Unknown.Reason
	case len(f.Result.Lost) > 0 && f.enforced() && f.previous.UID == "":
		return reason.StatusLost(documents(f.Result.Lost))
	}
	return reason.Reason{}
}

// liftNothing warns that nothing is lifted, and repairs the freeze. It leaves a freeze of another
// selector as it is: nothing more is frozen before usage is known.
func liftNothing(f *facts) (r result) {
	why := f.keepReason()
	if r.withheld = why; f.enforced() {
		why = reason.NothingLifted(why)
	}
	r.warn(why)
	if f.Frozen && !f.FreezeOutdated {
		r.EnsureFreeze, r.FreezeRecoversAt = true, f.freezeEnds()
	}
	return r
}

// unfreeze decides to lift a freeze.
func unfreeze(f *facts) (r result) {
	if f.Frozen && !f.asks(budget.Freeze, budget.Evict) && !f.fallsBack() {
		r.decide(budget.Decision{Kind: budget.KindUnfreeze, Namespaces: f.namespaces(), Reasons: reason.Reasons{f.liftReason()}})
	}
	return r
}

// resume decides to resume what the budget paused: everything once usage is below the limit, and
// what its selector no longer matches.
func resume(f *facts) (r result) {
	pauses, why := f.asks(budget.Pause, budget.Evict), f.liftReason()
	if pauses {
		why = reason.NoLongerMatched()
	}
	own := slices.SortedStableFunc(slices.Values(f.own), func(a, b Paused) int {
		return budget.CompareForResumption(a.Workload, b.Workload, a.CreatedAt, b.CreatedAt)
	})
	for _, p := range own {
		if !pauses || p.Set != nil && f.Declaration.Selector.Excludes(p.Set) {
			r.decide(budget.Decision{Kind: budget.KindResume, Owner: &p.Workload, Reasons: reason.Reasons{why}})
		}
	}
	return r
}

// asks reports whether the limit is reached and the declared action is one of these.
func (f *facts) asks(actions ...budget.Action) bool {
	return f.usage.Exceeded() && slices.Contains(actions, f.Declaration.Enforce.Action)
}

func (f *facts) liftReason() reason.Reason {
	if !f.usage.Exceeded() {
		return reason.BelowLimit(f.used())
	}
	return reason.OtherAction(reason.Word(f.Declaration.Enforce.Action))
}
