package reconciletest

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// Workload is a workload of the cluster in memory.
type Workload struct {
	budget.Workload
	Labels   map[string]string
	Replicas int32
	Stopped  bool
	version  int
}

// WorkloadOf is the one of a uid, made of the pods that name it.
func (c *Cluster) WorkloadOf(w budget.Workload) *Workload {
	if c.Workloads[w.UID] == nil {
		c.Workloads[w.UID] = &Workload{Workload: w, Replicas: 3, Labels: map[string]string{"team": "a"}}
	}
	return c.Workloads[w.UID]
}

// Stopped names the workloads that are stopped.
func (c *Cluster) Stopped() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, uid := range slices.Sorted(maps.Keys(c.Workloads)) {
		if w := c.Workloads[uid]; w.Stopped {
			names = append(names, w.Name)
		}
	}
	return names
}

// Scale is what a person does to a workload.
func (c *Cluster) Scale(name string, replicas int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.Workloads["uid-of-"+name]
	w.Replicas, w.Stopped = replicas, replicas == 0
	w.version++
}

// Owners are what drives each pod.
func (c *Cluster) Owners(_ context.Context, pods []budget.Pod, _ gpu.Rules) (map[string]budget.Ownership, error) {
	if err := c.call("Owners"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	owners := map[string]budget.Ownership{}
	for _, p := range pods {
		switch {
		case p.Owner == nil:
		case c.Forged[p.Owner.Name]:
			owners[p.UID] = budget.Ownership{Reason: "it names the " + p.Controller().String() + " as its owner, which does not select it"}
		default:
			w := c.WorkloadOf(p.Controller())
			owners[p.UID] = budget.Ownership{Workload: w.Workload, Stopped: w.Stopped, Forgiving: c.Forgiving[w.Name]}
		}
	}
	return owners, nil
}

// Workload is one as it is now.
func (c *Cluster) Workload(_ context.Context, w budget.Workload) (budget.WorkloadState, error) {
	if err := c.call("Workload"); err != nil {
		return budget.WorkloadState{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.Workloads[w.UID]
	if seen == nil {
		return budget.WorkloadState{}, &budget.NotPausedError{Workload: w, Reason: "it is gone", Gone: true}
	}
	return budget.WorkloadState{
		Workload: seen.Workload, ResourceVersion: strconv.Itoa(seen.version), Replicas: seen.Replicas, Labels: seen.Labels,
		Stopped: seen.Stopped,
	}, nil
}

// Autoscaler says what else drives a workload.
func (c *Cluster) Autoscaler(_ context.Context, w budget.Workload) (string, error) {
	err := c.call("Autoscaler")
	if c.Driven[w.Name] {
		return "an autoscaler drives it", err
	}
	return "", err
}

// Pause stops a workload as it was seen, and its pods.
func (c *Cluster) Pause(_ context.Context, seen budget.WorkloadState) error {
	return c.act("Pause", seen.Name, func() error {
		w := c.Workloads[seen.UID]
		if strconv.Itoa(w.version) != seen.ResourceVersion {
			return budget.ErrWorkloadChanged
		}
		w.Stopped, w.Replicas = true, 0
		w.version++
		for id, p := range c.Pods {
			if p.Owner != nil && p.Owner.UID == w.UID {
				c.removeLocked(id)
			}
		}
		return nil
	})
}

// Resume starts a workload as it was seen.
func (c *Cluster) Resume(_ context.Context, seen budget.WorkloadState, replicas int32) error {
	return c.act("Resume", seen.Name, func() error {
		w := c.Workloads[seen.UID]
		if strconv.Itoa(w.version) != seen.ResourceVersion {
			return budget.ErrWorkloadChanged
		}
		w.Stopped, w.Replicas = false, replicas
		w.version++
		return nil
	})
}
