package reconciletest

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// mortalCluster is a cluster as a process sees it that may be killed.
type mortalCluster struct {
	budgets.Cluster
	m *Mortal
}

func (c *mortalCluster) UID(ctx context.Context) (uid string, err error) {
	err = c.m.effect("UID", func() error { uid, err = c.Cluster.UID(ctx); return err })
	return uid, err
}

func (c *mortalCluster) Observe(ctx context.Context, o gpu.ObserveOptions) (seen gpu.Observation, err error) {
	err = c.m.effect("Observe", func() error { seen, err = c.Cluster.Observe(ctx, o); return err })
	return seen, err
}

func (c *mortalCluster) LivePods(ctx context.Context, namespaces []string, rules gpu.Rules) (pods []gpu.Pod, err error) {
	err = c.m.effect("LivePods", func() error { pods, err = c.Cluster.LivePods(ctx, namespaces, rules); return err })
	return pods, err
}

func (c *mortalCluster) WaitingPods(ctx context.Context, namespaces []string, rules gpu.Rules) (pods []gpu.Pod, err error) {
	err = c.m.effect("LivePods", func() error { pods, err = c.Cluster.WaitingPods(ctx, namespaces, rules); return err })
	return pods, err
}

func (c *mortalCluster) PodEvents(ctx context.Context, pods []budget.PodRef) (ends map[string]time.Time, err error) {
	err = c.m.effect("PodEvents", func() error { ends, err = c.Cluster.PodEvents(ctx, pods); return err })
	return ends, err
}

func (c *mortalCluster) Alert(ctx context.Context, a budget.Event) error {
	return c.m.effect("Alert", func() error { return c.Cluster.Alert(ctx, a) })
}

func (c *mortalCluster) Freeze(ctx context.Context, f budget.FreezeRule) error {
	return c.m.effect("Freeze", func() error { return c.Cluster.Freeze(ctx, f) })
}

func (c *mortalCluster) Unfreeze(ctx context.Context, uid string) error {
	return c.m.effect("Unfreeze", func() error { return c.Cluster.Unfreeze(ctx, uid) })
}

func (c *mortalCluster) Pause(ctx context.Context, seen budget.WorkloadState) error {
	return c.m.effect("Pause", func() error { return c.Cluster.Pause(ctx, seen) })
}

func (c *mortalCluster) Resume(ctx context.Context, seen budget.WorkloadState, replicas int32) error {
	return c.m.effect("Resume", func() error { return c.Cluster.Resume(ctx, seen, replicas) })
}

func (c *mortalCluster) Evict(ctx context.Context, e budget.Eviction) error {
	return c.m.effect("Evict", func() error { return c.Cluster.Evict(ctx, e) })
}
