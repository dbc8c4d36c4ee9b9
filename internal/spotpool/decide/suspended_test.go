package decide_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
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
