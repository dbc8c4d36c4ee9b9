package node_test

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// An instance is a node by its provider ID. A node that has the address of an instance
// and another provider ID is contested, and nothing is done to it.
func ExampleMatchNodes() {
	instances := []node.Instance{{ID: "ins-00000001", PrivateIP: "10.0.0.1"}, {ID: "ins-00000002", PrivateIP: "10.0.0.2"}, {ID: "ins-00000003"}}
	observation := node.Observation{ClusterUID: "cluster", At: time.Unix(0, 0), Nodes: []node.Node{
		{Name: "gpu-1", UID: "a", ProviderID: "qcloud:///200002/ins-00000001", Addresses: []string{"10.0.0.1"}},
		{Name: "gpu-2", UID: "b", ProviderID: "qcloud:///200002/ins-99999999", Addresses: []string{"10.0.0.2"}},
	}}
	matches := node.MatchNodes(instances, observation, false)
	for _, i := range instances {
		m := matches.Of(i.ID)
		fmt.Println(i.ID, m.Standing == node.Present, m.Standing == node.Contested)
	}
	// Output:
	// ins-00000001 true false
	// ins-00000002 false true
	// ins-00000003 false false
}
