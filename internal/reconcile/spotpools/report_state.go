package spotpools

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// Oversized reports whether a pool is above its maximum, because instances are protected or
// cannot be terminated now.
func (p Report) Oversized() bool { return p.Counts != nil && p.Total > p.Maximum }

// StateAfter returns the state of a pool after a run; changed says whether the run decided
// anything.
func (p Report) StateAfter(changed bool) state.State {
	switch s, lacking := p.Outcome.State(), p.lacking(); {
	case s != "" && s != state.Short:
		return s
	case lacking != "":
		return lacking
	case s != "":
		return s
	case changed:
		return state.Changed
	case p.Oversized():
		return state.Oversized
	}
	return state.InSync
}

// lacking returns what keeps a pool from its size or its nodes; empty if nothing does.
func (p Report) lacking() state.State {
	switch {
	case p.Hold != nil:
		return state.OnHold
	case p.Counts != nil && p.Shortfall > 0:
		return state.Short
	case p.Nodes != nil && (!p.Nodes.ReplacingSuspended.IsZero() || p.Nodes.NodeStates != nil && p.Nodes.Unknown > 0):
		return state.Degraded
	}
	return ""
}

func (d Description) state() state.State {
	launching := func(m decide.Member) bool { return m.Condition == decide.Launching }
	otherThanDrain := func(d spotpool.Decision) bool { return d.Kind != spotpool.KindDrain }
	switch phase, lacking := state.OfPhase(d.Phase), d.lacking(); {
	case d.Failing != nil, d.Outcome == outcome.Failed && d.Counts != nil:
		return state.Failing
	case d.Outcome == outcome.Failed:
		return state.Unknown
	case phase != "":
		return phase
	case lacking != "":
		return lacking
	case len(d.Decisions) > 0 && !slices.ContainsFunc(d.Decisions, otherThanDrain):
		return state.Draining
	case len(d.Decisions) > 0:
		return state.OutOfSync
	case slices.ContainsFunc(d.Machines, launching):
		return state.Progressing
	case d.Oversized():
		return state.Oversized
	case d.Counts != nil && d.Wanted != nil && d.Capacity < d.Minimum:
		return state.Drained
	case d.Nodes != nil && d.Nodes.NodeStates != nil && d.Nodes.Joining > 0:
		return state.Progressing
	}
	return state.InSync
}

// SetState sets the state. Call it once everything else is set.
func (d *Description) SetState() { d.State = d.state() }
