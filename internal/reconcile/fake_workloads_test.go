package reconcile_test

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// fakeWorkload is a workload of the cluster in memory.
type fakeWorkload struct {
	budget.Workload
	labels   map[string]string
	replicas int32
	stopped  bool
	version  int
}

// workload is the one of a uid, made of the pods that name it; c.mu must be held.
func (c *fakeCluster) workload(w budget.Workload) *fakeWorkload {
	if c.workloads[w.UID] == nil {
		c.workloads[w.UID] = &fakeWorkload{Workload: w, replicas: 3, labels: map[string]string{"team": "a"}}
	}
	return c.workloads[w.UID]
}

// stopped names the workloads that are stopped.
func (c *fakeCluster) stopped() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, uid := range slices.Sorted(maps.Keys(c.workloads)) {
		if w := c.workloads[uid]; w.stopped {
			names = append(names, w.Name)
		}
	}
	return names
}

// scale is what a person does to a workload.
func (c *fakeCluster) scale(name string, replicas int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.workloads["uid-of-"+name]
	w.replicas, w.stopped = replicas, replicas == 0
	w.version++
}

func (c *fakeCluster) Owners(_ context.Context, pods []budget.Pod, _ gpu.Rules) (map[string]budget.Ownership, error) {
	if err := c.call("Owners"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	owners := map[string]budget.Ownership{}
	for _, p := range pods {
		switch {
		case p.Owner.Name == "":
		case c.forged[p.Owner.Name]:
			owners[p.UID] = budget.Ownership{Reason: "it names the " + p.Owner.String() + " as its owner, which does not select it"}
		default:
			w := c.workload(p.Owner)
			owners[p.UID] = budget.Ownership{Workload: w.Workload, Stopped: w.stopped, Forgiving: c.forgiving[w.Name]}
		}
	}
	return owners, nil
}

func (c *fakeCluster) Workload(_ context.Context, w budget.Workload) (budget.WorkloadState, error) {
	if err := c.call("Workload"); err != nil {
		return budget.WorkloadState{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.workloads[w.UID]
	if seen == nil {
		return budget.WorkloadState{}, &budget.NotPausedError{Workload: w, Reason: "it is gone", Gone: true}
	}
	return budget.WorkloadState{
		Workload: seen.Workload, ResourceVersion: strconv.Itoa(seen.version), Replicas: seen.replicas, Labels: seen.labels,
		Stopped: seen.stopped,
	}, nil
}

func (c *fakeCluster) Autoscaler(_ context.Context, w budget.Workload) (string, error) {
	err := c.call("Autoscaler")
	if c.driven[w.Name] {
		return "an autoscaler drives it", err
	}
	return "", err
}

func (c *fakeCluster) Pause(_ context.Context, seen budget.WorkloadState) error {
	return c.act("Pause", seen.Name, func() error {
		w := c.workloads[seen.UID]
		if strconv.Itoa(w.version) != seen.ResourceVersion {
			return budget.ErrWorkloadChanged
		}
		w.stopped, w.replicas = true, 0
		w.version++
		for id, p := range c.pods {
			if p.Owner.UID == w.UID {
				c.removeLocked(id)
			}
		}
		return nil
	})
}

func (c *fakeCluster) Resume(_ context.Context, seen budget.WorkloadState, replicas int32) error {
	return c.act("Resume", seen.Name, func() error {
		w := c.workloads[seen.UID]
		if strconv.Itoa(w.version) != seen.ResourceVersion {
			return budget.ErrWorkloadChanged
		}
		w.stopped, w.replicas = false, replicas
		w.version++
		return nil
	})
}
