package kubelet

import (
	"context"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keepReady makes a node Ready unless a test has set that condition, and renews its lease.
func (k *kubelet) keepReady(ctx context.Context, node *corev1.Node) error {
	known := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if !known {
		ready := node.DeepCopy()
		ready.Status = readyStatus(node.Status, metav1.Now())
		if _, err := k.client.CoreV1().Nodes().UpdateStatus(ctx, ready, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return k.renewLease(ctx, node)
}

// described returns the node with what a test left out of its resources.
func described(node *corev1.Node) *corev1.Node {
	if len(node.Status.Capacity) > 0 && len(node.Status.Allocatable) > 0 {
		return node
	}
	node = node.DeepCopy()
	node.Status = withResources(node.Status)
	return node
}

func withResources(status corev1.NodeStatus) corev1.NodeStatus {
	status = *status.DeepCopy()
	if len(status.Capacity) == 0 {
		status.Capacity = Nodes(1, 0)[0].Status.Capacity
	}
	if len(status.Allocatable) == 0 {
		status.Allocatable = status.Capacity.DeepCopy()
	}
	return status
}

// readyStatus completes what a test left out of its node.
func readyStatus(status corev1.NodeStatus, now metav1.Time) corev1.NodeStatus {
	status = withResources(status)
	if len(status.Addresses) == 0 {
		status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.10"}}
	}
	status.NodeInfo.OperatingSystem, status.NodeInfo.Architecture = "linux", "amd64"
	status.NodeInfo.KubeletVersion = "v1.36.3-localkube"
	status.Conditions = append(status.Conditions, corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
		Message: "the stand-in kubelet is posting ready status", LastHeartbeatTime: now, LastTransitionTime: now,
	})
	return status
}

// renewLease renews the node's heartbeat once it is due.
func (k *kubelet) renewLease(ctx context.Context, node *corev1.Node) error {
	leases := k.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now := metav1.NowMicro()
	lease, err := leases.Get(ctx, node.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		duration := int32(40)
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{
				Name:            node.Name,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
			},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &node.Name, LeaseDurationSeconds: &duration, RenewTime: &now},
		}, metav1.CreateOptions{})
		return err
	case err != nil:
		return err
	case lease.Spec.RenewTime != nil && now.Sub(lease.Spec.RenewTime.Time) < heartbeat/2:
		return nil
	}
	lease.Spec.RenewTime = &now
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}
