//go:build unix

package bench

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

const (
	gpuEvery    = 20 // one pod in so many holds a GPU
	podsPerNode = 100
)

// cluster is a real API server and etcd, without controllers but for the one without
// which no namespace takes pods.
type cluster struct {
	*kubetest.Cluster
	uid        string
	namespaces []string
	pods       int // there are
	edits      int // made so far
}

func startCluster(b *testing.B) *cluster {
	b.Helper()
	c := &cluster{Cluster: kubetest.StartOwn(b, "--no-kubelet", "--no-scheduler", "--controllers=serviceaccount-controller")}
	system, err := c.Client().CoreV1().Namespaces().Get(b.Context(), metav1.NamespaceSystem, metav1.GetOptions{})
	check(b, err)
	c.uid = string(system.UID)
	for range 20 {
		c.namespaces = append(c.namespaces, c.Namespace(b))
	}
	return c
}

func (c *cluster) namespace(n int) string { return c.namespaces[n%len(c.namespaces)] }

// each does something for each number, many at a time.
func each(b *testing.B, from, to int, do func(ctx context.Context, n int) error) {
	b.Helper()
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(32)
	for n := from; n < to && ctx.Err() == nil; n++ {
		group.Go(func() error { return do(ctx, n) })
	}
	check(b, group.Wait())
}

// grow makes pods until there are n, on nodes that are there.
func (c *cluster) grow(b *testing.B, n int) {
	b.Helper()
	each(b, c.pods/podsPerNode, n/podsPerNode, func(ctx context.Context, i int) error {
		_, err := kubetest.TryCreate(ctx, c.Cluster, readyNode(fmt.Sprintf("node-%04d", i)))
		return err
	})
	each(b, c.pods, n, c.addPod)
	c.pods = n
}

// change makes so many changes, as a cluster does in a minute: of ten pods one goes and
// comes again, and the others are edited. They are spread over all pods, so that one in
// gpuEvery has a GPU.
func (c *cluster) change(b *testing.B, n int) {
	b.Helper()
	c.edits++
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"edited":"%d"}}}`, c.edits)
	step := c.pods / n
	each(b, 0, n, func(ctx context.Context, i int) error {
		number := i*step + i%step
		pod := c.pod(number)
		pods := c.Client().CoreV1().Pods(pod.Namespace)
		if i%10 != 0 {
			_, err := pods.Patch(ctx, pod.Name, "application/merge-patch+json", patch, metav1.PatchOptions{})
			return err
		}
		if err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
			return err
		}
		return c.addPod(ctx, number)
	})
}

func (c *cluster) addPod(ctx context.Context, n int) error {
	pod := c.pod(n)
	if n%gpuEvery != 0 {
		_, err := c.Client().CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	}
	return c.run(ctx, pod)
}

func (c *cluster) run(ctx context.Context, pod *corev1.Pod) error {
	pods := c.Client().CoreV1().Pods(pod.Namespace)
	made, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	now := metav1.Now()
	made.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &now,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now},
		},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: made.Spec.Containers[0].Name, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}},
	}
	_, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

// pod is one as large as many are: some 3 KB.
func (c *cluster) pod(n int) *corev1.Pod {
	namespace := c.namespace(n)
	pod := kubetest.Pod(namespace, fmt.Sprintf("pod-%06d", n), kubetest.BoundTo(fmt.Sprintf("node-%04d", n/podsPerNode)),
		kubetest.Labels(map[string]string{"app": "web", "team": "a", "pod-template-hash": "6d4cf56db6"}),
		kubetest.Annotation("checksum/config", "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"),
		kubetest.Resource("cpu", "1"), kubetest.Resource("memory", "2Gi"))
	pod.Spec.AutomountServiceAccountToken = new(false)
	main := &pod.Spec.Containers[0]
	main.Command = []string{"/usr/bin/serve", "--listen=:8080"}
	for n := range 12 {
		main.Env = append(main.Env, corev1.EnvVar{
			Name: fmt.Sprintf("SETTING_%02d", n), Value: fmt.Sprintf("https://service-%02d.%s.svc.cluster.local:8443/v1/endpoint", n, namespace),
		})
	}
	if n%gpuEvery == 0 {
		kubetest.GPUs(1)(pod)
	}
	return pod
}

// readyNode stays ready, as no controller manages it.
func readyNode(name string, options ...kubetest.NodeOption) *corev1.Node {
	node := kubetest.Node(name, 8, options...)
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return node
}
