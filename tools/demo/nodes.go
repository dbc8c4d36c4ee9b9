package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// served is the label of the nodes whose kubelet the local Kubernetes plays.
const served = "localkube.gpupool.dev/managed"

func nodeName(instanceID string) string { return "node-" + instanceID }

// joinInstances simulates the kubelets of the local CVM's instances until it is stopped. Each
// joins the cluster once it runs, as by kubelet --provider-id, and stops reporting once it is
// gone.
func joinInstances(ctx context.Context, client kubeclient.CoreV1, cvm *cvm) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	failure := make(chan error, 1)
	go func() {
		joined := map[string]bool{}
		for ; ctx.Err() == nil; sleep(ctx, 200*time.Millisecond) {
			if err := followInstances(ctx, client, cvm, joined); err != nil && ctx.Err() == nil {
				failure <- fmt.Errorf("the instances of the demo: %w", err)
				return
			}
		}
		failure <- nil
	}()
	return func() error {
		cancel()
		return <-failure
	}
}

// followInstances joins those that run, and silences those that are gone.
func followInstances(ctx context.Context, client kubeclient.CoreV1, cvm *cvm, joined map[string]bool) error {
	instances, err := cvm.instances(ctx)
	if err != nil {
		return err
	}
	running := map[string]bool{}
	for _, i := range instances {
		if i.State != "RUNNING" {
			continue
		}
		if running[i.Name] = true; !joined[i.Name] {
			if err := join(ctx, client, i.Name); err != nil {
				return err
			}
			joined[i.Name] = true
		}
	}
	for id := range joined {
		if !running[id] {
			if err := silence(ctx, client, id); err != nil {
				return err
			}
			delete(joined, id)
		}
	}
	return nil
}

func join(ctx context.Context, client kubeclient.CoreV1, id string) error {
	resources := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods: resource.MustParse("100"), "nvidia.com/gpu": resource.MustParse("1"),
	}
	_, err := client.Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName(id), Labels: map[string]string{served: "true", "pool": "train"}},
		Spec:       corev1.NodeSpec{ProviderID: "qcloud:///ap-singapore-2/" + id},
		Status:     corev1.NodeStatus{Capacity: resources, Allocatable: resources},
	}, metav1.CreateOptions{})
	return err
}

// silence ends the kubelet of an instance that is gone. Its node stays, and is Unknown.
func silence(ctx context.Context, client kubeclient.CoreV1, id string) error {
	nodes, name := client.Nodes(), nodeName(id)
	_, err := nodes.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"`+served+`":null}}}`), metav1.PatchOptions{})
	if err == nil {
		unknown := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown","lastTransitionTime":%q}]}}`,
			time.Now().UTC().Format(time.RFC3339))
		_, err = nodes.Patch(ctx, name, types.StrategicMergePatchType, unknown, metav1.PatchOptions{}, "status")
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
