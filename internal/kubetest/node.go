package kubetest

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reserved taints the nodes that tests make: only pods that name such a node
// are scheduled there.
const reserved = "kubetest.gpupool.dev/reserved"

// managed is the label of the nodes that the stand-in kubelet serves.
const managed = "localkube.gpupool.dev/managed"

// NodeOption changes a node that is being made.
type NodeOption func(*corev1.Node)

// Node returns a node with so many T4 of NVIDIA, labeled as by NVIDIA's GPU
// feature discovery, which the stand-in kubelet serves. Pods come to it by
// OnNode or BoundTo.
func Node(name string, gpus int, options ...NodeOption) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				managed:                           "true",
				corev1.LabelHostname:              name,
				corev1.LabelOSStable:              "linux",
				corev1.LabelArchStable:            "amd64",
				corev1.LabelInstanceTypeStable:    "GN7.20XLARGE320",
				corev1.LabelTopologyRegion:        "sg",
				corev1.LabelTopologyZone:          "900002",
				"nvidia.com/gpu.present":          "true",
				"nvidia.com/gpu.count":            strconv.Itoa(gpus),
				"nvidia.com/gpu.product":          "Tesla-T4",
				"nvidia.com/gpu.memory":           "15360",
				"nvidia.com/gpu.replicas":         "1",
				"nvidia.com/gpu.sharing-strategy": "none",
			},
		},
		Spec: corev1.NodeSpec{
			ProviderID: "qcloud:///900002/ins-" + name,
			Taints:     []corev1.Taint{{Key: reserved, Value: "true", Effect: corev1.TaintEffectNoSchedule}},
		},
	}
	for name, quantity := range map[corev1.ResourceName]string{
		corev1.ResourceCPU: "80", corev1.ResourceMemory: "320Gi", corev1.ResourcePods: "1000",
	} {
		Capacity(name, quantity)(node)
	}
	if gpus > 0 {
		Capacity("nvidia.com/gpu", strconv.Itoa(gpus))(node)
	}
	for _, option := range options {
		option(node)
	}
	return node
}

// Capacity gives the node a quantity of a resource.
func Capacity(name corev1.ResourceName, quantity string) NodeOption {
	return func(node *corev1.Node) {
		node.Status.Capacity = with(node.Status.Capacity, name, quantity)
		node.Status.Allocatable = with(node.Status.Allocatable, name, quantity)
	}
}
