package reconciletest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// Machine is a node of the cluster, with the pods that are on it.
type Machine struct {
	node.Node
	Pods []node.Pod
}

// Join lets an instance become a Ready node, and returns the node's name.
func (c *Cluster) Join(instanceID string, change ...func(*Machine)) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Version++
	m := &Machine{Node: node.Node{
		Name: "node-" + instanceID, UID: fmt.Sprintf("10000000-0000-4000-8000-%012d", c.Version), ProviderID: "qcloud:///800002/" + instanceID,
		CreatedAt: c.now, Ready: node.ReadyTrue, ReadySince: c.now,
	}}
	for _, f := range change {
		f(m)
	}
	c.Machines[m.Name] = m
	return m.Name
}

// Change changes a node, as its kubelet or somebody else does.
func (c *Cluster) Change(name string, f func(*Machine)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.Machines[name])
}

// Machine is a node as it is now; nil where there is none of that name.
func (c *Cluster) Machine(name string) *Machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Machines[name] == nil {
		return nil
	}
	m := *c.Machines[name]
	m.Pods = slices.Clone(m.Pods)
	return &m
}

// Nodes looks at all nodes.
func (c *Cluster) Nodes(context.Context) (node.Look, error) {
	if err := c.call("Nodes"); err != nil {
		return node.Look{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	look := node.Look{ClusterUID: c.ClusterUID, At: c.now}
	for _, name := range slices.Sorted(maps.Keys(c.Machines)) {
		look.Nodes = append(look.Nodes, c.Machines[name].Node)
	}
	return look, nil
}

// NodePods lists the pods of a node.
func (c *Cluster) NodePods(_ context.Context, name string) ([]node.Pod, error) {
	if err := c.call("NodePods"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.Machines[name]; m != nil {
		return slices.Clone(m.Pods), nil
	}
	return nil, nil
}

// GPUPods counts the pods with GPUs, by node: all that are at work but those of daemon
// sets.
func (c *Cluster) GPUPods(context.Context) (map[string]int, error) {
	if err := c.call("GPUPods"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	count := map[string]int{}
	for name, m := range c.Machines {
		for _, p := range m.Pods {
			if !p.Mirror && !p.Ended && p.Controller != "DaemonSet" {
				count[name]++
			}
		}
	}
	return count, nil
}

// turn changes exactly this node, and writes down what was done.
func (c *Cluster) turn(method string, n node.Node, f func(*Machine)) error {
	err := c.call(method)
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.Machines[n.Name]
	if err = cmp.Or(err, c.Failing[method+" "+n.Name]); err != nil {
		return err
	}
	if m == nil || m.UID != n.UID {
		return fmt.Errorf("the node %s is another by now", n.Name)
	}
	c.Acts = append(c.Acts, method+" "+n.Name)
	f(m)
	return nil
}

// MarkNode marks a node as a pool's.
func (c *Cluster) MarkNode(_ context.Context, n node.Node, uid string) error {
	return c.turn("MarkNode", n, func(m *Machine) { m.Pool = uid })
}

// CordonNode keeps new pods off a node.
func (c *Cluster) CordonNode(_ context.Context, n node.Node, uid string) error {
	return c.turn("CordonNode", n, func(m *Machine) {
		if !m.Cordoned {
			m.Cordoned, m.CordonedBy = true, uid
		}
	})
}

// UncordonNode lets a node have new pods again that the pool cordoned.
func (c *Cluster) UncordonNode(_ context.Context, n node.Node, uid string) error {
	return c.turn("UncordonNode", n, func(m *Machine) {
		if m.CordonedBy == uid {
			m.Cordoned, m.CordonedBy = false, ""
		}
	})
}

// DeleteNode deletes a node for which no kubelet reports; one that is gone is no error.
func (c *Cluster) DeleteNode(_ context.Context, n node.Node, uid string) error {
	err := c.call("DeleteNode")
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		return err
	}
	if m := c.Machines[n.Name]; m != nil && m.UID == n.UID && m.Pool == uid {
		if !m.Silent() {
			return fmt.Errorf("the node %s has a kubelet that reports: %w", n.Name, node.ErrChanged)
		}
		c.Acts = append(c.Acts, "DeleteNode "+n.Name)
		delete(c.Machines, n.Name)
	}
	return nil
}

// evictFromMachine evicts a pod of a node; false where no node has it.
func (c *Cluster) evictFromMachine(e budget.Eviction) bool {
	for _, m := range c.Machines {
		at := slices.IndexFunc(m.Pods, func(p node.Pod) bool { return p.UID == e.UID })
		if at < 0 {
			continue
		}
		if c.Grace > 0 {
			m.Pods[at].Ending = true
		} else {
			m.Pods = slices.Delete(m.Pods, at, at+1)
		}
		return true
	}
	return false
}
