package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// nodeReplay is a replay's result for nodes: the most that each of them ever showed.
type nodeReplay struct {
	nodes   map[string]*gpu.Node // by UID
	order   []string
	deleted map[string]bool
}

func newNodeReplay() *nodeReplay {
	return &nodeReplay{nodes: map[string]*gpu.Node{}, deleted: map[string]bool{}}
}

// node notes a change of a node.
func (r *nodeReplay) node(c kubeclient.Change) error {
	var object corev1.Node
	if err := object.Unmarshal(c.Object); err != nil {
		return err
	}
	now := gpu.NodeOf(&object)
	if before := r.nodes[now.UID]; before != nil {
		now.Merge(before)
	} else {
		r.order = append(r.order, now.UID)
	}
	r.nodes[now.UID] = &now
	r.deleted[now.UID] = c.Kind == watch.Deleted
	return nil
}

// replayNodes replays the watch of nodes, so that one is known that came and went
// between two observations. It need not be complete: pods on a node of which nothing is
// known are estimates. The warning says so where nodes may not be watched.
func (c *podReader) replayNodes(ctx context.Context, from, until string) (r *nodeReplay, warning string, err error) {
	r = newNodeReplay()
	if from == "" {
		return r, "", nil
	}
	_, err = replay(ctx, kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "nodes"}, from, until, r.node)
	if apierrors.IsForbidden(err) {
		return r, err.Error() + "; pods on nodes that came and went between two runs are estimates", nil
	}
	return r, "", err
}
