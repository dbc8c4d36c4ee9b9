package reconciletest

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

type workloadAPI struct{ *view }

// Workload is a workload of the cluster in memory.
type Workload struct {
	budget.Workload
	Labels   map[string]string
	Replicas int32
	Stopped  bool
	// CreatedAt is the time when a test names the workload as a Job of a CronJob.
	CreatedAt  time.Time
	Concurrent bool // of a CronJob
	version    int
}

// Schedule makes a Job one of a CronJob, which was created now.
func (c *state) Schedule(job, cronJob budget.Workload) *Workload {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.WorkloadOf(job).CreatedAt = c.now
	c.cronJobs[job.UID] = cronJob.UID
	return c.WorkloadOf(cronJob)
}

// WorkloadOf returns the workload of a UID, created from the pods that name it.
func (c *state) WorkloadOf(w budget.Workload) *Workload {
	if c.Workloads[w.UID] == nil {
		c.Workloads[w.UID] = &Workload{Workload: w, Replicas: 3, Labels: map[string]string{"team": "a"}}
	}
	return c.Workloads[w.UID]
}

func (c *state) Stopped() []string {
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

func (c *state) Scale(name string, replicas int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.Workloads["uid-of-"+name]
	w.Replicas, w.Stopped = replicas, replicas == 0
	w.version++
}

func (c workloadAPI) Owners(ctx context.Context, pods []budget.Pod, _ gpu.Rules) (map[string]budget.Ownership, error) {
	return read(ctx, c.view, "Owners", func() (map[string]budget.Ownership, error) {
		owners := map[string]budget.Ownership{}
		for _, p := range pods {
			switch {
			case p.Owner == nil:
			case c.Forged[p.Owner.Name]:
				owners[p.UID] = budget.Ownership{Reason: reason.OwnerNotSelects(reason.Workload(p.Controller().String()))}
			case p.Owner.Kind == "DaemonSet":
				why := reason.LeftAsIs(reason.Workload(p.Controller().String()), reason.DaemonSetNotPaused())
				owners[p.UID] = budget.Ownership{Reason: reason.OwnerNotPaused(why)}
			default:
				w := c.WorkloadOf(p.Controller())
				of := budget.Ownership{
					Workload: w.Workload, Stopped: w.Stopped, ToleratesDisruption: c.Forgiving[w.Name],
					FailuresLeft: c.FailuresLeft[w.Name],
					Obstacle:     budget.Autoscaler{Name: "auto", FromZero: c.Driven[w.Name]}.Obstacle(),
				}
				if c := c.Workloads[c.cronJobs[w.UID]]; c != nil {
					of.CronJob = &budget.Ownership{Workload: c.Workload, Labels: c.Labels, Stopped: c.Stopped}
				}
				owners[p.UID] = of
			}
		}
		return owners, nil
	}, pods)
}

func (c workloadAPI) Workload(ctx context.Context, w budget.Workload) (budget.WorkloadState, error) {
	return read(ctx, c.view, "Workload", func() (budget.WorkloadState, error) {
		seen := c.Workloads[w.UID]
		if seen == nil {
			return budget.WorkloadState{}, &budget.NotPausedError{Workload: w, Why: reason.WorkloadGone(), Gone: true}
		}
		return budget.WorkloadState{
			Workload: seen.Workload, ResourceVersion: strconv.Itoa(seen.version), Replicas: seen.Replicas, Labels: seen.Labels,
			Stopped: seen.Stopped, CreatedAt: seen.CreatedAt, Concurrent: seen.Concurrent,
		}, nil
	}, w)
}

func (c workloadAPI) Autoscaler(ctx context.Context, w budget.Workload) (budget.Autoscaler, error) {
	return read(ctx, c.view, "Autoscaler", func() (budget.Autoscaler, error) {
		return map[bool]budget.Autoscaler{true: {Name: "auto", FromZero: true}}[c.Driven[w.Name]], nil
	}, w)
}

func (c workloadAPI) Pause(ctx context.Context, seen budget.WorkloadState) error {
	return c.act(ctx, "Pause", seen.Name, func() error {
		w := c.Workloads[seen.UID]
		if why := c.Refused[w.Name]; why != "" {
			return &budget.NotPausedError{Workload: seen.Workload, Why: budget.Obstacle(why)}
		}
		if strconv.Itoa(w.version) != seen.ResourceVersion {
			return budget.ErrWorkloadChanged
		}
		w.Stopped, w.Replicas = true, 0
		w.version++
		for id, p := range c.Pods {
			if p.Owner != nil && p.Owner.UID == w.UID && !c.Stuck[w.Name] {
				c.removeLocked(id)
			}
		}
		return nil
	}, seen)
}

func (c workloadAPI) Resume(ctx context.Context, seen budget.WorkloadState, replicas int32) error {
	return c.act(ctx, "Resume", seen.Name, func() error {
		w := c.Workloads[seen.UID]
		if strconv.Itoa(w.version) != seen.ResourceVersion {
			return budget.ErrWorkloadChanged
		}
		w.Stopped, w.Replicas = false, replicas
		w.version++
		return nil
	}, seen, replicas)
}
