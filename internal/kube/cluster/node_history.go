package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// nodeHistory is what a replay told of nodes: of each the most that it ever showed.
type nodeHistory struct {
	nodes   map[string]*gpu.Node // by UID
	order   []string
	deleted map[string]bool
}

func newNodeHistory() *nodeHistory {
	return &nodeHistory{nodes: map[string]*gpu.Node{}, deleted: map[string]bool{}}
}

func (h *nodeHistory) node(c kubeclient.Change) error {
	var object corev1.Node
	if err := object.Unmarshal(c.Object); err != nil {
		return err
	}
	now := gpu.NodeOf(&object)
	if before := h.nodes[now.UID]; before != nil {
		now.Merge(before)
	} else {
		h.order = append(h.order, now.UID)
	}
	h.nodes[now.UID] = &now
	h.deleted[now.UID] = c.Kind == watch.Deleted
	return nil
}

// replayNodes replays the watch of nodes, so that one is known that came and went
// between two looks. What it leaves out is not missed: pods on a node of which
// nothing is known are estimates.
func (c *Cluster) replayNodes(ctx context.Context, from, until string, h *nodeHistory) (warning string, err error) {
	if from == "" {
		return "", nil
	}
	_, err = replay(ctx, kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "nodes"}, from, until, h.node)
	if apierrors.IsForbidden(err) {
		return err.Error() + "; pods on nodes that came and went between two runs are estimates", nil
	}
	return "", err
}
