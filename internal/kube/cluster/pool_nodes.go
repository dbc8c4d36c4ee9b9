package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// The annotations by which a pool knows its nodes, and what it did to them. Both hold
// its uid.
const (
	NodePoolAnnotation   = "gpupool/pool-uid"
	NodeCordonAnnotation = "gpupool/cordoned-by"
)

// Nodes observes all nodes of the cluster.
func (c *nodeClient) Nodes(ctx context.Context) (node.Observation, error) {
	uid, err := c.UID(ctx)
	if err != nil {
		return node.Observation{}, err
	}
	nodes, err := kubeclient.List(ctx, kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "nodes", PageSize: 1000},
		func(object []byte) (node.Node, bool, error) {
			var n corev1.Node
			if err := n.Unmarshal(object); err != nil {
				return node.Node{}, false, err
			}
			return poolNode(&n), true, nil
		})
	if err != nil {
		return node.Observation{}, err
	}
	return node.Observation{ClusterUID: uid, At: c.Now(), Nodes: nodes}, nil
}

// poolNode returns the fields of a node that pools need.
func poolNode(n *corev1.Node) node.Node {
	notice := noticeOf(n)
	out := node.Node{
		Name: n.Name, UID: string(n.UID), ProviderID: n.Spec.ProviderID, CreatedAt: n.CreationTimestamp.Time,
		Ready: node.ReadyUnknown, Cordoned: n.Spec.Unschedulable,
		Pool: n.Annotations[NodePoolAnnotation], CordonedBy: n.Annotations[NodeCordonAnnotation],
		TakenAt: notice.At, Reach: notice.Reach,
	}
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			out.Addresses = append(out.Addresses, a.Address)
		}
	}
	for _, condition := range n.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			out.Ready, out.ReadySince = node.Readiness(condition.Status), condition.LastTransitionTime.Time
		}
	}
	return out
}

// MarkNode marks exactly this node as a pool's own.
func (c *nodeClient) MarkNode(ctx context.Context, n node.Node, poolUID string) error {
	return c.changeNode(ctx, n, func(live *corev1.Node) (map[string]any, error) {
		switch live.Annotations[NodePoolAnnotation] {
		case poolUID:
			return nil, nil
		case "":
			return nodePatch(nil, map[string]any{NodePoolAnnotation: poolUID}), nil
		}
		return nil, fmt.Errorf("the node %s is marked as another pool's: %w", n.Name, node.ErrChanged)
	})
}

// UnmarkNode undoes MarkNode, if the node has the pool's mark.
func (c *nodeClient) UnmarkNode(ctx context.Context, n node.Node, poolUID string) error {
	return c.changeNode(ctx, n, func(live *corev1.Node) (map[string]any, error) {
		if live.Annotations[NodePoolAnnotation] != poolUID {
			return nil, nil
		}
		return nodePatch(nil, map[string]any{NodePoolAnnotation: nil}), nil
	})
}

// CordonNode keeps new pods off exactly this node, in a pool's name. A node that another process cordoned is
// not marked, and the pool does not uncordon it.
func (c *nodeClient) CordonNode(ctx context.Context, n node.Node, poolUID string) error {
	return c.changeNode(ctx, n, func(live *corev1.Node) (map[string]any, error) {
		if live.Spec.Unschedulable {
			return nil, nil
		}
		return nodePatch(new(true), map[string]any{NodeCordonAnnotation: poolUID}), nil
	})
}

// UncordonNode reverts CordonNode, if the pool cordoned the node and no other process did since.
func (c *nodeClient) UncordonNode(ctx context.Context, n node.Node, poolUID string) error {
	return c.changeNode(ctx, n, func(live *corev1.Node) (map[string]any, error) {
		if live.Annotations[NodeCordonAnnotation] != poolUID {
			return nil, nil
		}
		return nodePatch(new(false), map[string]any{NodeCordonAnnotation: nil}), nil
	})
}

// DeleteNode deletes exactly this node, which a pool marked as its own, unless a kubelet
// reports for it. One that is gone is no error.
func (c *nodeClient) DeleteNode(ctx context.Context, n node.Node, poolUID string) error {
	return retry.RetryOnConflict(writeTries, func() error {
		live, err := c.getNode(ctx, n.Name)
		switch {
		case apierrors.IsNotFound(err), err == nil && string(live.UID) != n.UID: // the name is another node's
			return nil
		case err != nil:
			return err
		case n.Pool != poolUID, live.Annotations[NodePoolAnnotation] != poolUID:
			return fmt.Errorf("the node %s does not have the pool's mark: %w", n.Name, node.ErrChanged)
		case !poolNode(live).Silent():
			return fmt.Errorf("the node %s has a kubelet that reports, so a machine uses it: %w", n.Name, node.ErrChanged)
		}
		err = c.kube.CoreV1().Nodes().Delete(ctx, n.Name,
			metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion}})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return kubeclient.Wrap("delete", "nodes "+n.Name, err)
	})
}

// writeTries are the attempts to change an object that another process changes meanwhile, as controllers and
// kubelets often do.
var writeTries = wait.Backoff{Steps: 5, Duration: 20 * time.Millisecond, Factor: 2}

// changeNode patches a node as it is now, if it is the one that was seen. change says
// what to patch; nothing if nothing differs.
func (c *nodeClient) changeNode(ctx context.Context, n node.Node, change func(*corev1.Node) (map[string]any, error)) error {
	return retry.RetryOnConflict(writeTries, func() error {
		live, err := c.getNode(ctx, n.Name)
		switch {
		case apierrors.IsNotFound(err), err == nil && string(live.UID) != n.UID:
			return fmt.Errorf("the node %s is gone: %w", n.Name, node.ErrChanged)
		case err != nil:
			return err
		}
		patch, err := change(live)
		if err != nil || patch == nil {
			return err
		}
		metadata, _ := patch["metadata"].(map[string]any)
		metadata["uid"], metadata["resourceVersion"] = n.UID, live.ResourceVersion
		_, err = c.patchNode(ctx, live, types.MergePatchType, patch)
		return err
	})
}

func (c *connection) getNode(ctx context.Context, name string) (*corev1.Node, error) {
	live, err := c.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	return live, kubeclient.Wrap("get", "nodes "+name, err)
}

func (c *connection) patchNode(ctx context.Context, live *corev1.Node, as types.PatchType, patch map[string]any, subresources ...string) (*corev1.Node, error) {
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	after, err := c.kube.CoreV1().Nodes().Patch(ctx, live.Name, as, body, metav1.PatchOptions{FieldManager: fieldManager}, subresources...)
	object := "nodes"
	for _, s := range subresources {
		object += "/" + s
	}
	return after, kubeclient.Wrap("patch", fmt.Sprintf("%s %s", object, live.Name), err)
}

// nodePatch changes annotations, and optionally whether a node takes new pods.
func nodePatch(unschedulable *bool, annotations map[string]any) map[string]any {
	patch := map[string]any{"metadata": map[string]any{"annotations": annotations}}
	if unschedulable != nil {
		patch["spec"] = map[string]any{"unschedulable": *unschedulable}
	}
	return patch
}
