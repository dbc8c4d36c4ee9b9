package reconcile_test

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
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// fakeCluster is a cluster in memory with a clock of its own. It has no
// behaviour of a server's but what runs see of one: pods that come and go, the
// history of that, and what was done to it.
type fakeCluster struct {
	mu      sync.Mutex
	uid     string
	now     time.Time
	fast    time.Duration // by how much the server's own clock is ahead
	version int
	pods    map[string]*gpu.Sighting
	history []change
	// forgotten is up to which version the history is gone.
	forgotten int
	events    map[string]time.Time
	blocked   map[string]bool  // names of pods that a disruption budget protects
	broken    map[string]error // by the name of the pod whose eviction fails so
	driven    map[string]bool  // names of workloads that someone else drives
	classes   map[string]int32
	former    map[string]map[string]string // labels of namespaces that are gone, by the pod's uid
	grace     time.Duration                // that evicted pods take to be gone; zero is at once

	frozen map[string]budget.FreezeRule
	// workloads are by uid; forged and forgiving are names of such.
	workloads map[string]*fakeWorkload
	forged    map[string]bool
	forgiving map[string]bool
	alerts    []budget.Event
	evicted   []string
	graces    []int64  // of the evictions that were asked for
	acts      []string // all that was done, in order
	calls     map[string]int
	failing   map[string]error // by the name of a method
	// during runs at the beginning of each call, unless nil.
	during     func(method string)
	lists      int        // looks that listed all pods
	remembered []gpu.Node // that the last look was told of
	// listing runs between the position of a look and its list, unless nil.
	listing func()
}

// change is a pod as it was at one version.
type change struct {
	version int
	pod     gpu.Sighting
	deleted bool
}

func newFakeCluster() *fakeCluster {
	return &fakeCluster{
		uid: "11111111-2222-3333-4444-555555555555", now: time.Now().UTC().Truncate(time.Second), version: 1,
		pods: map[string]*gpu.Sighting{}, events: map[string]time.Time{}, blocked: map[string]bool{}, driven: map[string]bool{},
		frozen: map[string]budget.FreezeRule{}, calls: map[string]int{}, failing: map[string]error{}, workloads: map[string]*fakeWorkload{}, classes: map[string]int32{"high": 1000},
	}
}

// dependency is the cluster as an engine is given it.
func (c *fakeCluster) dependency(context.Context) (budgets.Cluster, error) { return c, nil }

// clock is what everybody's clock should read.
func (c *fakeCluster) clock() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Now is the cluster's clock, as its answers tell it.
func (c *fakeCluster) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeCluster) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// start binds a pod with GPUs now.
func (c *fakeCluster) start(namespace, name string, gpus int64, with ...func(*gpu.Sighting)) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	uid := fmt.Sprintf("00000000-0000-4000-8000-%012d", c.version)
	s := gpu.Sighting{
		UID: uid, Namespace: namespace, Name: name, Labels: map[string]string{"team": "a"},
		Node:      gpu.Node{Name: "node-1"},
		Shares:    []gpu.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(gpus, 1), Weight: big.NewRat(1, 1)}},
		Shown:     1,
		Scheduled: gpu.Start{At: c.now, Source: gpu.PodScheduled},
		Running:   gpu.Start{At: c.now, Source: gpu.ContainerStarted},
		Live:      gpu.Live{Phase: "Running"},
	}
	for _, f := range with {
		f(&s)
	}
	c.pods[uid] = &s
	c.changed(s, false)
	return uid
}

// waiting leaves a pod without a node.
func waiting(s *gpu.Sighting) {
	s.Node, s.Scheduled, s.Running, s.Live = gpu.Node{}, gpu.Start{}, gpu.Start{}, gpu.Live{Phase: "Pending", ResourceVersion: "7"}
}

func ownedBy(kind, name string) func(*gpu.Sighting) {
	version := map[string]string{"Job": "batch/v1"}[kind]
	if version == "" {
		version = "apps/v1"
	}
	return func(s *gpu.Sighting) {
		s.Owner = gpu.Owner{APIVersion: version, Kind: kind, Name: name, UID: "uid-of-" + name}
	}
}

// changed writes history; c.mu must be held.
func (c *fakeCluster) changed(s gpu.Sighting, deleted bool) {
	c.version++
	c.history = append(c.history, change{c.version, s, deleted})
}

// finish ends a pod by itself: it is there, and terminal.
func (c *fakeCluster) finish(uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.pods[uid]
	s.End, s.Live.Phase = gpu.End{At: c.now, Source: gpu.ContainerFinished}, "Succeeded"
	c.changed(*s, false)
}

// remove deletes a pod, whose containers the kubelet ended first.
func (c *fakeCluster) remove(uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removeLocked(uid)
}

func (c *fakeCluster) removeLocked(uid string) {
	s := *c.pods[uid]
	if s.End.At.IsZero() {
		s.End = gpu.End{At: c.now, Source: gpu.ContainerFinished}
	}
	delete(c.pods, uid)
	c.changed(s, true)
}

// forget drops the history: a replay from before now is not complete.
func (c *fakeCluster) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgotten = c.version
}

// call counts a call, and fails it where that was asked for.
func (c *fakeCluster) call(method string) error {
	if c.during != nil {
		c.during(method)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[method]++
	return c.failing[method]
}

func (c *fakeCluster) UID(context.Context) (string, error) { return c.uid, c.call("UID") }

func (c *fakeCluster) Observe(ctx context.Context, o gpu.ObserveOptions) (gpu.Observation, error) {
	if err := cmp.Or(c.call("Observe"), ctx.Err()); err != nil {
		return gpu.Observation{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := gpu.Observation{
		ClusterUID: c.uid, At: c.now.Add(c.fast), ResourceVersion: strconv.Itoa(c.version), PriorityClasses: c.classes,
		Namespaces: map[string]map[string]string{"ml": {"kind": "research"}, "web": nil}, Allocatable: big.NewRat(16, 1),
	}
	from, err := strconv.Atoi(o.From)
	if err != nil || from < c.forgotten {
		seen.Replay.Reason = "the history is gone"
	} else {
		seen.Replay.Complete, seen.Replay.Former, seen.Replay.FormerMissing = true, c.former, "watch namespaces: forbidden"
		last := map[string]change{}
		for _, h := range c.history {
			if h.version > from {
				last[h.pod.UID] = h
			}
		}
		for _, uid := range slices.Sorted(maps.Keys(last)) {
			if h := last[uid]; h.deleted {
				seen.Replay.Ended = append(seen.Replay.Ended, h.pod)
			} else {
				seen.Pods = append(seen.Pods, *c.pods[uid])
			}
		}
	}
	seen.Nodes, c.remembered = c.nodes(), o.Nodes
	if !seen.Replay.Complete || o.List || o.Relist != nil && o.Relist(seen.At, seen.Nodes) {
		if c.listing != nil {
			c.listing()
		}
		seen.Listed, seen.Pods = true, c.list()
		c.lists++
	}
	return seen, nil
}

// nodes are those that any pod was ever on, as the last one tells.
func (c *fakeCluster) nodes() []gpu.Node {
	nodes := map[string]gpu.Node{}
	for _, h := range c.history {
		nodes[h.pod.Node.Name] = h.pod.Node
	}
	for _, s := range c.pods {
		nodes[s.Node.Name] = s.Node
	}
	return slices.DeleteFunc(slices.Collect(maps.Values(nodes)), func(n gpu.Node) bool { return n.Gone })
}

func (c *fakeCluster) list() []gpu.Sighting {
	var list []gpu.Sighting
	for _, uid := range slices.Sorted(maps.Keys(c.pods)) {
		list = append(list, *c.pods[uid])
	}
	return list
}

func (c *fakeCluster) LivePods(context.Context, []string, gpu.Rules) ([]gpu.Sighting, error) {
	if err := c.call("LivePods"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list(), nil
}

func (c *fakeCluster) WaitingPods(ctx context.Context, namespaces []string, rules gpu.Rules) ([]gpu.Sighting, error) {
	pods, err := c.LivePods(ctx, namespaces, rules)
	return slices.DeleteFunc(pods, func(s gpu.Sighting) bool { return s.Node.Name != "" }), err
}

func (c *fakeCluster) PodEvents(context.Context, []budget.PodRef) (map[string]time.Time, error) {
	return c.events, c.call("PodEvents")
}

func (c *fakeCluster) Calls() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

var _ budgets.Cluster = (*fakeCluster)(nil)
