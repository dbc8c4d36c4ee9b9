package reconciletest

import (
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
	// Reused says that another machine registered as this node: it stays Ready without its
	// instance.
	Reused bool
}

// nodeAPI has the calls of spot pools for nodes.
type nodeAPI struct{ *view }

// Join lets an instance become a Ready node, and returns the node's name.
func (c *state) Join(instanceID string, change ...func(*Machine)) string {
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

// Change changes a node, as its kubelet or a person does.
func (c *state) Change(name string, f func(*Machine)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.Machines[name])
}

// Machine is a node as it is now; nil where there is none of that name.
func (c *state) Machine(name string) *Machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Machines[name] == nil {
		return nil
	}
	m := *c.Machines[name]
	m.Pods = slices.Clone(m.Pods)
	return &m
}

func (c nodeAPI) Nodes(ctx context.Context) (node.Observation, error) {
	if c.update != nil {
		c.update()
	}
	return read(ctx, c.view, "Nodes", func() (node.Observation, error) {
		look := node.Observation{ClusterUID: c.ClusterUID, At: c.now}
		for _, name := range slices.Sorted(maps.Keys(c.Machines)) {
			look.Nodes = append(look.Nodes, c.Machines[name].Node)
		}
		return look, nil
	})
}

func (c nodeAPI) NodePods(ctx context.Context, name string) ([]node.Pod, error) {
	return read(ctx, c.view, "NodePods", func() (pods []node.Pod, _ error) {
		if m := c.Machines[name]; m != nil {
			pods = slices.Clone(m.Pods)
		}
		return pods, nil
	})
}

// GPUPods counts the pods with GPUs, by node: all that are at work but those of daemon
// sets.
func (c nodeAPI) GPUPods(ctx context.Context) (map[string]int, error) {
	return read(ctx, c.view, "GPUPods", func() (map[string]int, error) {
		count := map[string]int{}
		for name, m := range c.Machines {
			for _, p := range m.Pods {
				if !p.Mirror && !p.Ended && p.Controller != "DaemonSet" {
					count[name]++
				}
			}
		}
		return count, nil
	})
}

func (c nodeAPI) turn(ctx context.Context, method string, n node.Node, uid string, f func(*Machine)) error {
	return c.act(ctx, method, n.Name, func() error {
		m := c.Machines[n.Name]
		switch err := c.Failing[method+" "+n.Name]; {
		case err != nil:
			return err
		case m == nil || m.UID != n.UID:
			return fmt.Errorf("the node %s is another by now", n.Name)
		}
		f(m)
		return nil
	}, n, uid)
}

func (c nodeAPI) MarkNode(ctx context.Context, n node.Node, uid string) error {
	return c.turn(ctx, "MarkNode", n, uid, func(m *Machine) { m.Pool = uid })
}

// UnmarkNode takes a pool's mark off a node.
func (c nodeAPI) UnmarkNode(ctx context.Context, n node.Node, uid string) error {
	return c.turn(ctx, "UnmarkNode", n, uid, func(m *Machine) {
		if m.Pool == uid {
			m.Pool = ""
		}
	})
}

// CordonNode keeps new pods off a node.
func (c nodeAPI) CordonNode(ctx context.Context, n node.Node, uid string) error {
	return c.turn(ctx, "CordonNode", n, uid, func(m *Machine) {
		if !m.Cordoned {
			m.Cordoned, m.CordonedBy = true, uid
		}
	})
}

// UncordonNode lets a node have new pods again that the pool cordoned.
func (c nodeAPI) UncordonNode(ctx context.Context, n node.Node, uid string) error {
	return c.turn(ctx, "UncordonNode", n, uid, func(m *Machine) {
		if m.CordonedBy == uid {
			m.Cordoned, m.CordonedBy = false, ""
		}
	})
}

// DeleteNode deletes a node for which no kubelet reports; one that is gone is no error.
func (c nodeAPI) DeleteNode(ctx context.Context, n node.Node, uid string) error {
	return c.change(ctx, "DeleteNode", func() error {
		m := c.Machines[n.Name]
		switch {
		case m == nil || m.UID != n.UID || m.Pool != uid:
			return nil
		case !m.Silent():
			return fmt.Errorf("the node %s has a kubelet that reports: %w", n.Name, node.ErrChanged)
		}
		c.Acts = append(c.Acts, "DeleteNode "+n.Name)
		delete(c.Machines, n.Name)
		return nil
	}, n, uid)
}

// evictFromMachine evicts a pod of a node; false where no node has it.
func (c *state) evictFromMachine(e budget.Eviction) bool {
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

// RemoveNode takes a node away, as the cluster's own controllers do with that of an instance
// which is gone.
func (c *state) RemoveNode(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.Machines, name)
}
