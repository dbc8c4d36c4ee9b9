package node_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// TestOnlyMarksOfDeclaredPoolsCount: what a destroyed pool left behind holds no other pool's
// replacements back.
func TestOnlyMarksOfDeclaredPoolsCount(t *testing.T) {
	t.Parallel()
	of := func(name, pool string, ready node.Readiness) node.Node {
		return node.Node{Name: name, UID: name, Pool: pool, Ready: ready, ReadySince: noon.Add(-time.Hour)}
	}
	x := node.NewIndex(node.Observation{ClusterUID: "c", At: noon, Nodes: []node.Node{
		of("a", "own", node.ReadyFalse), of("b", "declared", node.ReadyTrue), of("c", "declared", node.ReadyFalse),
		{Name: "g", UID: "g", Pool: "declared", Ready: node.ReadyUnknown, ReadySince: noon.Add(-time.Minute)},
		of("d", "destroyed", node.ReadyFalse), of("e", "destroyed", node.ReadyUnknown), of("f", "", node.ReadyFalse),
	}})
	declared := func(uid string) bool { return uid == "own" || uid == "declared" }
	if got, want := x.Others("own", declared, 10*time.Minute, noon), (node.Count{Nodes: 3, Failed: 1, Unready: 1}); got != want {
		t.Errorf("others are %+v, want %+v", got, want)
	}
}
