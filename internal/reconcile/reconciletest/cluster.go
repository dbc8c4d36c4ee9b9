package reconciletest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// Cluster is a cluster in memory with a clock of its own. It has no
// behaviour of a server's but what runs see of one: pods that come and go, the
// history of that, and what was done to it.
type Cluster struct {
	mu         sync.Mutex
	ClusterUID string // what the cluster says that it is
	now        time.Time
	Fast       time.Duration // by how much the server's own clock is ahead
	Version    int           // of the last change
	Pods       map[string]*gpu.Pod
	History    []change
	// forgotten is up to which version the history is gone.
	forgotten int
	Events    map[string]time.Time
	Blocked   map[string]bool  // names of pods that a disruption budget protects
	Broken    map[string]error // by the name of the pod whose eviction fails so
	Driven    map[string]bool  // names of workloads that someone else drives
	classes   map[string]int32
	Former    map[string]map[string]string // labels of namespaces that are gone, by the pod's uid
	Grace     time.Duration                // that evicted pods take to be gone; zero is at once

	Machines map[string]*Machine // by name
	neverAny bool                // no machine joins any more
	joined   map[string]bool
	tokens   map[string]node.BootstrapToken // by id
	// Unemptied are ends of machines with pods on them, unless the pool is Impatient.
	Unemptied []string
	Impatient bool
	Frozen    map[string]budget.FreezeRule
	// Workloads are by uid; Forged and Forgiving are names of such.
	Workloads map[string]*Workload
	Forged    map[string]bool
	Forgiving map[string]bool
	Alerts    []budget.Event
	Evicted   []string
	Graces    []int64  // of the evictions that were asked for
	Acts      []string // all that was done, in order
	calls     map[string]int
	Failing   map[string]error // by the name of a method
	// During runs at the beginning of each call, unless nil.
	During     func(method string)
	Lists      int        // looks that listed all pods
	Remembered []gpu.Node // that the last look was told of
	stock      stock
	// Slow has looks last until nobody waits for them any more.
	Slow bool
	// Listing runs between the position of a look and its list, unless nil.
	Listing func()
}

// change is a pod as it was at one version.
type change struct {
	version int
	pod     gpu.Pod
	deleted bool
}

// NewCluster is a cluster without pods.
func NewCluster() *Cluster {
	return &Cluster{
		ClusterUID: "11111111-2222-3333-4444-555555555555", now: time.Now().UTC().Truncate(time.Second), Version: 1,
		Pods: map[string]*gpu.Pod{}, Machines: map[string]*Machine{}, joined: map[string]bool{}, tokens: map[string]node.BootstrapToken{},
		Events: map[string]time.Time{}, Blocked: map[string]bool{}, Driven: map[string]bool{},
		Frozen: map[string]budget.FreezeRule{}, calls: map[string]int{}, Failing: map[string]error{}, Workloads: map[string]*Workload{},
		classes: map[string]int32{"high": 1000},
	}
}

// Connect is the cluster as an engine is given it.
func (c *Cluster) Connect(context.Context) (reconcile.Cluster, error) { return c, nil }

// Now is what everybody's clock should read.
func (c *Cluster) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Step lets the cluster's clock go on.
func (c *Cluster) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Start binds a pod with GPUs now.
func (c *Cluster) Start(namespace, name string, gpus int64, with ...func(*gpu.Pod)) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	uid := fmt.Sprintf("00000000-0000-4000-8000-%012d", c.Version)
	s := gpu.Pod{
		UID: uid, Namespace: namespace, Name: name, Labels: map[string]string{"team": "a"},
		Node:       gpu.Node{Name: "node-1"},
		Allocation: ledger.Allocation{Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(gpus, 1), Weight: big.NewRat(1, 1)}}, Shown: 1},
		Scheduled:  ledger.Start{At: ledger.TimeOf(c.now), Source: ledger.PodScheduled},
		Running:    ledger.Start{At: ledger.TimeOf(c.now), Source: ledger.ContainerStarted},
		Live:       gpu.Live{Phase: "Running"},
	}
	for _, f := range with {
		f(&s)
	}
	c.Pods[uid] = &s
	c.changed(s, false)
	return uid
}

// Changed has the history tell of a pod, as it became or as it went.
func (c *Cluster) Changed(s gpu.Pod, deleted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed(s, deleted)
}

// changed writes history; c.mu must be held.
func (c *Cluster) changed(s gpu.Pod, deleted bool) {
	c.Version++
	c.History = append(c.History, change{c.Version, s, deleted})
}

// Finish ends a pod by itself: it is there, and terminal.
func (c *Cluster) Finish(uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.Pods[uid]
	s.End, s.Phase = ledger.ExactEnd(ledger.TimeOf(c.now), ledger.ContainerFinished), "Succeeded"
	c.changed(*s, false)
}

// Remove deletes a pod, whose containers the kubelet ended first.
func (c *Cluster) Remove(uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removeLocked(uid)
}

func (c *Cluster) removeLocked(uid string) {
	s := *c.Pods[uid]
	if s.End.Open() {
		s.End = ledger.ExactEnd(ledger.TimeOf(c.now), ledger.ContainerFinished)
	}
	delete(c.Pods, uid)
	c.changed(s, true)
}

// Forget drops the history: a replay from before now is not complete.
func (c *Cluster) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgotten = c.Version
}

// call counts a call, and fails it where that was asked for.
func (c *Cluster) call(method string) error {
	if c.During != nil {
		c.During(method)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[method]++
	return c.Failing[method]
}

// UID is the cluster's.
func (c *Cluster) UID(context.Context) (string, error) { return c.ClusterUID, c.call("UID") }

// Observe is a look: the history since a position, and all pods where that is due.
func (c *Cluster) Observe(ctx context.Context, o gpu.ObserveOptions) (gpu.Observation, error) {
	err := c.call("Observe")
	if c.Slow {
		<-ctx.Done()
	}
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return gpu.Observation{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := gpu.Observation{
		ClusterUID: c.ClusterUID, At: c.now.Add(c.Fast), ResourceVersion: strconv.Itoa(c.Version), PriorityClasses: c.classes,
		Namespaces: map[string]map[string]string{"ml": {"kind": "research"}, "web": nil}, Allocatable: big.NewRat(16, 1),
	}
	from, err := strconv.Atoi(o.From)
	if err != nil || from < c.forgotten {
		seen.Replay.Reason = "the history is gone"
	} else {
		seen.Replay.Complete, seen.Replay.Former, seen.Replay.FormerMissing = true, c.Former, "watch namespaces: forbidden"
		last := map[string]change{}
		for _, h := range c.History {
			if h.version > from {
				last[h.pod.UID] = h
			}
		}
		for _, uid := range slices.Sorted(maps.Keys(last)) {
			if h := last[uid]; h.deleted {
				seen.Replay.Ended = append(seen.Replay.Ended, h.pod)
			} else {
				seen.Pods = append(seen.Pods, *c.Pods[uid])
			}
		}
	}
	seen.Nodes, c.Remembered = c.nodes(), o.Nodes
	if !seen.Replay.Complete || o.List || o.Relist != nil && o.Relist(seen.At, seen.Nodes) {
		if c.Listing != nil {
			c.mu.Unlock()
			c.Listing()
			c.mu.Lock()
		}
		seen.Listed, seen.Pods = true, c.List()
		c.Lists++
	}
	return seen, nil
}

// nodes are those that any pod was ever on, as the last one tells.
func (c *Cluster) nodes() []gpu.Node {
	nodes := map[string]gpu.Node{}
	for _, h := range c.History {
		nodes[h.pod.Node.Name] = h.pod.Node
	}
	for _, s := range c.Pods {
		nodes[s.Node.Name] = s.Node
	}
	return slices.DeleteFunc(slices.Collect(maps.Values(nodes)), func(n gpu.Node) bool { return n.Gone })
}

// List are the pods that are there.
func (c *Cluster) List() []gpu.Pod {
	var list []gpu.Pod
	for _, uid := range slices.Sorted(maps.Keys(c.Pods)) {
		list = append(list, *c.Pods[uid])
	}
	return list
}

// LivePods are the pods as they are now.
func (c *Cluster) LivePods(context.Context, []string, gpu.Rules) ([]gpu.Pod, error) {
	if err := c.call("LivePods"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.List(), nil
}

// WaitingPods are those that have no node.
func (c *Cluster) WaitingPods(ctx context.Context, namespaces []string, rules gpu.Rules) ([]gpu.Pod, error) {
	pods, err := c.LivePods(ctx, namespaces, rules)
	return slices.DeleteFunc(pods, func(s gpu.Pod) bool { return s.Node.Name != "" }), err
}

// PodEvents are when Events say that pods began to end.
func (c *Cluster) PodEvents(context.Context, []budget.PodRef) (map[string]time.Time, error) {
	return c.Events, c.call("PodEvents")
}

// Calls counts the calls so far, by method.
func (c *Cluster) Calls() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

var _ reconcile.Cluster = (*Cluster)(nil)

// Copy is a cluster with the same pods, history and measures, without stock pools and
// machines.
func (c *Cluster) Copy() *Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	copied := NewCluster()
	copied.ClusterUID, copied.now, copied.Version, copied.forgotten = c.ClusterUID, c.now, c.Version, c.forgotten
	copied.History, copied.Frozen = slices.Clone(c.History), maps.Clone(c.Frozen)
	for uid, pod := range c.Pods {
		copied.Pods[uid] = new(*pod)
	}
	for uid, workload := range c.Workloads {
		copied.Workloads[uid] = new(*workload)
	}
	return copied
}
