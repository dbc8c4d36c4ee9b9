package spotpools

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// TestWhyASpotPoolDoesNotGrow: what a person has to do first is what is said.
func TestWhyASpotPoolDoesNotGrow(t *testing.T) {
	t.Parallel()
	of := func(capacity, held int, change func(*Report)) Report {
		p := Report{
			Name: "train", Region: "ap-singapore", Bounds: spotpool.Bounds{Minimum: 2, Maximum: 4},
			Counts: &spotpool.Counts{Capacity: capacity, Total: held},
		}
		p.Shortfall = max(0, p.Minimum-capacity)
		p.Nodes = &decide.PoolNodes{Observed: true, NodeStates: &decide.NodeStates{Ready: capacity}}
		if change != nil {
			change(&p)
		}
		return p
	}
	until := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tt := range map[string]struct {
		pool  Report
		grows bool
		why   string
	}{
		"it has its minimum": {of(2, 2, nil), false, "it has its minimum of 2, the number that gpupool keeps. Raise minimum"},
		"it has more than its minimum": {of(2, 2, func(p *Report) { p.Minimum = 0 }), false,
			"it has 2, and launches none above its minimum of 0. Raise minimum above 2"},
		"it is at its maximum": {of(4, 4, nil), false, "it has its maximum of 4"},
		"both are one":         {of(2, 2, func(p *Report) { p.Maximum = 2 }), false, "it has its maximum of 2. Raise minimum and maximum"},
		"a hold": {of(0, 0, func(p *Report) {
			p.Hold = &spotpool.Hold{Exception: exception.Exception{Who: "ann", Why: "migration", Until: until}}
			p.Gate = &GateReport{Budget: "team-a", Closed: true, Reason: reason.OtherVersion("used up")}
		}), false, "it is on hold by ann until 2026-01-02T03:04:05Z: migration"},
		"its gate": {of(1, 1, func(p *Report) {
			p.Gate = &GateReport{Budget: "team-a", Closed: true, Reason: reason.OtherVersion("budget/team-a is exceeded")}
		}), false, "budget/team-a is exceeded"},
		"drained": {of(1, 1, func(p *Report) {
			p.Gate, p.Wanted = &GateReport{Budget: "team-a", Closed: true, Reason: reason.OtherVersion("x")}, new(int)
			p.Nodes.Joining = 1
		}), false, "budget/team-a is exceeded and drains it"},
		"cooling down, or above a cap": {of(1, 1, func(p *Report) {
			p.Short = []string{"spot A: cooling down", "spot B: above max_hourly_cost"}
		}), false, "spot A: cooling down; spot B: above max_hourly_cost"},
		"replacing is suspended": {of(2, 2, func(p *Report) { p.Nodes.ReplacingSuspended = reason.NodesFail(2, 2) }), false,
			"replacing its nodes is suspended: 2 of the pool's 2 nodes fail at once"},
		"machines join":       {of(4, 4, func(p *Report) { p.Nodes.Ready, p.Nodes.Joining = 3, 1 }), true, "of its 4 nodes, joining: 1"},
		"it was not observed": {of(0, 0, func(p *Report) { p.Counts = nil }), false, "it could not be observed"},
		"what its budget used is unknown": {of(0, 0, func(p *Report) {
			p.Outcome, p.Error = outcome.Failed, &outcome.ErrorReport{Message: "what its budget used is unknown"}
		}), false, "what its budget used is unknown"},
	} {
		if grows, why := tt.pool.growth(0, 0); grows != tt.grows || why != tt.why {
			t.Errorf("%s: %t, %s; want %t, %s", name, grows, why, tt.grows, tt.why)
		}
	}
	if grows, why := of(1, 1, nil).growth(1, 0); !grows || why != "the next run launches 1" {
		t.Errorf("what is planned: %t, %s", grows, why)
	}
}

// TestInstancesJustLaunchedAreGrowth: neither the minimum nor the maximum needs to be
// raised for what is on its way.
func TestInstancesJustLaunchedAreGrowth(t *testing.T) {
	t.Parallel()
	launch := spotpool.Decision{Kind: spotpool.KindLaunch, Count: 2, InstanceIDs: []string{"ins-a", "ins-b"}}
	results := []outcome.Result{outcome.Of(launch, outcome.Done, nil)}
	w := &work{seen: &decide.Plan{Result: decide.Result{}}}
	p := Report{Bounds: spotpool.Bounds{Minimum: 2, Maximum: 2}, Counts: &spotpool.Counts{Capacity: 2, Total: 2}}
	if grows, why := p.growth(planned(results), w.unobserved(results)); !grows || why != "just launched: 2" {
		t.Errorf("after the launch: %t, %s", grows, why)
	}
	w.seen.Members = []decide.Member{{Instance: spotpool.Instance{ID: "ins-a"}}, {Instance: spotpool.Instance{ID: "ins-b"}}}
	if grows, why := p.growth(planned(results), w.unobserved(results)); grows {
		t.Errorf("once they are observed: %s", why)
	}
}

// TestAnAmbiguousNodeIsAState: what nothing drains or replaces does not count as in sync.
func TestAnAmbiguousNodeIsAState(t *testing.T) {
	t.Parallel()
	for ambiguous, want := range []state.State{state.InSync, state.Degraded} {
		p := Report{
			Outcome: outcome.Done, Bounds: spotpool.Bounds{Minimum: 1, Maximum: 2}, Counts: &spotpool.Counts{Capacity: 1, Total: 1},
			Nodes: &decide.PoolNodes{Observed: true, NodeStates: &decide.NodeStates{Ready: 1 - ambiguous, Unknown: ambiguous}},
		}
		d := Description{Report: p}
		d.SetState()
		if after := p.StateAfter(false); after != want || d.State != want {
			t.Errorf("with %d ambiguous nodes: %s after a run, and %s as observed, want %s", ambiguous, after, d.State, want)
		}
	}
}
