//go:build unix

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

const (
	seedNamespaces = 20
	seedWorkers    = 32
	podsPerNode    = 100
)

// seeder fills a cluster with pods.
type seeder struct {
	client *kubeclient.Client
	pods   int // there are
	edits  int // made so far
}

func seedNamespace(n int) string { return fmt.Sprintf("team-%02d", n%seedNamespaces) }

// grow makes pods until there are n, on nodes that are there.
func (s *seeder) grow(ctx context.Context, n int) error {
	if s.pods == 0 {
		for i := range seedNamespaces {
			err := s.created(s.client.Kubernetes().CoreV1().Namespaces().Create(ctx,
				&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: seedNamespace(i)}}, metav1.CreateOptions{}))
			if err == nil {
				err = s.serviceAccount(ctx, seedNamespace(i))
			}
			if err != nil {
				return err
			}
		}
	}
	err := s.each(ctx, s.pods/podsPerNode, n/podsPerNode, func(ctx context.Context, i int) error {
		return s.created(s.client.Kubernetes().CoreV1().Nodes().Create(ctx, seedNode(i), metav1.CreateOptions{}))
	})
	if err == nil {
		err = s.each(ctx, s.pods, n, s.create)
	}
	s.pods = n
	return err
}

// serviceAccount makes what pods need before they may be made.
func (s *seeder) serviceAccount(ctx context.Context, namespace string) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	return s.created(nil, s.client.Kubernetes().CoreV1().RESTClient().Post().Namespace(namespace).Resource("serviceaccounts").Body(account).Do(ctx).Error())
}

func (s *seeder) created(_ any, err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// each does something for each number, many at a time.
func (s *seeder) each(ctx context.Context, from, to int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(seedWorkers)
	for i := from; i < to && ctx.Err() == nil; i++ {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

func (s *seeder) create(ctx context.Context, i int) error {
	pod := seedPod(i)
	pods := s.client.Kubernetes().CoreV1().Pods(pod.Namespace)
	made, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil || i%gpuEvery != 0 {
		return s.created(made, err)
	}
	now := metav1.NewTime(time.Now())
	made.Status.Phase, made.Status.StartTime = corev1.PodRunning, &now
	made.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now}}
	made.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}, Image: "registry.example.com/train:1",
	}}
	_, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

// change makes so many changes, as a cluster does in a minute: of ten pods one
// goes and comes again, and the others are edited. They are spread over all
// pods, so that one in gpuEvery has a GPU.
func (s *seeder) change(ctx context.Context, n int) error {
	s.edits++
	step := s.pods / n
	return s.each(ctx, 0, n, func(ctx context.Context, i int) error {
		number := i*step + i%step
		pod := seedPod(number)
		pods := s.client.Kubernetes().CoreV1().Pods(pod.Namespace)
		if i%10 != 0 {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"edited":"%d"}}}`, s.edits)
			_, err := pods.Patch(ctx, pod.Name, "application/merge-patch+json", patch, metav1.PatchOptions{})
			return err
		}
		none := int64(0)
		if err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &none}); err != nil {
			return err
		}
		return s.create(ctx, number)
	})
}

// seedPod is a pod as large as many are: some 3 KB.
func seedPod(i int) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: seedNamespace(i), Name: fmt.Sprintf("pod-%06d", i),
			Labels:      map[string]string{"app": "web", "team": "a", "pod-template-hash": "6d4cf56db6"},
			Annotations: map[string]string{"checksum/config": "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"},
		},
		Spec: corev1.PodSpec{
			NodeName:                      fmt.Sprintf("node-%04d", i/podsPerNode),
			TerminationGracePeriodSeconds: new(int64(30)),
			AutomountServiceAccountToken:  new(false),
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example.com/train:1", Command: []string{"/usr/bin/serve", "--listen=:8080"},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("2Gi")}},
			}},
		},
	}
	for n := range 12 {
		pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, corev1.EnvVar{
			Name: fmt.Sprintf("SETTING_%02d", n), Value: fmt.Sprintf("https://service-%02d.%s.svc.cluster.local:8443/v1/endpoint", n, pod.Namespace),
		})
	}
	if i%gpuEvery == 0 {
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
	}
	return pod
}

// seedNode is a node that is ready, and stays so, as nobody looks after it.
func seedNode(i int) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:   fmt.Sprintf("node-%04d", i),
			Labels: map[string]string{"nvidia.com/gpu.product": "Tesla-T4", "node.kubernetes.io/instance-type": "GN7.2XLARGE32"},
		},
		Status: corev1.NodeStatus{
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Capacity:    corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")},
			Allocatable: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")},
		},
	}
}
