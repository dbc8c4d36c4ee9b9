package decide

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Rule decides one thing about a pool, by what was observed and what the rules before it
// decided. It changes neither: it returns the tally with what it decided counted, and what
// it adds to the plan.
type Rule func(View, Tally) (Tally, Result)

// rules are those of a plan, in their order.
func (v View) rules() []Rule {
	list := []Rule{recoverRun, size, notePause}
	switch live := v.Observation.Deployment; {
	case !v.Observation.Known():
		return nil
	case v.Observation.NamespaceMissing:
		return append(list, refuseNamespace)
	case live == nil:
		return append(list, create)
	case v.mayOwn():
		return append(list, takeOver)
	case v.own() == nil:
		return append(list, refuseForeign)
	case live.DeletionTimestamp != nil: // what comes after it is created once it is gone
		return list
	}
	return append(list, warnUndeclared, warnUnlike, warnPaused, apply, guard)
}

// Result is what a rule adds to a plan.
type Result struct {
	// Decisions are what is to be done now, in order: what comes of the first may change
	// the rest.
	Decisions []stockpool.Decision
	// Ask says that only the dry run of an application shows whether something is to be
	// done.
	Ask bool
	// Refused is why nothing is done although something should be; nil where nothing is
	// refused.
	Refused  error
	Warnings []string
}

// add adds what came after. A warning that was given already is not repeated.
func (r *Result) add(later Result) {
	r.Decisions = append(r.Decisions, later.Decisions...)
	r.Ask, r.Refused = r.Ask || later.Ask, cmp.Or(r.Refused, later.Refused)
	for _, text := range later.Warnings {
		if !slices.Contains(r.Warnings, text) {
			r.Warnings = append(r.Warnings, text)
		}
	}
}

func (r *Result) warnf(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
