package spotpools

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// pass is one operation on a pool, with what it has seen and done so far.
type pass struct {
	flow        *Flow
	declaration spotpool.Declaration
	soFar       decide.SoFar
	gate        spotpool.Gate
	hold        *spotpool.Hold  // in force; nil where there is none
	gone        map[string]bool // recorded ids that are certainly gone
	nodes       nodeObservation // what was seen of its cluster last
	results     []outcome.Result
	messages    []string         // what became of instances, from all observations of the pass
	warnings    []string         // besides the plan's
	latest      *poolObservation // nil until the first one succeeded
	// failure is what went wrong first; nil where nothing did.
	failure error
	// destroys says that the pool is being destroyed.
	destroys bool
	// uncertain says that a launch has no definite outcome, and was left open.
	uncertain bool
}

// note notes an observation and its plan. Messages are gathered from all observations:
// once they are in the journal, no later plan repeats them.
func (p *pass) note(plan decide.Plan, o spotpool.Observation) {
	p.latest = &poolObservation{plan: plan, observation: o}
	for _, text := range plan.Messages {
		if !slices.Contains(p.messages, text) {
			p.messages = append(p.messages, text)
		}
	}
}

// plan is the plan of the latest observation, with all messages and warnings of the pass;
// nil where no observation succeeded.
func (p *pass) plan() *decide.Plan {
	if p.latest == nil {
		return nil
	}
	plan := p.latest.plan
	plan.Messages = p.messages
	plan.Warnings = slices.Concat(p.warnings, plan.Warnings)
	return &plan
}
