package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const namespace = "default"

// pod has how long a pod ran, by three clocks.
type pod struct {
	name    string
	own     time.Duration // by the container
	kubelet time.Duration // by the status, in whole seconds
	counted time.Duration // by gpupool usage
	source  string        // of the counted end
}

// createPods creates pods with one GPU each, which run for 3 to 30 seconds. The kubelet cuts off the
// fractions of start and end, which cancel out in whole seconds. Otherwise, each pod has an error of
// 0.4 seconds, and the sum of 50 pods one of 0.35%.
func createPods(ctx context.Context, client kubernetes.Interface, clock string, n int, fractions bool) error {
	for i := range n {
		length := time.Duration(3+rand.IntN(28)) * time.Second
		if fractions {
			length -= time.Duration(rand.Int64N(int64(time.Second)))
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("clock-%03d", i)},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, HostNetwork: true, DNSPolicy: corev1.DNSDefault,
				AutomountServiceAccountToken: new(bool), TerminationGracePeriodSeconds: new(int64),
				Containers: []corev1.Container{{
					Name: "clock", Image: clockImage, ImagePullPolicy: corev1.PullNever, Command: []string{clock, length.String()},
					Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{gpuResource: resource.MustParse("1")}},
				}},
			},
		}
		if _, err := client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func allEnded(ctx context.Context, client kubernetes.Interface) (bool, error) {
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	for _, p := range list.Items {
		switch p.Status.Phase {
		case corev1.PodFailed:
			return false, fmt.Errorf("pod %s failed: %s %s %v", p.Name, p.Status.Reason, p.Status.Message, p.Status.ContainerStatuses)
		case corev1.PodSucceeded:
		default:
			return false, nil
		}
	}
	return true, nil
}

// readPods returns the pods with what their containers and the kubelet measured.
func readPods(ctx context.Context, client kubernetes.Interface) ([]pod, error) {
	list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var pods []pod
	for _, p := range list.Items {
		ended := p.Status.ContainerStatuses[0].State.Terminated
		if ended == nil {
			return nil, fmt.Errorf("pod %s has succeeded, and its container has not ended: %v", p.Name, p.Status.ContainerStatuses)
		}
		var start, end int64
		if _, err := fmt.Sscan(ended.Message, &start, &end); err != nil {
			return nil, fmt.Errorf("the clock of pod %s wrote %q: %w", p.Name, ended.Message, err)
		}
		pods = append(pods, pod{name: p.Name, own: time.Duration(end - start), kubelet: ended.FinishedAt.Sub(ended.StartedAt.Time)})
	}
	return pods, nil
}
