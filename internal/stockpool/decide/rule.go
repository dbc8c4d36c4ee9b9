package decide

import (
	"cmp"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Rule decides one thing about a pool from the observation and what earlier rules decided. It
// changes neither: it returns a new tally, and what it adds to the plan.
type Rule func(View, Tally) (Tally, Result)

func (v View) rules() []Rule {
	list := []Rule{recoverRun, size, notePause}
	switch live := v.Observation.Deployment; {
	case !v.Observation.Known():
		return nil
	case v.Observation.NamespaceMissing:
		return append(list, refuseNamespace)
	case live == nil:
		return append(list, create)
	case v.canTakeOver():
		return append(list, takeOver)
	case v.own() == nil:
		return append(list, refuseForeign)
	case live.DeletionTimestamp != nil: // it is created again once it is gone
		return list
	}
	return append(list, warnUndeclared, warnUnlike, warnPaused, apply, guard)
}

// Result has the decisions of the rules for one stock pool.
type Result struct {
	// Decisions are in order: the result of the first may change the others.
	Decisions []stockpool.Decision
	// Ask reports that a dry run of an application is needed to decide.
	Ask bool
	// Refused is why nothing is done although something should be.
	Refused Refusal
	// Warnings are for an operator to check, and stop nothing.
	Warnings reason.Reasons
}

// add appends a later result. It drops warnings that were already given.
func (r *Result) add(later Result) {
	r.Decisions = append(r.Decisions, later.Decisions...)
	r.Ask, r.Refused = r.Ask || later.Ask, cmp.Or(r.Refused, later.Refused)
	for _, w := range later.Warnings {
		if !slices.ContainsFunc(r.Warnings, w.Same) {
			r.Warnings = append(r.Warnings, w)
		}
	}
}

func (r *Result) warn(of reason.Reason) { r.Warnings = append(r.Warnings, of) }
