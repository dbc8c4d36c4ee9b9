package budgets

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

// IsExceeded reports whether a budget is known to have used its limit up.
func (r Report) IsExceeded() bool { return r.UsageReport != nil && r.Exceeded != nil && *r.Exceeded }

// Enforcement is what is done about a budget, the mildest first: what is in force, what was
// requested and is not observed yet, and Ineffective if anything had no effect in time.
func (r Report) Enforcement() (list []state.State) {
	ineffective := false
	for _, of := range []struct {
		measure            budget.Action
		requested, inForce state.State
	}{{budget.Freeze, state.Freezing, state.Frozen}, {budget.Pause, state.Pausing, state.Paused}, {budget.Evict, state.Evicting, state.Evicting}} {
		failed := budget.CountEffects(r.Effects, of.measure, budget.Ineffective) > 0
		ineffective = ineffective || failed
		switch {
		case failed, budget.CountEffects(r.Effects, of.measure, budget.Requested) > 0:
			list = append(list, of.requested)
		case slices.Contains(r.Enforced, of.measure):
			list = append(list, of.inForce)
		}
	}
	if ineffective {
		list = append(list, state.Ineffective)
	}
	return list
}

// States is how a budget is after a run: its limit first, then what is done about it.
func (r Report) States() []state.State {
	switch {
	case r.Deleted:
		return []state.State{state.Deleted}
	case r.Outcome == outcome.Failed:
		return []state.State{state.Failing}
	case r.Outcome == outcome.Skipped:
		return []state.State{state.Skipped}
	case r.IsExceeded() && r.Action == budget.AlertOnly:
		return []state.State{state.Exceeded, state.AlertOnly}
	case r.IsExceeded():
		return append([]state.State{state.Exceeded}, r.Enforcement()...)
	case len(r.Enforcement()) > 0:
		return r.Enforcement()
	case len(r.Fired) > 0:
		return []state.State{state.NearLimit}
	}
	return []state.State{state.WithinLimit}
}

// states is how a budget is, as far as the last run tells.
func (d Description) states() []state.State {
	switch {
	case d.Failing != nil && d.IsExceeded():
		return append([]state.State{state.Failing}, d.States()...)
	case d.Failing != nil:
		return []state.State{state.Failing}
	case d.Phase == declaration.Deleting:
		return []state.State{state.Deleting}
	case d.UsageReport == nil && d.Outcome == outcome.Skipped:
		return []state.State{state.Unknown}
	}
	return d.Report.States()
}

// SetState sets the states, once all that they follow from is known.
func (d *Description) SetState() { d.State = d.states() }
