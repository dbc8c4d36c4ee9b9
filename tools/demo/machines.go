package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// served is the label of the nodes whose kubelet the local Kubernetes plays.
const served = "localkube.gpupool.dev/managed"

// machines is what runs on the instances of the local CVM: each joins the cluster once
// it runs, as by kubelet --provider-id, and falls silent once it is gone.
type machines struct {
	stop func() error
}

func nodeOf(instanceID string) string { return "node-" + instanceID }

// completeStore is the store of the complete example.
const completeStore = "gpupool-system"

// enterWithMachines starts a local Kubernetes that the instances join.
func (s *stage) enterWithMachines(ctx context.Context, localkube string) error {
	if err := s.enterCluster(ctx, localkube, ""); err != nil {
		return err
	}
	s.env = append(s.env, "GPUPOOL_STORE=kubernetes:"+completeStore, "TF_VAR_namespace="+podsNamespace)
	s.startMachines(ctx)
	return nil
}

// startMachines keeps the nodes as the instances are until it is stopped.
func (s *stage) startMachines(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	failure := make(chan error, 1)
	go func() {
		on := map[string]bool{}
		for {
			err := s.keepMachines(ctx, on)
			if ctx.Err() != nil {
				failure <- nil
				return
			}
			if err != nil {
				failure <- fmt.Errorf("the machines of the demo: %w", err)
				return
			}
			pause(ctx, 200*time.Millisecond)
		}
	}()
	s.machines = &machines{stop: sync.OnceValue(func() error {
		cancel()
		return <-failure
	})}
}

// keepMachines switches on what runs and off what is gone; on are those that are on.
func (s *stage) keepMachines(ctx context.Context, on map[string]bool) error {
	instances, err := s.instances(ctx)
	if err != nil {
		return err
	}
	running := map[string]bool{}
	for _, i := range instances {
		if i.State != "RUNNING" {
			continue
		}
		if running[i.ID] = true; !on[i.ID] {
			if err := join(ctx, s.cluster.client, i.ID); err != nil {
				return err
			}
			on[i.ID] = true
		}
	}
	for id := range on {
		if !running[id] {
			if err := silence(ctx, s.cluster.client, id); err != nil {
				return err
			}
			delete(on, id)
		}
	}
	return nil
}

// join registers the node that an instance is.
func join(ctx context.Context, client kubernetes.Interface, id string) error {
	resources := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods: resource.MustParse("100"), "nvidia.com/gpu": resource.MustParse("1"),
	}
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nodeOf(id), Labels: map[string]string{served: "true", "pool": "train"}},
		Spec:       corev1.NodeSpec{ProviderID: "qcloud:///ap-singapore-2/" + id},
		Status:     corev1.NodeStatus{Capacity: resources, Allocatable: resources},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// silence ends the kubelet of an instance that is gone. Its node stays, and is Unknown.
func silence(ctx context.Context, client kubernetes.Interface, id string) error {
	nodes, name := client.CoreV1().Nodes(), nodeOf(id)
	_, err := nodes.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"`+served+`":null}}}`), metav1.PatchOptions{})
	if err == nil {
		var unknown []byte
		unknown, err = json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", LastTransitionTime: metav1.Now(),
		}}}})
		if err == nil {
			_, err = nodes.Patch(ctx, name, types.StrategicMergePatchType, unknown, metav1.PatchOptions{}, "status")
		}
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
