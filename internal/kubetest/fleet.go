package kubetest

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const fleet = "kubetest.gpupool.dev/fleet"

// OfFleet adds a node to a fleet.
func OfFleet(name string) NodeOption {
	return func(node *corev1.Node) { node.Labels[fleet] = name }
}

// OnFleet schedules the pod on any node of a fleet.
func OnFleet(name string) PodOption {
	return func(pod *corev1.Pod) {
		pod.Spec.NodeSelector = map[string]string{fleet: name}
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: reserved, Operator: corev1.TolerationOpExists})
	}
}

// FleetNodes returns the nodes of a fleet.
func (c *Cluster) FleetNodes(ctx context.Context, name string) ([]corev1.Node, error) {
	list, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: fleet + "=" + name})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// ProviderID sets the provider ID of a node.
func ProviderID(id string) NodeOption {
	return func(node *corev1.Node) { node.Spec.ProviderID = id }
}

// Silence silences the kubelet of a node, as if its instance were gone. The node becomes Unknown,
// as the node lifecycle controller would set it, and its pods keep their last state.
func (c *Cluster) Silence(ctx context.Context, node string) error {
	nodes := c.client.CoreV1().Nodes()
	unmanaged := []byte(`{"metadata":{"labels":{"` + managed + `":null}}}`)
	if _, err := nodes.Patch(ctx, node, types.MergePatchType, unmanaged, metav1.PatchOptions{}); err != nil {
		return err
	}
	unknown, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.",
		LastTransitionTime: metav1.Now(),
	}}}})
	if err != nil {
		return err
	}
	_, err = nodes.Patch(ctx, node, types.StrategicMergePatchType, unknown, metav1.PatchOptions{}, "status")
	return err
}
