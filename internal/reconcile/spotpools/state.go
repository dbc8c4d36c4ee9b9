package spotpools

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// State is a pool as Terraform sees it: what is declared, and what was last seen of
// it.
type State struct {
	Declaration spotpool.Declaration
	// Recorded says that the store holds a record of the pool.
	Recorded bool
	// Destroyed says that the pool was destroyed, and none of its instances is left.
	Destroyed bool
	// Deleting says that the record is of a deletion that was begun.
	Deleting    bool
	Observation spotpool.Observation
	// OtherNodes counts the nodes that other pools have in the same cluster.
	OtherNodes node.Count
	// Journal has the open launches in full, user data included.
	Journal journal.Journal
	// Gate says whether launches were held back.
	Gate spotpool.Gate
	// Hold is the one in force; nil where there is none.
	Hold     *spotpool.Hold
	Plan     decide.Plan
	Warnings []string
}

// newState is the state after an operation on a recorded pool. It has no observation
// where no observation succeeded.
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
	if p.nodes.remark != "" {
		state.Warnings = append(state.Warnings, p.nodes.remark)
	}
	if p.nodes.err != nil {
		state.Warnings = append(state.Warnings, unseenWarning(p.declaration, p.nodes.err))
	}
	if plan == nil {
		state.Warnings = append(state.Warnings, p.warnings...)
	} else {
		state.Warnings = append(state.Warnings, plan.Warnings...)
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
	return text + "\nThe next apply or reconcile goes on with it."
}

// unseenWarning says what follows where a pool's nodes could not be seen.
func unseenWarning(d spotpool.Declaration, err error) string {
	return fmt.Sprintf("the nodes of %s were not seen, and nothing of it is drained, replaced or ended; launches go on: %s", d.Object(), err)
}
