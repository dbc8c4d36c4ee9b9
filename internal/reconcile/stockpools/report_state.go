package stockpools

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// StateAfter is how a stock pool is after a run; changed says whether the run decided
// anything. A run that is done leaves pods to their Deployment, so it does not wait for them.
func (p Report) StateAfter(changed bool) state.State {
	switch s := p.Outcome.State(); {
	case s == state.Short && p.Status != nil:
		return p.observed()
	case s != "":
		return s
	case changed:
		return state.Changed
	}
	return p.observed()
}

// observed returns the state of the pods, for a run and for a description.
func (p Report) observed() state.State {
	switch phase := p.phase(); phase {
	case decide.Degraded, decide.Pending:
		switch {
		case p.blocked():
			return state.Blocked
		case phase == decide.Pending:
			return state.Pending
		case p.Of(decide.Stocked).Reason == decide.AtMaximum:
			return state.Short
		}
		return state.Degraded
	case decide.Pausing:
		return state.Pausing
	case decide.Paused:
		return state.Paused
	case decide.Progressing:
		return state.Progressing
	}
	return state.InSync
}

// phase returns the phase; empty if the stock pool was not observed.
func (p Report) phase() decide.Phase {
	if p.Status == nil {
		return ""
	}
	return p.Phase
}

func (d Description) state() state.State {
	switch recorded, phase := state.OfPhase(d.RecordPhase), d.phase(); {
	case d.Failing != nil, d.Outcome == outcome.Failed && d.Status != nil:
		return state.Failing
	case d.Outcome == outcome.Failed:
		return state.Unknown
	case recorded != "":
		return recorded
	case phase != decide.Degraded && len(d.Decisions) > 0:
		return state.OutOfSync
	}
	return d.observed()
}

// blocked reports whether pods are missing only because a budget blocks growth.
func (p Report) blocked() bool {
	within := p.Of(decide.WithinBudget).Status
	return within != "" && within != "True" && p.Available+p.Allocated >= p.Desired
}

// SetState sets the state, once all that it follows from is known.
func (d *Description) SetState() { d.State = d.state() }
