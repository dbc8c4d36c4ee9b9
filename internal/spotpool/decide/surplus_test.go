package decide_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// recovery is a pool whose notices were withdrawn once others were launched.
type recovery struct {
	decide.Situation
	t *testing.T
}

// withdrawn is a pool of 2 whose instances had notices that were withdrawn after both were
// replaced. ins-1 to ins-4 run since noon.
func withdrawn(t *testing.T, changes ...func(*spotpool.Declaration)) recovery {
	t.Helper()
	s := remembered(seen(pool(append([]func(*spotpool.Declaration){size(2, 6), withNodes}, changes...)...), instance("ins-1"), instance("ins-2")))
	s = inCluster(s, nodeOf("ins-1", taken(2*time.Minute)), nodeOf("ins-2", taken(2*time.Minute)))
	p := decide.Decide(s)
	launch := p.Decisions[0]
	if launch.Kind != spotpool.KindLaunch || launch.Count != 2 {
		t.Fatalf("decided %q", p.Decisions)
	}
	s.Journal = p.Journal.Open(launches.Launch{Request: *launch.Request, WrittenAt: noon}).Accept(launch.Sequence, []string{"ins-3", "ins-4"}, noon)
	for n, id := range []string{"ins-3", "ins-4"} {
		s.Observation.Instances = append(s.Observation.Instances, instance(id, inZone(zone3), launched(noon.Add(time.Duration(n)*time.Second))))
	}
	r := recovery{inCluster(s, nodeOf("ins-1"), nodeOf("ins-2"), nodeOf("ins-3"), nodeOf("ins-4")), t}
	return r
}

// observed decides every five minutes from one time to another, after noon, and fails the
// test where a plan before the last scales in.
func (r *recovery) observed(from, until time.Duration) (last decide.Plan) {
	r.t.Helper()
	for after := from; after <= until; after += 5 * time.Minute {
		r.Now, r.Observation.At = noon.Add(after), noon.Add(after)
		if r.Observation.Cluster.Observed() {
			r.Observation.Cluster.At = r.Now
		}
		last = decide.Decide(r.Situation)
		r.Journal = last.Journal
		if list := scaledIn(last); after+5*time.Minute <= until && len(list) > 0 {
			r.t.Fatalf("%s after noon: %q", after, list)
		}
	}
	return last
}

// scaledIn are the decisions that end a surplus.
func scaledIn(p decide.Plan) (list []spotpool.Decision) {
	for _, d := range p.Decisions {
		if strings.Contains(d.Reasons[0].String(), "left by replacements") {
			list = append(list, d)
		}
	}
	return list
}

const (
	drainThird  = "drain ins-3, the node node-ins-3"
	drainFourth = "drain ins-4, the node node-ins-4"
)

func TestASurplusOfReplacementsIsScaledIn(t *testing.T) {
	t.Parallel()
	r := withdrawn(t)
	p := r.observed(0, 55*time.Minute)
	shouldSay(t, "short", p.Short.Texts(), "2 above the 2 that the pool keeps, left by replacements: scaled in from 2026-03-01T13:00:00Z on "+
		"(surplus_after is 1h)")
	p = r.observed(time.Hour, time.Hour)
	shouldDecide(t, p, drainFourth, drainThird)
	if len(p.Short) > 0 {
		t.Errorf("all of it is scaled in, and it says %q", p.Short)
	}
	shouldSay(t, "reasons", p.Decisions[0].Reasons.Texts(), "2 above the 2 that the pool keeps, left by replacements, for longer than surplus_after of 1h")
	for _, d := range p.Decisions {
		r.Journal = r.Journal.RequestDrain(d, r.Now).RecordDrain(d.InstanceIDs[0], node.Progress{Cordoned: true, Observed: true},
			r.Declaration.Nodes.Drain, r.Now)
	}
	for n := range r.Observation.Cluster.Nodes[2:] {
		cordonedByPool(&r.Observation.Cluster.Nodes[2+n])
	}
	p = r.observed(65*time.Minute, 65*time.Minute)
	shouldDecide(t, p, "terminate ins-4, ins-3")
	r.Journal = r.Journal.Terminate([]string{"ins-3", "ins-4"}, r.Now)
	r.Observation.Instances, r.Observation.Cluster.Nodes = r.Observation.Instances[:2], r.Observation.Cluster.Nodes[:2]
	shouldDecide(t, r.observed(70*time.Minute, 70*time.Minute))
	if !r.Journal.Surplus.At.IsZero() || r.Journal.Baseline != 2 {
		t.Errorf("the journal has surplus %+v, baseline %d", r.Journal.Surplus, r.Journal.Baseline)
	}
}

func TestOnlyASurplusOfReplacementsIsScaledIn(t *testing.T) {
	t.Parallel()
	away := func(r *recovery) { r.Observation.Cluster = node.Observation{} }
	for name, c := range map[string]struct {
		declared func(*spotpool.Declaration)
		then     func(*recovery) // after half an hour
		want     []string        // after another 35 minutes
	}{
		"nothing happens":    {want: []string{drainFourth, drainThird}},
		"surplus_after is 0": {declared: func(d *spotpool.Declaration) { d.SurplusAfter = new(spotpool.Duration) }},
		"minimum is raised":  {then: func(r *recovery) { size(4, 6)(&r.Declaration) }},
		"minimum is lowered": {then: func(r *recovery) { size(0, 6)(&r.Declaration) }, want: []string{drainFourth, drainThird}},
		"the newest is protected": {
			then: func(r *recovery) { protected(&r.Observation.Instances[3]) }, want: []string{drainThird, "drain ins-1, the node node-ins-1"},
		},
		"the cluster is away":      {then: away},
		"another notice":           {then: func(r *recovery) { r.notice(0) }, want: []string{drainFourth, drainThird}}, // which is over after 7 minutes
		"two notices":              {then: func(r *recovery) { r.notice(0); r.notice(1) }},
		"one is gone":              {then: func(r *recovery) { r.Observation.Instances = r.Observation.Instances[1:] }, want: []string{drainFourth}},
		"both are gone":            {then: func(r *recovery) { r.Observation.Instances = r.Observation.Instances[2:] }},
		"two others are not Ready": {then: func(r *recovery) { r.unready(0); r.unready(1) }},
		"one other is not Ready":   {then: func(r *recovery) { r.unready(0) }, want: []string{drainFourth}},
		"a drifted configuration":  {then: func(r *recovery) { r.drifted() }},
		"a return to spot":         {declared: falling(1), then: func(r *recovery) { onDemand(&r.Observation.Instances[0]) }},
		"one was adopted": {
			then: func(r *recovery) {
				found := instance("ins-5", launched(ago(time.Minute)))
				r.Journal = r.Journal.Adopt([]spotpool.Instance{found}, r.Now)
				r.Observation.Instances = append(r.Observation.Instances, found)
				r.Observation.Cluster.Nodes = append(r.Observation.Cluster.Nodes, nodeOf("ins-5"))
			}, want: []string{drainFourth, drainThird},
		},
		"one was tagged by hand": {
			then: func(r *recovery) {
				r.Observation.Instances = append(r.Observation.Instances, instance("ins-5", launched(ago(time.Minute))))
				r.Observation.Cluster.Nodes = append(r.Observation.Cluster.Nodes, nodeOf("ins-5"))
			}, want: []string{drainFourth, drainThird},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var declared []func(*spotpool.Declaration)
			if c.declared != nil {
				declared = append(declared, c.declared)
			}
			r := withdrawn(t, declared...)
			r.observed(0, 30*time.Minute)
			if c.then != nil {
				c.then(&r)
			}
			r.observed(31*time.Minute, 56*time.Minute)
			p := r.observed(61*time.Minute, 61*time.Minute)
			p.Decisions = scaledIn(p)
			shouldDecide(t, p, c.want...)
		})
	}
}

func (r *recovery) notice(n int) { taken(33 * time.Minute)(&r.Observation.Cluster.Nodes[n]) }

func (r *recovery) unready(n int) { notReady(-29 * time.Minute)(&r.Observation.Cluster.Nodes[n]) }

func (r *recovery) drifted() {
	r.Declaration.ImageID = "img-99999999"
	r.Declaration.Refresh = spotpool.Refresh{Strategy: spotpool.RefreshRolling, MaxUnavailable: 0}
}

// TestASurplusThatIsKeptHasItsCauseAndTime: nodes that became Ready again a moment ago are
// not ended yet.
func TestASurplusThatIsKeptHasItsCauseAndTime(t *testing.T) {
	t.Parallel()
	r := withdrawn(t)
	r.observed(0, 50*time.Minute)
	was := r.Observation.Cluster.Nodes[3]
	r.unready(3)
	protected(&r.Observation.Instances[2])
	r.observed(55*time.Minute, 55*time.Minute)
	r.Observation.Cluster.Nodes[3] = was
	protected(&r.Observation.Instances[1])
	protected(&r.Observation.Instances[0])
	p := r.observed(time.Hour, time.Hour)
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), "2 above the 2 that the pool keeps, left by replacements, and 2 are kept: ins-1, ins-2, ins-3 (protected); "+
		"ins-4 (will have been Ready for 2m at 2026-03-01T13:02:00Z)")

	r = withdrawn(t)
	r.observed(0, 30*time.Minute)
	r.unready(0)
	r.unready(1)
	p = r.observed(31*time.Minute, 61*time.Minute)
	shouldSay(t, "short", p.Short.Texts(), "2 above the 2 that the pool keeps, left by replacements, and 2 are kept: ins-1, ins-2 (not Ready); "+
		"2 of minimum 2 are available")
}

// TestAPoolKeepsWhatIsNoSurplus: what is above minimum for any other reason stays.
func TestAPoolKeepsWhatIsNoSurplus(t *testing.T) {
	t.Parallel()
	four := []spotpool.Instance{instance("ins-1"), instance("ins-2"), instance("ins-3"), instance("ins-4")}
	for name, from := range map[string]spotpool.Declaration{"minimum was lowered": pool(size(4, 4)), "imported": pool(size(2, 4))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := recovery{seen(from, four...), t}
			r.observed(0, 0)
			size(2, 4)(&r.Declaration)
			if p := r.observed(5*time.Minute, 3*time.Hour); len(p.Decisions) > 0 || len(p.Short) > 0 {
				t.Errorf("decided %q, short %q", p.Decisions, p.Short)
			}
			if r.Journal.Baseline != 4 {
				t.Errorf("the baseline is %d", r.Journal.Baseline)
			}
		})
	}
}

// TestTheBaselineFollowsWhatIsThere: what is gone without a replacement is no longer kept.
func TestTheBaselineFollowsWhatIsThere(t *testing.T) {
	t.Parallel()
	r := recovery{seen(pool(size(2, 6)), instance("ins-1"), instance("ins-2"), instance("ins-3"), instance("ins-4")), t}
	for n, c := range []struct{ there, want int }{{4, 4}, {3, 3}, {1, 2}, {2, 2}} {
		r.Observation.Instances = nil
		for id := range c.there {
			r.Observation.Instances = append(r.Observation.Instances, instance(fmt.Sprintf("ins-%d", id+1)))
		}
		r.Now = noon.Add(time.Duration(n) * time.Minute)
		r.Journal = decide.Decide(r.Situation).Journal
		if r.Journal.Baseline != c.want {
			t.Errorf("the baseline with %d there is %d, not %d", c.there, r.Journal.Baseline, c.want)
		}
	}
}

// brokenSurplus says what a plan does wrong about what replacements left.
func (w *world) brokenSurplus(s decide.Situation, p decide.Plan) string {
	working := 0
	for _, m := range p.Members {
		if (m.Condition == decide.Running || m.Condition == decide.Launching) && !m.Ending && !m.Replaced() && !m.Interrupted() {
			working++
		}
	}
	switch above := working > p.Journal.Baseline; {
	case !above && !w.lost:
		w.surplusSince = time.Time{}
	case above && w.surplusSince.IsZero():
		w.surplusSince = s.Now
	}
	var ended []string
	for _, d := range scaledIn(p) {
		ended = append(ended, d.InstanceIDs...)
	}
	switch d := s.Declaration; {
	case len(ended) == 0:
	case s.Hold != nil || p.Wanted != nil || d.KeepsSurplus():
		return fmt.Sprintf("a surplus is scaled in: %q", ended)
	case w.surplusSince.IsZero() || s.Now.Sub(w.surplusSince) < d.SurplusLimit():
		return fmt.Sprintf("%q are scaled in, a surplus since %s", ended, w.surplusSince)
	case working-len(ended) < max(p.Journal.Baseline, d.Minimum):
		return fmt.Sprintf("%q are scaled in of %d, with a baseline of %d", ended, working, p.Journal.Baseline)
	}
	return ""
}
