package reconciletest

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// mortalCluster is a cluster as a process sees it that may be killed.
type mortalCluster struct {
	reconcile.Cluster
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

func (c *mortalCluster) Nodes(ctx context.Context) (l node.Look, err error) {
	err = c.m.effect("Nodes", func() error { l, err = c.Cluster.Nodes(ctx); return err })
	return l, err
}

func (c *mortalCluster) NodePods(ctx context.Context, name string) (pods []node.Pod, err error) {
	err = c.m.effect("NodePods", func() error { pods, err = c.Cluster.NodePods(ctx, name); return err })
	return pods, err
}

func (c *mortalCluster) GPUPods(ctx context.Context) (count map[string]int, err error) {
	err = c.m.effect("GPUPods", func() error { count, err = c.Cluster.GPUPods(ctx); return err })
	return count, err
}

func (c *mortalCluster) MarkNode(ctx context.Context, n node.Node, uid string) error {
	return c.m.effect("MarkNode", func() error { return c.Cluster.MarkNode(ctx, n, uid) })
}

func (c *mortalCluster) CordonNode(ctx context.Context, n node.Node, uid string) error {
	return c.m.effect("CordonNode", func() error { return c.Cluster.CordonNode(ctx, n, uid) })
}

func (c *mortalCluster) UncordonNode(ctx context.Context, n node.Node, uid string) error {
	return c.m.effect("UncordonNode", func() error { return c.Cluster.UncordonNode(ctx, n, uid) })
}

func (c *mortalCluster) DeleteNode(ctx context.Context, n node.Node, uid string) error {
	return c.m.effect("DeleteNode", func() error { return c.Cluster.DeleteNode(ctx, n, uid) })
}

func (c *mortalCluster) CreateToken(ctx context.Context, t node.BootstrapToken) error {
	return c.m.effect("CreateToken", func() error { return c.Cluster.CreateToken(ctx, t) })
}

func (c *mortalCluster) TokenTaken(ctx context.Context, t node.BootstrapToken) (taken bool, err error) {
	err = c.m.effect("TokenTaken", func() error { taken, err = c.Cluster.TokenTaken(ctx, t); return err })
	return taken, err
}

func (c *mortalCluster) DeleteToken(ctx context.Context, id string) error {
	return c.m.effect("DeleteToken", func() error { return c.Cluster.DeleteToken(ctx, id) })
}
