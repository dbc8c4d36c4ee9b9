package kubetest

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// Reserve has a pod hold a GPU of a node for a group of fractions, as their
// scheduler does, and waits until it runs.
func (c *Cluster) Reserve(t testing.TB, node, group string) *corev1.Pod {
	t.Helper()
	namespace := gpu.ReservationNamespaces()[0]
	_, err := c.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	WaitFor(t, "the service account of namespace "+namespace, func(ctx context.Context) error {
		_, err := c.client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	pod := Create(t, c, Pod(namespace, "", Group(group), GPUs(1), BoundTo(node)))
	t.Cleanup(func() {
		_ = c.client.CoreV1().Pods(namespace).Delete(context.Background(), pod.Name, metav1.DeleteOptions{})
	})
	return c.WaitRunning(t, pod)
}

// Group has a pod name the group of fractions that it belongs to.
func Group(name string) PodOption { return Labels(map[string]string{gpu.ReservationLabel: name}) }
