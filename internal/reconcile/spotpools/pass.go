package spotpools

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// pass is one operation on a pool, with its observations and actions so far.
type pass struct {
	flow        *Flow
	declaration spotpool.Declaration
	soFar       decide.SoFar
	gate        spotpool.Gate
	hold        *spotpool.Hold  // in force; nil if there is none
	gone        map[string]bool // recorded IDs that are certainly gone
	nodes       nodeObservation // the last observation of its cluster
	results     []outcome.Result
	messages    reason.Reasons   // what happened to instances, from all observations of the pass
	warnings    reason.Reasons   // in addition to the plan's
	latest      *poolObservation // nil before the first one
	// failure is the first failure; nil if there is none.
	failure error
	// waiting is what was last reported that a deletion waits for.
	waiting string
	// destroys says that the pool is being destroyed.
	destroys bool
	// uncertain says that a launch has no definite outcome, and is pending.
	uncertain bool
}

// note notes an observation and its plan. It collects the messages of all observations: once
// they are in the journal, no later plan repeats them.
func (p *pass) note(plan decide.Plan, o spotpool.Observation) {
	p.latest = &poolObservation{plan: plan, observation: o}
	for _, message := range plan.Messages {
		p.messages = p.messages.With(message)
	}
}

// plan returns the plan of the latest observation, with all messages and warnings of the pass;
// nil if no observation succeeded.
func (p *pass) plan() *decide.Plan {
	if p.latest == nil {
		return nil
	}
	plan := p.latest.plan
	plan.Messages = p.messages
	plan.Warnings = slices.Concat(p.warnings, plan.Warnings)
	return &plan
}
