package reconciletest

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

type podAPI struct{ *view }

// Start binds a pod with GPUs now.
func (c podAPI) Start(namespace, name string, gpus int64, with ...func(*gpu.Pod)) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	uid := fmt.Sprintf("00000000-0000-4000-8000-%012d", c.Version)
	s := gpu.Pod{
		UID: uid, Namespace: namespace, Name: name, Labels: map[string]string{"team": "a"},
		Node: gpu.Node{Name: "node-1"},
		Allocation: ledger.Allocation{
			Shares: []ledger.Share{{Resource: "nvidia.com/gpu", Units: big.NewRat(gpus, 1), Weight: big.NewRat(1, 1)}}, Shown: ledger.Confirmed,
		},
		Scheduled: ledger.Start{At: ledger.TimeOf(c.now), Source: ledger.PodScheduled},
		Running:   ledger.Start{At: ledger.TimeOf(c.now), Source: ledger.ContainerStarted},
		Live:      gpu.Live{Phase: "Running"},
	}
	for _, f := range with {
		f(&s)
	}
	c.Pods[uid] = &s
	c.changed(s, false)
	return uid
}

// Changed adds a changed or deleted pod to the history.
func (c podAPI) Changed(s gpu.Pod, deleted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed(s, deleted)
}

// changed writes history; c.mu must be held.
func (c *state) changed(s gpu.Pod, deleted bool) {
	c.Version++
	c.History = append(c.History, change{c.Version, s, deleted})
}

// Finish ends a pod by itself: it is there, and terminal.
func (c podAPI) Finish(uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.Pods[uid]
	s.End, s.Phase = ledger.ExactEnd(ledger.TimeOf(c.now), ledger.ContainerFinished), "Succeeded"
	c.changed(*s, false)
}

// Remove deletes a pod whose containers have stopped.
func (c podAPI) Remove(uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removeLocked(uid)
}

func (c *state) removeLocked(uid string) {
	s := *c.Pods[uid]
	if s.End.Open() {
		s.End = ledger.ExactEnd(ledger.TimeOf(c.now), ledger.ContainerFinished)
	}
	delete(c.Pods, uid)
	c.changed(s, true)
}

// Forget drops the history: a replay from before now is not complete.
func (c podAPI) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgotten = c.Version
}

// Observe returns the history since a position, and all pods when that is due.
func (c podAPI) Observe(ctx context.Context, o gpu.ObserveOptions) (gpu.Observation, error) {
	return read(ctx, c.view, "Observe", func() (gpu.Observation, error) { return c.observation(o), ctx.Err() })
}

// observation requires c.mu.
func (c podAPI) observation(o gpu.ObserveOptions) gpu.Observation {
	seen := gpu.Observation{
		ClusterUID: c.ClusterUID, At: c.now.Add(c.Fast), ResourceVersion: strconv.Itoa(c.Version), PriorityClasses: c.classes,
		Namespaces: namespaces(), Allocatable: big.NewRat(16, 1),
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
	seen.Nodes, c.Remembered = c.nodesOfPods(), o.Nodes
	if !seen.Replay.Complete || o.List || o.Relist != nil && o.Relist(seen.At, seen.Nodes) {
		if c.Listing != nil {
			c.mu.Unlock()
			c.Listing()
			c.mu.Lock()
		}
		seen.Listed, seen.Pods = true, c.List()
		c.Lists++
	}
	return seen
}

// nodesOfPods are those that any pod was ever on, as the last one tells.
func (c *state) nodesOfPods() []gpu.Node {
	nodes := map[string]gpu.Node{}
	for _, h := range c.History {
		nodes[h.pod.Node.Name] = h.pod.Node
	}
	for _, s := range c.Pods {
		nodes[s.Node.Name] = s.Node
	}
	return slices.DeleteFunc(slices.Collect(maps.Values(nodes)), func(n gpu.Node) bool { return n.Gone })
}

func (c *state) List() []gpu.Pod {
	var list []gpu.Pod
	for _, uid := range slices.Sorted(maps.Keys(c.Pods)) {
		list = append(list, *c.Pods[uid])
	}
	return list
}

func (c podAPI) LivePods(ctx context.Context, _ []string, _ gpu.Rules) ([]gpu.Pod, error) {
	return read(ctx, c.view, "LivePods", func() ([]gpu.Pod, error) { return c.List(), nil })
}

// WaitingPods are those that no kubelet has accepted.
func (c podAPI) WaitingPods(ctx context.Context, namespaces []string, rules gpu.Rules) ([]gpu.Pod, error) {
	pods, err := c.LivePods(ctx, namespaces, rules)
	return slices.DeleteFunc(pods, func(s gpu.Pod) bool { return !s.Waits() }), err
}

func (c podAPI) PodEvents(ctx context.Context, _ []budget.PodRef) (map[string]time.Time, error) {
	return read(ctx, c.view, "PodEvents", func() (map[string]time.Time, error) { return c.Events, nil })
}

// namespaces are those of each cluster in memory, with their labels.
func namespaces() map[string]map[string]string {
	return map[string]map[string]string{"ml": {"kind": "research"}, "web": nil}
}

func (c podAPI) Namespaces(ctx context.Context) (map[string]map[string]string, error) {
	return read(ctx, c.view, "Namespaces", func() (map[string]map[string]string, error) { return namespaces(), nil })
}

func (c podAPI) PriorityClasses(ctx context.Context) (map[string]int32, error) {
	return read(ctx, c.view, "PriorityClasses", func() (map[string]int32, error) { return c.classes, nil })
}
