package spotpools

import (
	"context"
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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
	Hold *spotpool.Hold
	Plan decide.Plan
	// Short is how far the pool is below its minimum after an operation, and why; zero if it is not.
	Short    reason.Reason
	Warnings reason.Reasons
	// MarketDoubts are what is unknown of the region's market, for all of its pools.
	MarketDoubts reason.Reasons
}

// AllWarnings returns every warning, those of the market last.
func (s State) AllWarnings() reason.Reasons {
	all := slices.Concat(s.Warnings, s.MarketDoubts)
	if s.Short.IsZero() {
		return all
	}
	return slices.Insert(all, 0, s.Short)
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
			state.Short = short(*plan, p.gate)
		}
	}
	if p.failure != nil {
		state.Warnings = append(state.Warnings, failed(p.failure))
	}
	if !p.nodes.remark.IsZero() {
		state.Warnings = append(state.Warnings, p.nodes.remark)
	}
	if p.nodes.err != nil {
		state.Warnings = append(state.Warnings, unobservedWarning(p.declaration, p.nodes.err))
	}
	if plan == nil {
		state.Warnings = append(state.Warnings, p.warnings...)
	} else {
		state.Warnings = append(state.Warnings, plan.Warnings...)
	}
	return state
}

// short says how far a pool is below its minimum, and why.
func short(p decide.Plan, gate spotpool.Gate) reason.Reason {
	capacity, minimum, why := reason.Count(p.Capacity), reason.Count(p.Minimum), reason.Lines(p.Short.Brief())
	if gate.Undeclared {
		return reason.PoolShortUndeclared(capacity, minimum, why, reason.Paragraphs{reason.DeclaredTogether()})
	}
	return reason.PoolShort(capacity, minimum, why)
}

// failed explains the failure of an operation. The end of its context is no text for people.
func failed(failure error) reason.Reason {
	switch {
	case errors.Is(failure, context.Canceled):
		return reason.PoolInterrupted()
	case failure.Error() == context.DeadlineExceeded.Error():
		return reason.PoolTimedOut()
	}
	return reason.Explain(failure)
}

// unobservedWarning says what follows if a pool's nodes could not be observed.
func unobservedWarning(d spotpool.Declaration, err error) reason.Reason {
	return reason.NodesUnobserved(reason.Object(d.Object()), reason.Failure(err))
}
