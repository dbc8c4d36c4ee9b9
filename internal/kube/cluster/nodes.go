package cluster

import (
	"context"
	"maps"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// nodes are the known nodes of a cluster, with their devices.
type nodes struct {
	there       map[string]gpu.Node   // by name
	gone        map[string][]gpu.Node // by the name that they bore
	replayed    []gpu.Node            // those of the gone of which the replay told
	allocatable *big.Rat
	inventory   *gpu.Inventory
}

// find returns all nodes that have or had a name.
func (n *nodes) find(name string) []gpu.Node {
	gone := n.gone[name]
	if node, ok := n.there[name]; ok {
		return append(gone[:len(gone):len(gone)], node)
	}
	return gone
}

// list is all nodes that are there, by name.
func (n *nodes) list() []gpu.Node {
	out := make([]gpu.Node, 0, len(n.there))
	for _, name := range slices.Sorted(maps.Keys(n.there)) {
		out = append(out, n.there[name])
	}
	return out
}

// readNodes lists the nodes, and the slices in which DRA drivers report their devices. The warnings name what
// may not be read.
func (c *podReader) readNodes(ctx context.Context, table *gpu.Table) (*nodes, []string, error) {
	type one struct {
		node gpu.Node
		gpus *big.Rat
	}
	var warnings []string
	devices, err := kubeclient.List(ctx, kubeclient.Collection{Client: c.kube.ResourceV1().RESTClient(), Resource: "resourceslices", PageSize: 500},
		func(object []byte) (*resourcev1.ResourceSlice, bool, error) {
			s := new(resourcev1.ResourceSlice)
			err := s.Unmarshal(object)
			s.ManagedFields = nil
			return s, true, err
		})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		if !apierrors.IsForbidden(err) {
			return nil, nil, err
		}
		warnings = append(warnings, err.Error()+"; parts of devices that pods hold by claim are counted as whole GPUs")
	}
	out := &nodes{there: map[string]gpu.Node{}, gone: map[string][]gpu.Node{}, allocatable: new(big.Rat)}
	if err == nil {
		out.inventory = gpu.NewInventory(devices)
	}
	found, err := kubeclient.List(ctx, kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "nodes", PageSize: 1000},
		func(object []byte) (one, bool, error) {
			var n corev1.Node
			if err := n.Unmarshal(object); err != nil {
				return one{}, false, err
			}
			return one{node: gpu.NodeOf(&n), gpus: table.Allocatable(&n, out.inventory)}, true, nil
		})
	if err != nil {
		return nil, nil, err
	}
	for _, n := range found {
		out.inventory.Offer(&n.node)
		out.there[n.node.Name] = n.node
		out.allocatable.Add(out.allocatable, n.gpus)
	}
	return out, warnings, nil
}

// add adds what a replay has of nodes, and what earlier observations had.
func (n *nodes) add(replayed *nodeReplay, remembered []gpu.Node) {
	known := map[string]*gpu.Node{} // by UID, of those that are not there
	merge := func(node *gpu.Node) {
		there, taken := n.there[node.Name]
		gone := known[node.UID]
		switch {
		case taken && there.UID == node.UID:
			there.Merge(node)
			n.there[node.Name] = there
		case gone != nil:
			gone.Merge(node)
		default:
			node.Gone = true
			known[node.UID] = node
		}
	}
	for _, uid := range replayed.order {
		node := replayed.nodes[uid]
		if _, taken := n.there[node.Name]; !taken && !replayed.deleted[uid] {
			n.there[node.Name] = *node // it came while they were listed
			continue
		}
		merge(node)
	}
	for i := range remembered {
		node := remembered[i]
		merge(&node)
	}
	for _, uid := range replayed.order {
		if node := known[uid]; node != nil {
			n.replayed = append(n.replayed, *node)
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(known)) {
		node := known[uid]
		n.gone[node.Name] = append(n.gone[node.Name], *node)
	}
}

// keep keeps the nodes of an observation, for pods that are observed again.
func (c *podReader) keep(n *nodes) {
	c.mu.Lock()
	c.nodes = n
	c.mu.Unlock()
}

// lastNodes returns the nodes of the last observation, or of a new one.
func (c *podReader) lastNodes(ctx context.Context, table *gpu.Table) (*nodes, error) {
	c.mu.Lock()
	last := c.nodes
	c.mu.Unlock()
	if last != nil {
		return last, nil
	}
	n, _, err := c.readNodes(ctx, table)
	if err == nil {
		c.keep(n)
	}
	return n, err
}
