package decide_test

import (
	"testing"
	"time"

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
		if got := decide.Decide(s).Nodes.ReplacingSuspended; got != c.want {
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
	const why = "ins-1 is to be replaced (its node node-ins-1 has not been Ready for longer than the 10m of unhealthy_timeout), and is not while "
	const launch = "launch 1 spot GN7.2XLARGE32 in ap-singapore-2"
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
