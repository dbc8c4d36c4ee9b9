package spotpools

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// State is a pool as Terraform sees it: its declaration and its last observation.
type State struct {
	Declaration spotpool.Declaration
	// Recorded says that the store has a record of the pool.
	Recorded bool
	// Destroyed says that the pool was destroyed, and no instance is left.
	Destroyed bool
	// Deleting says that the deletion of the pool has begun.
	Deleting    bool
	Observation spotpool.Observation
	// OtherNodes counts the nodes of other pools in the same cluster.
	OtherNodes node.Count
	// Journal has the pending launches in full, with user data.
	Journal journal.Journal
	// Gate says whether launches were blocked.
	Gate spotpool.Gate
	// Hold is the one in force; nil if there is none.
	Hold     *spotpool.Hold
	Plan     decide.Plan
	Warnings []string
}

// newState returns the state after an operation on a recorded pool. It has no observation if
// none succeeded.
func newState(p *pass) State {
	state := State{Declaration: p.declaration, Recorded: true, Gate: p.gate, Hold: p.hold}
	plan := p.plan()
	if plan != nil {
		state.Observation, state.Journal, state.Plan = p.latest.observation, plan.Journal, *plan
		state.Observation.Cluster, state.OtherNodes = p.nodes.observation, p.nodes.others
		if plan.Shortfall > 0 {
			state.Warnings = append(state.Warnings, shortWarning(*plan, p.gate))
		}
	}
	if p.failure != nil {
		state.Warnings = append(state.Warnings, p.failure.Error())
	}
	if !p.nodes.remark.IsZero() {
		state.Warnings = append(state.Warnings, p.nodes.remark.String())
	}
	if p.nodes.err != nil {
		state.Warnings = append(state.Warnings, unobservedWarning(p.declaration, p.nodes.err).String())
	}
	if plan == nil {
		state.Warnings = append(state.Warnings, p.warnings.Texts()...)
	} else {
		state.Warnings = append(state.Warnings, plan.Warnings.Texts()...)
	}
	return state
}

func shortWarning(p decide.Plan, gate spotpool.Gate) string {
	text := fmt.Sprintf("capacity is %d, below the minimum of %d", p.Capacity, p.Minimum)
	for _, why := range p.Short.Brief() {
		text += "\n- " + why
	}
	if gate.Undeclared {
		return text + "\n" + record.DeclaredTogether
	}
	return text + "\nThe next apply or reconcile retries."
}

// unobservedWarning says what follows if a pool's nodes could not be observed.
func unobservedWarning(d spotpool.Declaration, err error) reason.Reason {
	return reason.NodesUnobserved(reason.Object(d.Object()), reason.Failure(err))
}
