package spotpools

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// pass is one operation on a pool, with what it saw and did so far.
type pass struct {
	declaration spotpool.Declaration
	run         spotpool.Run
	gate        spotpool.Gate
	gone        map[string]bool // recorded ids that are certainly gone
	results     []outcome.Result
	notices     []string // what became of instances, over all of the run's looks
	warnings    []string // beside those of the plan
	latest      *look    // nil until the first one succeeded
	// failure is what went wrong first, where anything did; nil otherwise.
	failure error
	// uncertain says that a launch's outcome is unknown and was left open.
	uncertain bool
}

// saw keeps a look. What it noticed is kept apart: once that is in the journal, no
// later plan says it.
func (a *pass) saw(plan spotpool.Plan, o spotpool.Observation) {
	a.latest = &look{plan: plan, observation: o}
	for _, text := range plan.Notices {
		if !slices.Contains(a.notices, text) {
			a.notices = append(a.notices, text)
		}
	}
}

// plan is that of the latest look, with all that was noticed and is to be warned
// of; nil where there was no look.
func (a *pass) plan() *spotpool.Plan {
	if a.latest == nil {
		return nil
	}
	plan := a.latest.plan
	plan.Notices = a.notices
	plan.Warnings = slices.Concat(a.warnings, plan.Warnings)
	return &plan
}
