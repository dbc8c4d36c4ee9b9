package conservation_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

const joins = time.Minute // from running to a Ready node

// cluster is the cluster in memory with kubelets: machines become nodes of it, under host
// names that the network may have given to others before.
type cluster struct {
	*reconciletest.Cluster
	w *world
	// calls lets one call at a time through; mu guards what was observed.
	calls, mu sync.Mutex
	away      bool
	// kubelets are by the name of the Node that they registered or found.
	kubelets map[string]*kubelet
	made     int // Nodes and pods so far
	jobs     int // that the CronJob started
	// manual changes of machines, by ID
	sick, renewed map[string]bool
	agents        map[string]*agent // of machines that are reclaimed
	clocksOff     bool              // nodes write an hour too early into their conditions
	// The sums of successful observations of the nodes, by the UID of the Node. Unobserved time
	// does not count.
	drained, unready map[string]time.Duration
	surely           map[string]time.Duration // not Ready, of each pause at most pauseCounts
	doubted          bool                     // the last observation may not have been written down
	draining         map[string]bool          // the uids of Nodes that gpupool keeps pods off
	joined           map[string]bool          // the uids of Nodes that were observed to be Ready
	before           map[string]node.Node     // as of the last observation; nil if that failed
	observedAt       time.Time
	stockKeys        map[string]bool
	pods             map[string]*lived // every pod with GPUs that there ever was, by uid
}

type kubelet struct {
	machine *machine
	since   time.Time
}

func newCluster(w *world) *cluster {
	c := &cluster{
		Cluster: reconciletest.NewCluster(), w: w, kubelets: map[string]*kubelet{}, sick: map[string]bool{}, renewed: map[string]bool{},
		agents: map[string]*agent{}, drained: map[string]time.Duration{}, surely: map[string]time.Duration{}, draining: map[string]bool{},
		unready: map[string]time.Duration{}, joined: map[string]bool{}, stockKeys: map[string]bool{}, pods: map[string]*lived{},
	}
	c.Cluster.Hook = c.through
	c.Cluster.Join("", func(m *reconciletest.Machine) { m.Name, m.ProviderID = "gpu-0", "qcloud:///800002/ins-foreign" })
	return c
}

var errAway = errors.New("dial tcp 10.9.9.9:6443: connect: connection refused")

func (c *cluster) connect(context.Context) (reconcile.Cluster, error) {
	if c.away {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.before = nil // this process has observed nothing
		return nil, errAway
	}
	return c.Cluster, nil
}

// through handles each call of the cluster: it takes effect now, and promises and controllers
// follow it.
func (c *cluster) through(_ context.Context, call faults.Call, do func() error) error {
	c.calls.Lock()
	defer c.calls.Unlock()
	c.Cluster.Step(time.Since(c.Cluster.Now()))
	switch call.Name {
	case "Nodes":
		return c.listNodes(call.Answer.(*node.Observation), do)
	case "MarkNode":
		c.w.changes(call.Args[0].(node.Node), call.Args[1].(string), "marks")
	case "CordonNode":
		return c.cordon(call.Args[0].(node.Node), call.Args[1].(string), do)
	case "DeleteNode":
		return c.deleteNode(call.Args[0].(node.Node), call.Args[1].(string), do)
	case "Evict":
		return c.evict(call.Args[0].(budget.Eviction), do)
	case "Unfreeze":
		c.unfreeze(call.Args[0].(string))
	case "Pause":
		return c.pause(call.Args[0].(budget.WorkloadState), do)
	case "Resume":
		return c.resume(call.Args[0].(budget.WorkloadState), call.Args[1].(int32), do)
	case "Owners":
		return c.own(call.Args[0].([]budget.Pod), call.Answer.(*map[string]budget.Ownership), do)
	case "Workload":
		return c.workload(call.Args[0].(budget.Workload), call.Answer.(*budget.WorkloadState), do)
	case "Stock":
		return c.listStock(call.Answer.(*stockpool.Observations), do)
	case "CreateStock":
		return c.createStock(call.Args[0].(*appsv1.Deployment), call.Answer.(**appsv1.Deployment), do)
	case "ApplyStock":
		return c.applyStock(call.Args[0].(*appsv1.Deployment), call.Args[1].(*appsv1.Deployment), do)
	case "ScaleStock":
		return c.scaleDeployment(call.Args[0].(*appsv1.Deployment), call.Args[1].(int), do)
	case "DeleteStock":
		return c.deleteStock(call.Args[0].(*appsv1.Deployment), do)
	}
	return do()
}

// pass lets kubelets and controllers do what they do, up to now.
func (c *cluster) pass() {
	c.Cluster.Step(time.Since(c.Cluster.Now()))
	now := time.Now()
	for id, a := range c.agents {
		m := c.w.cloud.running(id)
		if m == nil {
			delete(c.agents, id)
			continue
		}
		if a.until(now); now.Before(a.at) {
			continue
		}
		if left := a.undeleted(); len(left) > 0 {
			c.w.violated(promiseDeleted, "%s is reclaimed with %v", id, left)
		}
		c.w.cloud.reclaim(m)
		delete(c.agents, id)
	}
	for _, p := range c.w.pools {
		for _, m := range c.w.cloud.of(p.uid()) {
			if m.State == spotpool.StateRunning && p.setup.Nodes && now.Sub(m.made) >= boots+joins {
				c.register(p, m)
			}
		}
	}
	for name, k := range c.kubelets {
		n := c.Machines[name]
		if n == nil {
			continue
		}
		ready := node.ReadyUnknown
		if c.works(name) {
			ready = node.ReadyTrue
		}
		if n.Ready != ready {
			n.Ready, n.ReadySince = ready, now.UTC()
			if c.clocksOff {
				n.ReadySince = n.ReadySince.Add(-time.Hour)
			}
		}
		if c.renewed[k.machine.ID] && ready == node.ReadyTrue {
			n.TakenAt = now.Add(2 * time.Minute).UTC()
		}
	}
}

// works reports whether the kubelet behind a Node keeps it Ready.
func (c *cluster) works(name string) bool {
	k := c.kubelets[name]
	if k == nil || c.w.cloud.running(k.machine.ID) == nil || c.sick[k.machine.ID] {
		return false
	}
	return !k.machine.bad || time.Since(k.since) < 2*time.Minute
}

func hostName(m *machine) string { return fmt.Sprintf("vm-0-%d", m.address) }

// register simulates the start of a kubelet. It uses the Node of its host name if there is one,
// whose provider ID it never updates. Otherwise, it registers a new one.
func (c *cluster) register(p *pool, m *machine) {
	name := hostName(m)
	if k := c.kubelets[name]; k != nil && k.machine == m {
		return
	}
	if m.joined { // its Node was deleted; only a restart of the kubelet registers another
		return
	}
	m.joined = true
	c.kubelets[name] = &kubelet{machine: m, since: time.Now()}
	if n := c.Machines[name]; n != nil {
		n.Addresses = []string{m.PrivateIP}
		return
	}
	c.create(p, m)
}

// create makes the Node of a machine, with pods on it.
func (c *cluster) create(p *pool, m *machine) {
	name := hostName(m)
	c.Cluster.Join(m.ID, func(n *reconciletest.Machine) {
		c.made++
		n.Name, n.UID, n.Addresses = name, fmt.Sprintf("node-uid-%d", c.made), []string{m.PrivateIP}
		n.CreatedAt, n.ReadySince = time.Now().UTC(), time.Now().UTC()
		n.ProviderID = map[string]string{
			"": "qcloud:///800002/" + m.ID, "unparsable": "k3s://" + name, "slashes": "qcloud://800002/" + m.ID, "none": "", "foreign": "aws:///zone/i-" + m.ID,
		}[p.setup.ProviderID]
		n.Pods = c.workOn(p, name)
	})
}

func (c *cluster) workOn(p *pool, name string) []node.Pod {
	c.made++
	list := []node.Pod{{Namespace: "ml", Name: fmt.Sprintf("work-%d", c.made), UID: fmt.Sprintf("pod-uid-%d", c.made), Controller: "ReplicaSet", Grace: 30}}
	if p.setup.Guarded {
		guarded := node.Pod{
			Namespace: "ml", Name: fmt.Sprintf("guarded-%d", c.made), UID: fmt.Sprintf("guarded-uid-%d", c.made), Controller: "ReplicaSet", Grace: 30,
		}
		c.Cluster.Blocked[guarded.Name] = true
		list = append(list, guarded)
	}
	return list
}

// behind is the Node that a machine's kubelet keeps; nil if it has none.
func (c *cluster) behind(m *machine) *reconciletest.Machine {
	k := c.kubelets[hostName(m)]
	if k == nil || k.machine != m {
		return nil
	}
	return c.Cluster.Machine(hostName(m))
}

// observed adds up the time between two observations in a row that showed the same.
func (c *cluster) observed(nodes []node.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, passed := map[string]node.Node{}, time.Since(c.observedAt)
	for _, n := range nodes {
		was, seen := c.before[n.UID]
		now[n.UID] = n
		switch {
		case !n.Cordoned || !c.draining[n.UID]:
			c.drained[n.UID], c.draining[n.UID] = 0, false
		case seen && was.Cordoned:
			c.drained[n.UID] += passed
		}
		switch {
		case n.Ready == node.ReadyTrue:
			c.unready[n.UID], c.surely[n.UID], c.joined[n.UID] = 0, 0, true
		case seen && was.Ready != node.ReadyTrue:
			c.unready[n.UID] += passed
			if c.surely[n.UID] += min(passed, pauseCounts); c.doubted {
				c.surely[n.UID] = 0
			}
		}
	}
	c.before, c.observedAt, c.doubted = now, time.Now(), false
}

// unsure records that the last observation may be unrecorded.
func (c *cluster) unsure() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.surely)
	c.doubted = true
}

func (c *cluster) listNodes(l *node.Observation, do func() error) error {
	err := do()
	if err == nil {
		c.observed(l.Nodes)
	}
	return err
}

// pauseCounts is what any run may count of a pause between two observations.
const pauseCounts = 5 * time.Minute

// fails reports whether the Node of a machine, once Ready, was observed not to be for its
// pool's timeout. unready is all of that time, or what surely counts.
func (c *cluster) fails(p *pool, n *reconciletest.Machine, unready map[string]time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return n.Ready != node.ReadyTrue && c.joined[n.UID] && unready[n.UID] >= time.Duration(p.now().WithDefaults().Nodes.UnhealthyTimeout)
}

func (c *cluster) cordon(n node.Node, uid string, do func() error) error {
	c.w.changes(n, uid, "cordons")
	c.w.cordons(n, uid)
	err := do()
	if after := c.Cluster.Machine(n.Name); err == nil && after != nil { // this call observed it
		c.mu.Lock()
		c.draining[after.UID] = true
		if c.before != nil {
			c.before[after.UID] = after.Node
		}
		c.mu.Unlock()
	}
	return err
}

func (c *cluster) deleteNode(n node.Node, uid string, do func() error) error {
	live := c.Cluster.Machine(n.Name)
	err := do()
	if live != nil && c.Cluster.Machine(n.Name) == nil {
		c.w.logf("gpupool deleted the Node %s (%s, %s) with %d pods", n.Name, live.UID, live.Ready, len(live.Pods))
		if live.Ready == node.ReadyTrue {
			c.w.violated(promiseReadyNode, "the Node %s (%s) was Ready, with %d pods", n.Name, live.UID, len(live.Pods))
		}
		c.w.changes(n, uid, "deletes")
	}
	return err
}

func (c *cluster) evict(e budget.Eviction, do func() error) error {
	before := c.Cluster.Pods[e.UID]
	err := do()
	if err == nil && before != nil {
		c.account("an eviction by a budget")
		if _, marked := before.Labels[budget.ProtectedKey]; marked {
			c.w.violated(promiseProtected, "the pod %s was evicted", e.Name)
		}
	}
	return err
}

// names are those of the Nodes, sorted.
func (c *cluster) names() []string {
	list := slices.Sorted(maps.Keys(c.Cluster.Machines))
	return slices.DeleteFunc(list, func(name string) bool { return !strings.HasPrefix(name, "vm-") })
}
