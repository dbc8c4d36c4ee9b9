package decide_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// TestTheNodesOfAllPoolsIncludeItsOwn: whether many fail at once is judged by a pool's own
// nodes and those of others together.
func TestTheNodesOfAllPoolsIncludeItsOwn(t *testing.T) {
	t.Parallel()
	two := remembered(seen(pool(withNodes), instance("ins-1"), instance("ins-2")))
	failing := inCluster(two, nodeOf("ins-1"), nodeOf("ins-2", notReady(time.Hour)))
	for name, c := range map[string]struct {
		others node.Count
		want   string
	}{
		"none":                  {},
		"one of two":            {node.Count{Nodes: 2, Failed: 1}, "2 of the 4 nodes that all pools have in the cluster fail at once"},
		"two of thirty":         {node.Count{Nodes: 30, Failed: 2}, ""},
		"two of three, beside":  {node.Count{Nodes: 3, Failed: 2}, "3 of the 5 nodes that all pools have in the cluster fail at once"},
		"two of seven, a third": {node.Count{Nodes: 7, Failed: 2}, ""},
	} {
		s := failing
		s.OtherNodes = c.others
		if got := decide.Decide(s).Nodes.ReplacingSuspended.String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestAnOutageReplacesNotEvenTheFirstNodeThatItStops: nodes that one fault stops are not
// Ready one after another, and the first fails while the others may recover still.
func TestAnOutageReplacesNotEvenTheFirstNodeThatItStops(t *testing.T) {
	t.Parallel()
	pool := func(stopped ...time.Duration) decide.Situation {
		var instances []spotpool.Instance
		for _, id := range []string{"ins-1", "ins-2", "ins-3", "ins-4"} {
			instances = append(instances, instance(id))
		}
		s := remembered(seen(pool(size(4, 6), withNodes), instances...))
		var nodes []node.Node
		for n, i := range instances {
			nodes = append(nodes, nodeOf(i.ID))
			if n < len(stopped) {
				notReady(stopped[n])(&nodes[n])
			}
		}
		return inCluster(s, nodes...)
	}
	beside := func(s decide.Situation, others node.Count) decide.Situation {
		s.OtherNodes = others
		return s
	}
	const why = "ins-1 is to be replaced (its node node-ins-1 has not been Ready for longer than the 10m of unhealthy_timeout), but not while "
	const launch = "launch 1 spot GN7.2XLARGE32 in ap-singapore-3"
	shouldDecideEach(t, map[string]decisionCase{
		"all others stopped later": {
			situation: pool(10*time.Minute, 9*time.Minute, 5*time.Minute, 5*time.Minute),
			short:     why + "4 of the pool's 4 nodes are not Ready: they may recover together",
		},
		"those of other pools did": {
			situation: beside(pool(10*time.Minute), node.Count{Nodes: 4, Unready: 2}),
			short:     why + "3 of the 8 nodes that all pools have in the cluster are not Ready: they may recover together",
		},
		"one fails for itself":                 {situation: pool(10 * time.Minute), want: []string{launch}},
		"one fails, and few others restart":    {situation: beside(pool(10*time.Minute), node.Count{Nodes: 20, Unready: 3}), want: []string{launch}},
		"all stopped, and none has failed yet": {situation: pool(5*time.Minute, 5*time.Minute, 5*time.Minute, 5*time.Minute)},
	})
}

// TestSuspendedReplacingIsReportedOnceAndWhenItEnds: as soon as few nodes fail, what still
// fails is replaced, and a line says that it is.
func TestSuspendedReplacingIsReportedOnceAndWhenItEnds(t *testing.T) {
	t.Parallel()
	s := remembered(seen(pool(size(2, 4), withNodes), instance("ins-1"), instance("ins-2")))
	s.Journal.Unreported = nil
	failing := notReady(time.Hour)
	for _, step := range []struct {
		name     string
		nodes    []node.Node
		unseen   bool
		want     []string
		messages []string
		reported history.Kind
	}{
		{name: "both fail", nodes: []node.Node{nodeOf("ins-1", failing), nodeOf("ins-2", failing)}, reported: history.Suspend},
		{name: "still", nodes: []node.Node{nodeOf("ins-1", failing), nodeOf("ins-2", failing)}},
		{name: "the cluster is away", unseen: true},
		{
			name: "one recovers", nodes: []node.Node{nodeOf("ins-1", failing), nodeOf("ins-2")}, reported: history.Unsuspend,
			want: []string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-3"},
			messages: []string{
				"failing nodes are replaced again, which was suspended since 2026-03-01T12:00:00Z",
				"ins-1 needs a replacement: its node node-ins-1 has not been Ready for longer than the 10m of unhealthy_timeout",
			},
		},
	} {
		if s = inCluster(s, step.nodes...); step.unseen {
			s.Observation.Cluster = node.Observation{}
		}
		p := decide.Decide(s)
		shouldDecide(t, p, step.want...)
		if diff := cmp.Diff(step.messages, p.Messages.Texts()); diff != "" {
			t.Errorf("%s: messages (-want +got):\n%s", step.name, diff)
		}
		var reported history.Kind
		for _, e := range p.Journal.Unreported {
			if e.Kind == history.Suspend || e.Kind == history.Unsuspend {
				reported += e.Kind
			}
		}
		if reported != step.reported {
			t.Errorf("%s: the history has %q, want %q", step.name, reported, step.reported)
		}
		s.Journal = p.Journal
		s.Journal.Unreported = nil
	}
}

// TestAPoolOfOneIsNotReplacedForever: with a driver that fails soon after each join, the first replacement is launched
// in another offering. After the second failure, no more is replaced.
func TestAPoolOfOneIsNotReplacedForever(t *testing.T) {
	t.Parallel()
	w := newWorld(pool(size(1, 2), withNodes))
	w.cluster = newCluster()
	var zones []string // of the launches
	var last decide.Plan
	launched := map[string]bool{}
	for range 180 {
		for id, n := range w.cluster.nodes {
			if w.cluster.sick[id].IsZero() && w.now.Sub(n.CreatedAt) >= 10*time.Minute {
				w.cluster.sick[id] = w.now
			}
		}
		if _, err := w.run(fault{}, func(_ decide.Situation, p decide.Plan) { last = p }); err != nil {
			t.Fatal(err)
		}
		for _, m := range w.machines {
			if !launched[m.ID] {
				launched[m.ID], zones = true, append(zones, m.AvailabilityZone)
			}
		}
		w.pass(2 * time.Minute)
	}
	if want := []string{zone2, zone3, zone2}; !slices.Equal(zones, want) {
		t.Errorf("launched in %v, want %v", zones, want)
	}
	if want := "2 instances in a row failed before they had worked for an hour"; last.Nodes.ReplacingSuspended.String() != want {
		t.Errorf("replacing is suspended by %q, want %q", last.Nodes.ReplacingSuspended, want)
	}
}
