package decide_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// twin is another Node with the provider ID of an instance: it contests it.
func twin(id string) node.Node {
	return nodeOf(id, func(n *node.Node) { n.Name, n.UID = "twin-"+id, "twin-"+id })
}

// TestARefreshDoesNotCountContestedInstances: the node of an instance is ambiguous, so it does
// not count as Ready, whatever it was before.
func TestARefreshDoesNotCountContestedInstances(t *testing.T) {
	t.Parallel()
	d := pool(size(2, 3), withNodes, refreshing(spotpool.RefreshRolling, 1, 0))
	s := remembered(seen(d, instance("ins-1", drifted), instance("ins-2"), instance("ins-3")))
	p := decide.Decide(inCluster(s, nodeOf("ins-1"), nodeOf("ins-2"), nodeOf("ins-3"), twin("ins-3")))
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), "1 to be replaced (drifted configuration) once more than 2 nodes have been Ready for 2m, and 2 have")
}

// TestContestedInstancesDoNotBlockOthers: a refresh and scale-in go on with other instances,
// in the place of one that is left alone since it is contested.
func TestContestedInstancesDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]spotpool.Declaration{
		"refresh": pool(size(2, 4), withNodes, refreshing(spotpool.RefreshRolling, 1, 0)),
		"maximum": pool(size(1, 3), withNodes),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var list []spotpool.Instance
			nodes := []node.Node{twin("ins-1")}
			for _, id := range []string{"ins-1", "ins-2", "ins-3", "ins-4"} {
				list, nodes = append(list, instance(id, drifted)), append(nodes, nodeOf(id))
			}
			shouldDecide(t, decide.Decide(inCluster(remembered(seen(d, list...)), nodes...)), "drain ins-2, the node node-ins-2")
		})
	}
	s := remembered(seen(pool(size(0, 0), withNodes), instance("ins-1")))
	p := decide.Decide(inCluster(s, nodeOf("ins-1"), twin("ins-1")))
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), "ins-1 is to be terminated (no instances are desired), but its node is ambiguous: "+
		"the nodes node-ins-1 and twin-ins-1 both say that they are ins-1")
}
