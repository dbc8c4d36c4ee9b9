package reconciletest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Joining lets the pool's machines join a cluster as nodes, each with so many pods. Nodes of
// machines that are gone are not Ready. It checks terminations against the pods on the node.
func (w *World) Joining(podsEach int) *Cluster {
	w.t.Helper()
	w.Cluster = NewCluster()
	// Tests advance the clock by minutes in a moment, in which the loop below may not turn.
	w.Cluster.update = func() { w.join(podsEach) }
	ctx, cancel := context.WithCancel(context.Background())
	var stopped sync.WaitGroup
	stopped.Go(func() {
		for ctx.Err() == nil {
			w.join(podsEach)
			time.Sleep(3 * time.Millisecond)
		}
	})
	w.t.Cleanup(func() { cancel(); stopped.Wait() })
	return w.Cluster
}

// JoinNone sets whether no further machine joins.
func (c *state) JoinNone(none bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.neverAny = none
}

// join brings the nodes, and the time of the cluster, up to date with the machines.
func (w *World) join(podsEach int) {
	c := w.Cluster
	now, err := w.Sim.Server.StepClock(0)
	if err != nil {
		w.t.Error(err)
		return
	}
	running := map[string]bool{}
	for _, i := range w.Sim.Server.Instances() {
		if i.Pool == "train" && i.State == "RUNNING" {
			running[i.InstanceID] = true
		}
	}
	c.mu.Lock()
	c.now = now.UTC().Truncate(time.Second).Add(c.stepped)
	for _, m := range c.Machines {
		if !running[strings.TrimPrefix(m.Name, "node-")] && m.Ready == node.ReadyTrue && !m.Reused {
			m.Ready, m.ReadySince = node.ReadyUnknown, c.now
		}
	}
	var joins []string
	for id := range running {
		if c.Machines["node-"+id] == nil && !c.neverAny && !c.joined[id] && c.signsIn(w.UserData(id)) {
			c.joined[id] = true
			joins = append(joins, id)
		}
	}
	c.mu.Unlock()
	for _, id := range joins {
		c.Join(id, func(m *Machine) {
			for n := range podsEach {
				m.Pods = append(m.Pods, node.Pod{
					Namespace: "ml", Name: fmt.Sprintf("work-%s-%d", id, n), UID: fmt.Sprintf("uid-%s-%d", id, n), Controller: "ReplicaSet", Grace: 30,
				})
			}
		})
	}
}

// ownNodes are the names that the nodes of the pool's machines have.
func (w *World) ownNodes() map[string]bool {
	names := map[string]bool{}
	for _, i := range w.Own() {
		names["node-"+i.InstanceID] = true
	}
	return names
}

// VerifyNodes checks what must hold of nodes in any case. They are schedulable, each belongs to
// a machine, and nothing was terminated before its node was empty.
func (w *World) VerifyNodes() {
	w.t.Helper()
	there := w.ownNodes()
	c := w.Cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.Machines)) {
		m := c.Machines[name]
		switch {
		case !there[name]:
			w.t.Errorf("the node %s is left, and its machine is gone", name)
		case m.CordonedBy != "":
			w.t.Errorf("the node %s is cordoned still, and nothing ends it", name)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.tokens)) {
		w.t.Errorf("the bootstrap token %s is left", id)
	}
	for _, text := range c.Unemptied {
		w.t.Error(text)
	}
}

// LeftNodes counts the nodes whose machines are gone.
func (w *World) LeftNodes() int {
	there := w.ownNodes()
	c := w.Cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for name := range c.Machines {
		if !there[name] {
			n++
		}
	}
	return n
}

// careful holds what a process ends against what is on the nodes.
type careful struct {
	spotpools.Cloud
	cluster *Cluster
}

func (c careful) Terminate(ctx context.Context, region string, instances []spotpool.Instance) ([]string, error) {
	ended, err := c.Cloud.Terminate(ctx, region, instances)
	c.cluster.mu.Lock()
	defer c.cluster.mu.Unlock()
	for _, id := range ended {
		if m := c.cluster.Machines["node-"+id]; m != nil && m.Ready == node.ReadyTrue && len(m.Pods) > 0 && !c.cluster.Impatient {
			c.cluster.Unemptied = append(c.cluster.Unemptied, fmt.Sprintf("%s ended with %d pods on its node", id, len(m.Pods)))
		}
	}
	return ended, err
}
