package cluster

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// formerNamespaces are the last labels of namespaces that are gone or were created again under the same name.
// The keys are the UIDs of the pods in them. The labels come from a replay of the watch of namespaces, and
// are nil if it lacks them. missing is the reason if the replay is incomplete.
func (c *podReader) formerNamespaces(ctx context.Context, from, until string, pods []*corev1.Pod) (former map[string]map[string]string, missing string,
	err error) {
	if len(pods) == 0 {
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
	missing, err = replay(ctx, kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "namespaces"}, from, until, each)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		missing = err.Error()
	case err != nil:
		return nil, "", err
	}
	former = map[string]map[string]string{}
	for _, pod := range pods {
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

// outside are the deleted pods whose namespace is none of those that are there.
func (r *podReplay) outside(there []namespace) []*corev1.Pod {
	created := make(map[string]time.Time, len(there))
	for _, n := range there {
		created[n.name] = n.created
	}
	var pods []*corev1.Pod
	for _, uid := range r.order {
		pod := r.pods[uid]
		if since, found := created[pod.Namespace]; r.deleted[uid] && (!found || since.After(pod.CreationTimestamp.Time)) {
			pods = append(pods, pod)
		}
	}
	return pods
}
