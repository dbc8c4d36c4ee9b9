package kubelet

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Managed is the label, with the value "true", of the nodes that are served.
const Managed = prefix + "managed"

// Nodes returns n nodes named gpu-1, gpu-2 and so on, each with that many GPUs. Their labels
// are those of a TKE node with NVIDIA's GPU feature discovery. The machine is Tencent Cloud's
// GN10Xp with V100 (document 560/19700).
func Nodes(n, gpus int) []*corev1.Node {
	nodes := make([]*corev1.Node, n)
	for i := range nodes {
		name := fmt.Sprintf("gpu-%d", i+1)
		capacity := corev1.ResourceList{
			corev1.ResourceCPU:              resource.MustParse("80"),
			corev1.ResourceMemory:           resource.MustParse("320Gi"),
			corev1.ResourceEphemeralStorage: resource.MustParse("500Gi"),
			corev1.ResourcePods:             resource.MustParse("1000"),
		}
		if gpus > 0 {
			capacity["nvidia.com/gpu"] = *resource.NewQuantity(int64(gpus), resource.DecimalSI)
		}
		nodes[i] = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name: name,
				Labels: map[string]string{
					Managed:                           "true",
					corev1.LabelHostname:              name,
					corev1.LabelOSStable:              "linux",
					corev1.LabelArchStable:            "amd64",
					corev1.LabelInstanceTypeStable:    "GN10Xp.20XLARGE320",
					corev1.LabelTopologyRegion:        "sg",
					corev1.LabelTopologyZone:          "900002",
					"nvidia.com/gpu.present":          "true",
					"nvidia.com/gpu.count":            strconv.Itoa(gpus),
					"nvidia.com/gpu.product":          "Tesla-V100-SXM2-32GB",
					"nvidia.com/gpu.family":           "volta",
					"nvidia.com/gpu.memory":           "32768",
					"nvidia.com/gpu.replicas":         "1",
					"nvidia.com/gpu.sharing-strategy": "none",
					"nvidia.com/mig.capable":          "false",
					"nvidia.com/mps.capable":          "false",
				},
			},
			Spec:   corev1.NodeSpec{ProviderID: fmt.Sprintf("qcloud:///900002/ins-localk%02d", i+1)},
			Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity.DeepCopy()},
		}
	}
	return nodes
}
