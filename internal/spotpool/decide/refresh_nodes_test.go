package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// readyNodes counts the machines that run and are Ready nodes.
func (w *world) readyNodes() int {
	n := 0
	for _, m := range w.machines {
		if of := w.cluster.nodes[m.ID]; of != nil && of.Ready == node.ReadyTrue && m.State == spotpool.StateRunning {
			n++
		}
	}
	return n
}

// TestARefreshStopsAtNodesThatDoNotStayReady rolls pools to an image whose nodes are Ready
// for a moment and then not: what works stays, and a warning says why.
func TestARefreshStopsAtNodesThatDoNotStayReady(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		maximum, surge, unavailable int
		never                       bool
	}{
		"ahead":              {maximum: 8, surge: 1},
		"two ahead":          {maximum: 9, surge: 2, unavailable: 1},
		"in place":           {maximum: 6, unavailable: 1},
		"in place, never":    {maximum: 6, unavailable: 2, never: true},
		"ahead, never Ready": {maximum: 8, surge: 1, never: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(pool(size(6, c.maximum), withNodes, refreshing(spotpool.RefreshRolling, c.surge, c.unavailable)))
			w.cluster = newCluster()
			old, warned := map[string]bool{}, false
			minute := func() {
				for _, m := range w.machines {
					of := w.cluster.nodes[m.ID]
					switch {
					case len(old) == 0 || old[m.ID]:
					case c.never:
						w.cluster.never[m.ID] = true
					case of != nil && w.now.Sub(of.CreatedAt) >= time.Minute:
						w.cluster.sick[m.ID] = w.now
					}
				}
				if _, err := w.run(fault{}, func(_ decide.Situation, p decide.Plan) {
					warned = warned || slices.ContainsFunc(p.Warnings.Texts(), func(text string) bool {
						return strings.Contains(text, "to be replaced (drifted configuration)") && strings.Contains(text, "not Ready")
					}) || !p.Nodes.ReplacingSuspended.IsZero()
				}); err != nil {
					t.Fatal(err)
				}
				w.pass(time.Minute)
			}
			for range 10 {
				minute()
			}
			for _, m := range w.machines {
				old[m.ID] = true
			}
			w.d.ImageID, warned = "img-bad00000", false
			for n := range 120 {
				if minute(); w.readyNodes() < 6-c.unavailable {
					t.Fatalf("%d nodes are Ready after %d minutes: minimum is 6, max_unavailable %d", w.readyNodes(), n, c.unavailable)
				}
			}
			if !warned {
				t.Error("nothing warns of it")
			}
		})
	}
}

// TestARefreshOfNodesEnds rolls a pool whose nodes join and stay, one after another.
func TestARefreshOfNodesEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(pool(size(3, 4), withNodes, refreshing(spotpool.RefreshRolling, 1, 0)))
	w.cluster = newCluster()
	minute := func() {
		if _, err := w.run(fault{}, func(decide.Situation, decide.Plan) {}); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
	}
	for range 10 {
		minute()
	}
	w.d.ImageID = "img-good0000"
	for range 60 {
		if minute(); w.readyNodes() < 3 {
			t.Fatalf("%d nodes are Ready", w.readyNodes())
		}
	}
	if p := decide.Decide(w.situation(decide.SoFar{})); p.Drifted > 0 || p.Total != 3 {
		t.Errorf("it ends with %+v: %q", p.Counts, p.Short)
	}
}

// TestSuspendedReplacingHoldsARefresh: where half of the nodes fail, none is drained to be
// refreshed, and the drain that a refresh began is undone.
func TestSuspendedReplacingHoldsARefresh(t *testing.T) {
	t.Parallel()
	s := remembered(seen(pool(size(3, 6), withNodes, refreshing(spotpool.RefreshRolling, 1, 1)),
		instance("ins-1", drifted), instance("ins-2", drifted), instance("ins-3", drifted), instance("ins-4", drifted)))
	failing := inCluster(s, nodeOf("ins-1"), nodeOf("ins-2"), nodeOf("ins-3", notReady(time.Hour)), nodeOf("ins-4", notReady(time.Hour)))
	p := decide.Decide(failing)
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), "4 to be replaced (drifted configuration) once replacing is no longer suspended: 2 of the pool's 4 "+
		"nodes fail at once")
	shouldSay(t, "warnings", p.Warnings.Texts(), "replacement is suspended: 2 of the pool's 4 nodes fail at once. It resumes when fewer fail. "+
		"Check the nodes:\ngpupool status ap-singapore/train --machines")
	failing.Declaration.Refresh.Strategy = spotpool.RefreshNone
	if p := decide.Decide(failing); len(p.Short) > 0 {
		t.Errorf("nothing is to be refreshed, and it says %q", p.Short)
	}

	healthy := inCluster(s, nodeOf("ins-1"), nodeOf("ins-2"), nodeOf("ins-3"), nodeOf("ins-4"))
	begun := decide.Decide(healthy)
	shouldDecide(t, begun, "drain ins-1, the node node-ins-1", "drain ins-2, the node node-ins-2", "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	s.Journal = begun.Journal.RequestDrain(begun.Decisions[0], noon)
	shouldDecide(t, decide.Decide(inCluster(s, nodeOf("ins-1", cordonedByPool), nodeOf("ins-2"), nodeOf("ins-3", notReady(time.Hour)),
		nodeOf("ins-4", notReady(time.Hour)))),
		"uncordon ins-1, the node node-ins-1")
}

// TestARefreshAwaitsReadyNodes: a reason says how many must be Ready, and a warning names those
// that no longer are.
func TestARefreshAwaitsReadyNodes(t *testing.T) {
	t.Parallel()
	const waits = "1 to be replaced (drifted configuration) once more than 1 node has been Ready for 2m, and 1 has"
	two := func(other spotpool.Instance) decide.Situation {
		return seen(pool(size(2, 2), withNodes, refreshing(spotpool.RefreshRolling, 0, 1)), instance("ins-1", drifted), other)
	}
	launching := inCluster(remembered(two(instance("ins-2", inState(spotpool.StatePending), launched(noon))), "ins-2"), nodeOf("ins-1"))
	joining := launching
	joining.Observation.Instances = two(instance("ins-2", launched(noon))).Observation.Instances
	for name, c := range map[string]struct {
		situation decide.Situation
		short     string
		warnings  []string
	}{
		"the other launches": {
			situation: launching, short: "1 to be replaced (drifted configuration) once more than 1 are running, and 1 is",
		},
		"the other joins": {situation: joining, short: waits},
		"the other is not Ready": {
			situation: inCluster(remembered(two(instance("ins-2"))), nodeOf("ins-1"), nodeOf("ins-2", notReady(time.Minute))), short: waits,
			warnings: []string{waits + ": ins-2 is not Ready, or not known to be. No working instance is terminated meanwhile; check these nodes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := decide.Decide(c.situation)
			shouldDecide(t, p)
			if diff := cmp.Diff([]string{c.short}, p.Short.Texts()); diff != "" {
				t.Errorf("short (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.warnings, p.Warnings.Texts()); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReturnToSpotAwaitsReadyNodes: an on-demand instance ends once a spot one has been
// a Ready node for long enough.
func TestReturnToSpotAwaitsReadyNodes(t *testing.T) {
	t.Parallel()
	s := remembered(seen(pool(falling(1), withNodes), instance("ins-1", onDemand), instance("ins-2"), instance("ins-3")), "ins-3")
	s.Journal.EarlyFailures = node.Streak{}
	came := func(n *node.Node) { n.CreatedAt, n.ReadySince = s.Now, s.Now }
	decide := func(after time.Duration, change func(*node.Node)) decide.Plan {
		s.Now = noon.Add(after)
		p := decide.Decide(inCluster(s, nodeOf("ins-1"), nodeOf("ins-2"), nodeOf("ins-3", change)))
		s.Journal = p.Journal
		return p
	}
	shouldDecide(t, decide(0, came))
	p := decide(time.Minute, came)
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), "1 to be replaced (spot instances are available again) once more than 2 nodes have been "+
		"Ready for 2m, and 2 have")
	shouldDecide(t, decide(2*time.Minute, came), "drain ins-1, the node node-ins-1")
	down := decide(3*time.Minute, func(n *node.Node) { n.Ready, n.ReadySince = node.ReadyFalse, s.Now })
	shouldDecide(t, down)
	shouldSay(t, "warnings", down.Warnings.Texts(), "1 to be replaced (spot instances are available again) once more than 2 nodes have "+
		"been Ready for 2m, and 2 have: "+
		"ins-3 is not Ready, or not known to be. No working instance is terminated meanwhile; check these nodes")
}
