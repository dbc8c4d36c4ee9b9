package budgets

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

// IsExceeded reports whether a budget is known to have used its limit up.
func (b Report) IsExceeded() bool { return b.UsageReport != nil && b.Exceeded != nil && *b.Exceeded }

// LimitState returns the state of a budget's limit, whatever its enforcement. Without a measurement, it is Unknown.
func (b Report) LimitState() state.State {
	switch {
	case b.UsageReport == nil:
		return state.Unknown
	case b.IsExceeded():
		return state.Exceeded
	case len(b.Fired) > 0:
		return state.NearLimit
	}
	return state.WithinLimit
}

// GrantedGPUHours returns what grants add to the limit, and what they add from the next run on; empty for nothing.
func (b Report) GrantedGPUHours() (granted, coming string) {
	judged, next := int64(0), int64(0)
	for _, g := range b.Judged {
		judged += g.Amount()
	}
	for _, g := range b.Grants {
		if !slices.ContainsFunc(b.Judged, func(of budget.Grant) bool { return of.ID == g.ID }) {
			next += g.Amount()
		}
	}
	text := func(amount int64) string {
		if amount == 0 {
			return ""
		}
		return budget.Hours(amount)
	}
	return text(judged), text(next)
}

// Enforcement returns the states of a budget's enforcement, the mildest first. A measure is in force, or
// requested and not observed yet, or Ineffective if it had no effect in time.
func (b Report) Enforcement() (list []state.State) {
	ineffective := false
	for _, of := range []struct {
		measure            budget.Action
		requested, inForce state.State
	}{{budget.Freeze, state.Freezing, state.Frozen}, {budget.Pause, state.Pausing, state.Paused}, {budget.Evict, state.Evicting, state.Evicting}} {
		failed := budget.CountEffects(b.Effects, of.measure, budget.Ineffective) > 0
		ineffective = ineffective || failed
		switch {
		case budget.CountEffects(b.Effects, of.measure, budget.Requested) > 0:
			list = append(list, of.requested)
		case slices.Contains(b.Enforced, of.measure):
			list = append(list, of.inForce)
		}
	}
	if ineffective {
		list = append(list, state.Ineffective)
	}
	return list
}

// States returns the states of a budget after a run: of its limit first, then of its enforcement.
func (b Report) States() []state.State {
	switch {
	case b.Deleted:
		return []state.State{state.Deleted}
	case b.Outcome == outcome.Failed:
		return []state.State{state.Failing}
	case b.Outcome == outcome.Skipped:
		return []state.State{state.Skipped}
	case b.IsExceeded() && b.Action == budget.AlertOnly:
		return []state.State{state.Exceeded, state.AlertOnly}
	case b.IsExceeded():
		return append([]state.State{state.Exceeded}, b.Enforcement()...)
	case len(b.Enforcement()) > 0:
		return b.Enforcement()
	case b.LimitState() == state.NearLimit:
		return []state.State{state.NearLimit}
	}
	return []state.State{state.WithinLimit}
}

// states returns the states of a budget as of the last run.
func (e Description) states() []state.State {
	switch {
	case e.Failing != nil && e.IsExceeded():
		return append([]state.State{state.Failing}, e.States()...)
	case e.Failing != nil:
		return []state.State{state.Failing}
	case e.Phase == declaration.Deleting:
		return []state.State{state.Deleting}
	case e.UsageReport == nil && e.Outcome == outcome.Skipped:
		return []state.State{state.Unknown}
	}
	return e.Report.States()
}

// SetState sets the states, once everything else is set.
func (e *Description) SetState() { e.State = e.states() }
