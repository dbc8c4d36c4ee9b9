package manifests_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// prepareNode makes a node of the world's own, with a pod on it that holds a GPU, and one that has a
// device by claim.
func prepareNode(w *world) {
	w.t.Helper()
	node := kubetest.Create(w.t, w.cluster, kubetest.Node("of-"+w.work, 8)).Name
	w.claim(node)
	w.pod(kubetest.GPUs(1), kubetest.OnNode(node))
	w.pod(kubetest.Claim("gpu"), kubetest.OnNode(node))
}

func drains(w *world) error {
	ctx := w.t.Context()
	c := kubecluster.New(w.client)
	look, err := c.Nodes(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(look.Nodes, func(n node.Node) bool { return n.Name == "of-"+w.work })
	if at < 0 {
		return fmt.Errorf("the node is not among %d", len(look.Nodes))
	}
	n := look.Nodes[at]
	errs := []error{c.MarkNode(ctx, n, "pool-1"), c.CordonNode(ctx, n, "pool-1")}
	if _, err := c.GPUPods(ctx); err != nil {
		errs = append(errs, err)
	}
	pods, err := c.NodePods(ctx, n.Name)
	errs = append(errs, err)
	for _, p := range pods {
		if p.Namespace != w.work {
			continue
		}
		ref := budget.PodRef{Namespace: p.Namespace, Name: p.Name, UID: "0f7d3f5c-77c9-4c4f-9d57-3a1b2c4d5e6f"}
		errs = append(errs, c.Evict(ctx, budget.Eviction{PodRef: ref})) // which is another one by now
		ref.UID = p.UID
		errs = append(errs, c.Evict(ctx, budget.Eviction{PodRef: ref}))
	}
	n.Pool = "pool-1"
	return errors.Join(append(errs, c.UncordonNode(ctx, n, "pool-1"), w.cluster.Silence(ctx, n.Name), c.DeleteNode(ctx, n, "pool-1"))...)
}

func givesNotice(w *world) error {
	ctx, name := w.t.Context(), "of-"+w.work
	c, now := kubecluster.New(w.client), time.Now()
	pods, err := c.PodsOn(ctx, name)
	errs := []error{err, c.SetNotice(ctx, name, node.Notice{At: now.Add(time.Minute)}, now), c.ClearNotice(ctx, name)}
	for _, p := range pods {
		errs = append(errs, c.DeletePod(ctx, node.Deletion{Pod: p, Grace: 30}))
	}
	if len(pods) == 0 {
		errs = append(errs, errors.New("no pod is on the node"))
	}
	return errors.Join(errs...)
}
