package cluster

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// Observe lists what holds GPUs in the cluster. With a resource version it replays the watch of pods from
// there. If the replay is complete, it lists pods only on request.
func (c *podReader) Observe(ctx context.Context, o gpu.ObserveOptions) (gpu.Observation, error) {
	var out gpu.Observation
	table, err := o.Rules.Table()
	if err != nil {
		return out, err
	}
	if out.ClusterUID, err = c.UID(ctx); err != nil {
		return out, err
	}
	if out.ResourceVersion, err = c.position(ctx); err != nil {
		return out, err
	}
	out.At = c.Now().Truncate(time.Second)
	replayed := newPodReplay(table)
	n, there, err := c.gather(ctx, o, replayed, &out)
	if err != nil {
		return out, err
	}
	observation := c.newObservation(ctx, table, n, out.At)
	observation.replayed = replayed
	if out.Replay.Ended, err = replayed.ended(observation); err != nil {
		return out, err
	}
	if out.Replay.Former, out.Replay.FormerMissing, err = c.formerNamespaces(ctx, o.From, out.ResourceVersion, replayed.outside(there)); err != nil {
		return out, err
	}
	out.Listed = !out.Replay.Complete || o.List || o.Relist != nil && o.Relist(out.At, out.Nodes)
	if out.Listed {
		// The next replay begins before the list. It may repeat parts of the list, and misses no pod that
		// ended while it was read.
		out.Pods, err = observation.listPods(ctx, kubeclient.Collection{})
		replayed.label(out.Pods)
	} else {
		out.Pods, err = replayed.changed(observation)
	}
	out.Warnings = append(out.Warnings, observation.warnings...)
	return out, err
}

// gather reads concurrently the nodes, the namespace labels that budgets need, and the replays from a
// position up to the observation's own. The observation gets its own parts of that.
func (c *podReader) gather(ctx context.Context, o gpu.ObserveOptions, replayed *podReplay, out *gpu.Observation) (n *nodes, there []namespace, err error) {
	var (
		changed   *nodeReplay
		warnings  []string
		unwatched string
	)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		n, warnings, err = c.readNodes(ctx, replayed.table)
		return err
	})
	group.Go(func() (err error) {
		changed, unwatched, err = c.replayNodes(ctx, o.From, out.ResourceVersion)
		return err
	})
	group.Go(func() (err error) {
		if there, err = c.readNamespaces(ctx); err == nil {
			out.PriorityClasses, err = c.PriorityClasses(ctx)
		}
		return err
	})
	group.Go(func() (err error) {
		out.Replay, err = c.replayPods(ctx, o.From, out.ResourceVersion, replayed)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	n.add(changed, o.Nodes)
	c.keep(n)
	out.Nodes, out.Allocatable, out.Replay.Nodes = n.list(), n.allocatable, n.replayed
	out.Namespaces = make(map[string]map[string]string, len(there))
	for _, namespace := range there {
		out.Namespaces[namespace.name] = namespace.labels
	}
	out.Warnings = warnings
	if unwatched != "" {
		out.Warnings = append(out.Warnings, unwatched)
	}
	if replayed.claimsMissing != nil {
		out.Warnings = append(out.Warnings, replayed.claimsMissing.Error()+"; devices that pods held by a claim that is gone are not counted")
	}
	return n, there, nil
}

// position is the server's resource version of pods now.
func (c *podReader) position(ctx context.Context) (string, error) {
	list, err := c.kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", kubeclient.Wrap("list", "pods in the whole cluster", err)
	}
	return list.ResourceVersion, nil
}
