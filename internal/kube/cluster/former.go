package cluster

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// namespace is what budgets need of a namespace.
type namespace struct {
	name    string
	created time.Time
	labels  map[string]string
}

func namespaceOf(object []byte) (namespace, error) {
	var n corev1.Namespace
	err := n.Unmarshal(object)
	if value, ok := n.Annotations[budget.ProtectedKey]; ok {
		n.Labels = merged(map[string]string{budget.ProtectedKey: value}, n.Labels)
	}
	return namespace{name: n.Name, created: n.CreationTimestamp.Time, labels: n.Labels}, err
}

// formerNamespaces are the labels of the namespaces of deleted pods, by the pod,
// where these namespaces are gone as well, or are others of the same name by now:
// as they last were, by a replay of their own watch. Nil says that it does not
// tell, and the text why.
func (c *Cluster) formerNamespaces(ctx context.Context, from, until string, h *history) (map[string]map[string]string, string, error) {
	homeless := h.homeless()
	if len(homeless) == 0 {
		return nil, "", nil
	}
	var told []namespace // in the order in which they changed
	each := func(c kubeclient.Change) error {
		n, err := namespaceOf(c.Object)
		if err == nil {
			told = append(told, n)
		}
		return err
	}
	missing, err := replay(ctx, kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "namespaces"}, from, until, each)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		missing = err.Error()
	case err != nil:
		return nil, "", err
	}
	former := map[string]map[string]string{}
	for _, pod := range homeless {
		former[string(pod.UID)] = nil
		for _, n := range slices.Backward(told) {
			if n.name == pod.Namespace && !n.created.After(pod.CreationTimestamp.Time) {
				former[string(pod.UID)] = n.labels
				break
			}
		}
	}
	return former, missing, nil
}

// homeless are the deleted pods whose namespace is not there any more.
func (h *history) homeless() []*corev1.Pod {
	var pods []*corev1.Pod
	for _, uid := range h.order {
		pod := h.pods[uid]
		if created, there := h.namespaces[pod.Namespace]; h.deleted[uid] && (!there || created.After(pod.CreationTimestamp.Time)) {
			pods = append(pods, pod)
		}
	}
	return pods
}
