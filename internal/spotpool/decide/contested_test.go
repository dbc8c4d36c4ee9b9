package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// atAddress gives an instance a private address.
func atAddress(ip string) func(*spotpool.Instance) {
	return func(i *spotpool.Instance) { i.PrivateIP = ip }
}

// callsItself is a node's provider ID, at an address.
func callsItself(providerID, ip string) func(*node.Node) {
	return func(n *node.Node) { n.ProviderID, n.Addresses = providerID, []string{ip} }
}

// TestContestedInstancesAreLeftAlone: an instance whose address has a Node with any other
// provider ID is not replaced as late, not terminated above maximum, and reported.
func TestContestedInstancesAreLeftAlone(t *testing.T) {
	t.Parallel()
	for _, providerID := range []string{"k3s://vm-1", "qcloud://ap-singapore-2/ins-1", "qcloud:///900002/ins-0", "aws:///z/i-1"} {
		for name, d := range map[string]spotpool.Declaration{
			"late": pool(size(2, 3), withNodes), "above maximum": pool(size(0, 0), withNodes),
		} {
			t.Run(name+" "+providerID, func(t *testing.T) {
				t.Parallel()
				s := seen(d, instance("ins-1", atAddress("10.0.0.1")), instance("ins-2", atAddress("10.0.0.2")))
				nodes := []node.Node{nodeOf("ins-1", callsItself(providerID, "10.0.0.1")), nodeOf("ins-2", callsItself("k3s://vm-2", "10.0.0.2"))}
				for _, after := range []time.Duration{-time.Hour, -30 * time.Minute, 0} {
					s.Now = noon.Add(after)
					p := decide.Decide(inCluster(s, nodes...))
					s.Journal = p.Journal
					shouldDecide(t, p)
					if warnings := strings.Join(p.Warnings.Texts(), "\n"); !strings.Contains(warnings, "has the address of ins-1") {
						t.Errorf("warnings are %q", p.Warnings.Texts())
					}
				}
			})
		}
	}
}

// TestAReadyNodeIsNeverDeleted: the successor of an instance that is gone registers as
// its Node, by the same host name. The Node stays, also when it is not Ready for a
// moment, and the successor is contested and reported.
func TestAReadyNodeIsNeverDeleted(t *testing.T) {
	t.Parallel()
	ours := func(n *node.Node) { n.Pool, n.Addresses = uid, []string{"10.0.0.2"} }
	s := remembered(seen(pool(size(2, 3), withNodes), instance("ins-1"), instance("ins-2")))
	s.Observation.Instances = []spotpool.Instance{instance("ins-1"), instance("ins-3", launched(noon), atAddress("10.0.0.2"))}
	s.Observation.Absent = []string{"ins-2"}
	step := func(after time.Duration, state node.Readiness, since time.Duration) decide.Plan {
		t.Helper()
		s = inCluster(s, nodeOf("ins-1"), nodeOf("ins-2", ours, func(n *node.Node) { n.Ready, n.ReadySince = state, noon.Add(since) }))
		s.Now = noon.Add(after)
		p := decide.Decide(s)
		s.Journal = p.Journal
		shouldDecide(t, p)
		return p
	}
	step(0, node.ReadyTrue, -time.Hour)
	p := step(2*time.Minute, node.ReadyTrue, time.Minute)
	warned := strings.Join(p.Warnings.Texts(), "\n")
	for _, says := range []string{"node node-ins-2 has the address of ins-3 and the provider ID of ins-2", "node node-ins-2 is used by another machine"} {
		if !strings.Contains(warned, says) {
			t.Errorf("warnings are %q, and lack %q", p.Warnings.Texts(), says)
		}
	}
	step(3*time.Minute, node.ReadyFalse, 3*time.Minute)
	step(20*time.Minute, node.ReadyUnknown, 4*time.Minute)
	p = step(40*time.Minute, node.ReadyTrue, 30*time.Minute)
	if len(p.NodesInUse) != 1 || p.Members[1].Match.Standing != node.Contested {
		t.Errorf("nodes in use are %v, and ins-3 is %+v", p.NodesInUse, p.Members[1].Match)
	}
}

// TestANodeThatAnotherMachineUsesIsUncordoned: a machine at the address of a drained instance registers as its Node.
// The cordon was for the instance, which is gone.
func TestANodeThatAnotherMachineUsesIsUncordoned(t *testing.T) {
	t.Parallel()
	drained := func(n *node.Node) {
		n.Pool, n.Addresses, n.Cordoned, n.CordonedBy = uid, []string{"10.0.0.2"}, true, uid
	}
	s := remembered(seen(pool(size(2, 3), withNodes), instance("ins-1"), instance("ins-2")))
	s.Observation.Instances = []spotpool.Instance{instance("ins-1"), instance("ins-3", launched(noon), atAddress("10.0.0.2"))}
	s.Observation.Absent = []string{"ins-2"}
	for after, want := range []string{"", "uncordon ins-2, the node node-ins-2", "uncordon ins-2, the node node-ins-2"} { // minutes
		s.Now = noon.Add(time.Duration(after) * time.Minute)
		p := decide.Decide(inCluster(s, nodeOf("ins-1"), nodeOf("ins-2", drained, func(n *node.Node) { n.ReadySince = noon.Add(time.Second) })))
		s.Journal = p.Journal
		shouldDecide(t, p, slices.DeleteFunc([]string{want}, func(none string) bool { return none == "" })...)
		if p.Nodes.Unknown != 1 {
			t.Errorf("after %d minutes, %d nodes are ambiguous, want 1", after, p.Nodes.Unknown)
		}
	}
}

// TestANodeThatStaysReadyIsInUse: another machine may take over a Node before it is not Ready.
// It is in use once it has been Ready for longer than the cluster needs to mark it Unknown.
func TestANodeThatStaysReadyIsInUse(t *testing.T) {
	t.Parallel()
	ours := func(n *node.Node) { n.Pool = uid }
	s := remembered(seen(pool(withNodes), instance("ins-1"), instance("ins-2"), instance("ins-3")))
	s.Observation.Instances, s.Observation.Absent = s.Observation.Instances[:2], []string{"ins-3"}
	for after, inUse := range []bool{false, false, false, false, true} { // minutes
		s.Now = noon.Add(time.Duration(after) * time.Minute)
		p := decide.Decide(inCluster(s, nodeOf("ins-1", ours), nodeOf("ins-2", ours), nodeOf("ins-3", ours)))
		s.Journal = p.Journal
		shouldDecide(t, p)
		if used := slices.Equal(p.NodesInUse, []decide.NodeInUse{{Name: "node-ins-3", InstanceID: "ins-3"}}); used != inUse ||
			slices.Equal(p.NodesLeft, []string{"node-ins-3"}) == inUse {
			t.Errorf("after %d minutes: in use are %v, and left are %q", after, p.NodesInUse, p.NodesLeft)
		}
	}
}

// TestNodeOfAGoneInstanceBlocksItsName: an unused Node is deleted, though a new instance
// has its address, so that this one can register.
func TestNodeOfAGoneInstanceBlocksItsName(t *testing.T) {
	t.Parallel()
	ours := func(n *node.Node) { n.Pool, n.Addresses = uid, []string{"10.0.0.2"} }
	s := remembered(seen(pool(size(2, 3), withNodes), instance("ins-1"), instance("ins-2")))
	s.Observation.Instances = []spotpool.Instance{instance("ins-1"), instance("ins-3", launched(noon), atAddress("10.0.0.2"))}
	s.Observation.Absent = []string{"ins-2"}
	s = inCluster(s, nodeOf("ins-1"), nodeOf("ins-2", ours, notReady(0)))
	s.Journal = decide.Decide(s).Journal
	s.Now = noon.Add(2 * time.Minute)
	shouldDecide(t, decide.Decide(s), "delete the node node-ins-2 of ins-2")
}
