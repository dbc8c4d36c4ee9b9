package kubetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// patience is how long WaitFor waits. What is waited for takes seconds at
// most, but two cores may be shared by several packages' clusters.
const patience = 90 * time.Second

// WaitFor asks every few moments until cond returns nil, and fails the test
// with its last error when that takes too long. The error says what is still
// amiss.
func WaitFor(t testing.TB, what string, cond func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := cond(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waited %s for %s: %v", patience, what, err)
		case <-tick.C:
		}
	}
}

// WaitForPod waits until the pod is as asked, and returns it.
func (c *Cluster) WaitForPod(t testing.TB, pod *corev1.Pod, what string, is func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var last *corev1.Pod
	WaitFor(t, fmt.Sprintf("pod %s/%s to be %s", pod.Namespace, pod.Name, what), func(ctx context.Context) (err error) {
		if last, err = c.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{}); err != nil {
			return err
		}
		if !is(last) {
			return fmt.Errorf("it is %s on node %q: %s %s %v", last.Status.Phase, last.Spec.NodeName, last.Status.Reason, last.Status.Message,
				last.Status.Conditions)
		}
		return nil
	})
	return last
}

// WaitRunning waits until the pod runs and is ready.
func (c *Cluster) WaitRunning(t testing.TB, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	return c.WaitForPod(t, pod, "running", func(pod *corev1.Pod) bool {
		if pod.Status.Phase != corev1.PodRunning {
			return false
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady {
				return condition.Status == corev1.ConditionTrue
			}
		}
		return false
	})
}

// WaitFinished waits until the pod has succeeded or failed.
func (c *Cluster) WaitFinished(t testing.TB, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	return c.WaitForPod(t, pod, "finished", func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	})
}

// WaitGone waits until this very pod exists no more.
func (c *Cluster) WaitGone(t testing.TB, pod *corev1.Pod) {
	t.Helper()
	WaitFor(t, fmt.Sprintf("pod %s/%s to be gone", pod.Namespace, pod.Name), func(ctx context.Context) error {
		now, err := c.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && now.UID != pod.UID:
			return nil
		case err != nil:
			return err
		}
		return errors.New("it is still there")
	})
}
