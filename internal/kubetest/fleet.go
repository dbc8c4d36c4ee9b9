package kubetest

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// fleet is the label of nodes of which any will do for a pod.
const fleet = "kubetest.gpupool.dev/fleet"

// OfFleet makes a node one of several on which a test's pods may run.
func OfFleet(name string) NodeOption {
	return func(node *corev1.Node) { node.Labels[fleet] = name }
}

// OnFleet has the pod scheduled on any of the nodes that OfFleet made such.
func OnFleet(name string) PodOption {
	return func(pod *corev1.Pod) {
		pod.Spec.NodeSelector = map[string]string{fleet: name}
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: reserved, Operator: corev1.TolerationOpExists})
	}
}

// FleetNodes are the nodes that OfFleet made such.
func (c *Cluster) FleetNodes(ctx context.Context, name string) ([]corev1.Node, error) {
	list, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: fleet + "=" + name})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// ProviderID says which machine of which cloud a node is.
func ProviderID(id string) NodeOption {
	return func(node *corev1.Node) { node.Spec.ProviderID = id }
}

// Silence has the kubelet of a node fall silent, as when its machine is gone. The node
// is then Unknown, as the controller of node lifecycles would have it, and its pods stay
// as they were last seen.
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
