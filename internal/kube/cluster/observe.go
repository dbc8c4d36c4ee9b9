package cluster

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"

	"golang.org/x/sync/errgroup"
)

// Observe looks at the cluster. With a resource version it replays the watch of
// pods from there, and where that is complete it lists no pods, unless it is
// asked to.
func (c *Cluster) Observe(ctx context.Context, o gpu.ObserveOptions) (gpu.Observation, error) {
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
	history := newHistory(table)
	n, err := c.gather(ctx, o, history, &out)
	if err != nil {
		return out, err
	}
	out.Nodes, out.Allocatable, out.Replay.Nodes = n.list(), n.allocatable, n.told

	if history.claimless != nil {
		out.Warnings = append(out.Warnings, history.claimless.Error()+"; devices that pods held by a claim that is gone are not counted")
	}
	look := c.newLook(ctx, table, n, out.At)
	look.ended, look.history = history.claims, history
	if out.Replay.Ended, err = history.ended(look); err != nil {
		return out, err
	}
	if out.Replay.Former, out.Replay.FormerMissing, err = c.formerNamespaces(ctx, o.From, out.ResourceVersion, history); err != nil {
		return out, err
	}
	list := !out.Replay.Complete || o.List || o.Relist != nil && o.Relist(out.At, out.Nodes)
	if !list {
		out.Pods, err = history.changed(look)
	} else {
		out.Listed = true
		// The next replay begins before the list: it may tell again of what the list
		// shows, and leaves out nothing that ended while it was read.
		out.Pods, err = look.listPods(ctx, kubeclient.Collection{})
		history.label(out.Pods)
	}
	out.Warnings = append(out.Warnings, look.problems...)
	return out, err
}

// gather reads at once what does not depend on one another: the nodes, what budgets
// ask of namespaces, and the replay from a position up to the observation's own.
func (c *Cluster) gather(ctx context.Context, o gpu.ObserveOptions, h *history, out *gpu.Observation) (n *nodes, err error) {
	group, ctx := errgroup.WithContext(ctx)
	nodes, warning := newNodeHistory(), ""
	group.Go(func() (err error) {
		var warnings []string
		n, warnings, err = c.readNodes(ctx, h.table)
		out.Warnings = append(out.Warnings, warnings...)
		return err
	})
	group.Go(func() (err error) {
		warning, err = c.replayNodes(ctx, o.From, out.ResourceVersion, nodes)
		return err
	})
	group.Go(func() error { return c.readSettings(ctx, h, out) })
	group.Go(func() (err error) {
		out.Replay, err = c.replayPods(ctx, o.From, out.ResourceVersion, h)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if warning != "" {
		out.Warnings = append(out.Warnings, warning)
	}
	n.knowing(nodes, o.Nodes)
	c.keep(n)
	return n, nil
}

// position is the server's resource version of pods now.
func (c *Cluster) position(ctx context.Context) (string, error) {
	list, err := c.kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", kubeclient.Wrap("list", "pods in the whole cluster", err)
	}
	return list.ResourceVersion, nil
}

// readSettings reads what budgets ask of namespaces and priority classes.
func (c *Cluster) readSettings(ctx context.Context, h *history, out *gpu.Observation) error {
	namespaces, err := c.readNamespaces(ctx)
	if err != nil {
		return err
	}
	out.Namespaces = make(map[string]map[string]string, len(namespaces))
	for _, n := range namespaces {
		out.Namespaces[n.name] = n.labels
		h.namespaces[n.name] = n.created
	}
	out.PriorityClasses, err = c.readPriorityClasses(ctx)
	return err
}

// replayPods replays the watch of pods, and of the claims by which they may have
// held devices.
func (c *Cluster) replayPods(ctx context.Context, from, until string, h *history) (gpu.Replay, error) {
	if from == "" {
		return gpu.Replay{Reason: "there was no run before this one"}, nil
	}
	reason, err := replay(ctx, kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "pods"}, from, until, h.pod)
	if err != nil {
		return gpu.Replay{}, err
	}
	if h.wantsClaims {
		err = c.replayClaims(ctx, from, until, h)
	}
	if err != nil && !apierrors.IsForbidden(err) {
		return gpu.Replay{}, err
	}
	h.claimless = err
	return gpu.Replay{Complete: reason == "", Reason: reason}, nil
}

// replayClaims replays the watch of claims. Where none changes, its server does not
// learn by itself that time goes on, and would say only after many seconds that it
// told of everything: a list that must be up to date has it ask etcd.
func (c *Cluster) replayClaims(ctx context.Context, from, until string, h *history) error {
	if _, err := c.kube.ResourceV1().ResourceClaims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{Limit: 1}); err != nil && !apierrors.IsForbidden(err) {
		return kubeclient.Wrap("list", "resourceclaims in the whole cluster", err)
	}
	_, err := replay(ctx, kubeclient.Collection{Client: c.kube.ResourceV1().RESTClient(), Resource: "resourceclaims"}, from, until, h.claim)
	return err
}
