package decide

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// whyUnlifted says why all that is in force stays: it is not known that usage fell below
// the limit. Empty if it is.
func (f *facts) whyUnlifted() string {
	switch {
	case f.usage.Exceeded() || f.Declaration.Enforce.Action == budget.AlertOnly:
		return ""
	case f.status.Unknown != nil:
		return f.status.Unknown.Reason
	case len(f.Result.Lost) > 0 && f.enforced() && f.previous.UID == "":
		return "the ledger was lost in part (" + wording.Some(f.Result.Lost) + "), and so was the last status"
	}
	return ""
}

// liftNothing says that nothing is lifted, and repairs the freeze that stays in force. One
// for another selector than the declared one is left as it is: before usage is known,
// nothing more is frozen.
func liftNothing(f *facts) (r result) {
	reason := f.whyUnlifted()
	if r.withheld = reason; f.enforced() {
		reason = "nothing of what is in force is lifted: " + reason
	}
	r.warnf("%s", reason)
	if f.Frozen && !f.FreezeOutdated {
		r.EnsureFreeze, r.FreezeRecoversAt = true, f.freezeEnds()
	}
	return r
}

// unfreeze decides to lift a freeze that is not to be in force any longer.
func unfreeze(f *facts) (r result) {
	if f.Frozen && !f.asks(budget.Freeze, budget.Evict) && !f.fallsBack() {
		r.decide(budget.Decision{Kind: budget.KindUnfreeze, Namespaces: f.namespaces(), Reasons: []string{f.whyLifted()}})
	}
	return r
}

// resume decides to resume what the budget paused and is not to pause any longer: all of
// it, or what it does not select any longer.
func resume(f *facts) (r result) {
	pauses, reason := f.asks(budget.Pause, budget.Evict), f.whyLifted()
	if pauses {
		reason = "the budget's selector does not match its pods any longer"
	}
	for _, p := range f.own {
		if !pauses || p.Set != nil && f.Declaration.Selector.Excludes(p.Set) {
			r.decide(budget.Decision{Kind: budget.KindResume, Owner: &p.Workload, Reasons: []string{reason}})
		}
	}
	return r
}

// asks reports whether the limit is reached, and the declared action is one of some.
func (f *facts) asks(actions ...budget.Action) bool {
	return f.usage.Exceeded() && slices.Contains(actions, f.Declaration.Enforce.Action)
}

func (f *facts) whyLifted() string {
	if !f.usage.Exceeded() {
		return "usage is below the limit: " + f.used()
	}
	return fmt.Sprintf("its enforcement is %s now", f.Declaration.Enforce.Action)
}
