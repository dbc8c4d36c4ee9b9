package gpu_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

func node(labels map[string]string, allocatable string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-1", UID: "node-uid", Labels: labels},
		Status:     corev1.NodeStatus{Capacity: list(allocatable), Allocatable: list(allocatable)},
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	type labels = map[string]string
	ready := func(status corev1.ConditionStatus) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
		}
	}
	for _, tt := range []struct {
		name   string
		labels labels
		change func(*corev1.Node)
		want   gpu.Node
	}{
		{name: "bare"},
		{name: "TKE", labels: labels{
			"nvidia-device-enable": "enable", "cloud.tencent.com/node-instance-id": "ins-a1b2c3d4",
			"node.kubernetes.io/instance-type": "GN7.2XLARGE32", "nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.memory": "15360",
		}, want: gpu.Node{Model: "Tesla-T4", InstanceType: "GN7.2XLARGE32", ProviderID: "ins-a1b2c3d4", Devices: &gpu.Devices{Memory: 15360}}},
		{name: "older TKE", labels: labels{"beta.kubernetes.io/instance-type": "QCLOUD"}, change: func(n *corev1.Node) {
			n.Spec.ProviderID = "qcloud:///800001/ins-a1b2c3d4"
		}, want: gpu.Node{ProviderID: "qcloud:///800001/ins-a1b2c3d4"}},
		{name: "a MIG slice's model is the GPU's", labels: labels{"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED"},
			want: gpu.Node{Model: "NVIDIA-A100-SXM4-40GB", Devices: &gpu.Devices{MIG: "1g.5gb"}}},
		{name: "a shared GPU's model is the GPU's", labels: labels{"nvidia.com/gpu.product": "Tesla-T4-SHARED"}, want: gpu.Node{Model: "Tesla-T4"}},
		{name: "AMD", labels: labels{"amd.com/gpu.product-name": "AMD_Instinct_MI300X", "amd.com/compute-memory-partition": "cpx_nps4"},
			want: gpu.Node{Model: "AMD_Instinct_MI300X", Devices: &gpu.Devices{Partition: "cpx_nps4"}}},
		{name: "Karpenter's spot", labels: labels{"karpenter.sh/capacity-type": "spot"}, want: gpu.Node{Spot: true}},
		{name: "EKS's spot", labels: labels{"eks.amazonaws.com/capacityType": "SPOT"}, want: gpu.Node{Spot: true}},
		{name: "on demand", labels: labels{"karpenter.sh/capacity-type": "on-demand"}},
		{name: "ready", change: ready(corev1.ConditionTrue)},
		{name: "silent", change: ready(corev1.ConditionUnknown), want: gpu.Node{NotReady: true}},
		{name: "not ready", change: ready(corev1.ConditionFalse), want: gpu.Node{NotReady: true}},
		{name: "Intel, shared", labels: labels{"gpu.intel.com/device.count": "2"}, change: func(n *corev1.Node) {
			n.Status.Capacity = list("gpu.intel.com/i915=20")
		}, want: gpu.Node{Devices: &gpu.Devices{Replicas: map[string]int{"gpu.intel.com/i915": 10}}}},
		{name: "HAMi", change: func(n *corev1.Node) {
			n.Annotations = labels{
				"hami.io/node-nvidia-register": `[{"id":"GPU-1","count":10,"devmem":16384,"devcore":100},{"id":"GPU-2","count":10,"devmem":16384}]`,
			}
		}, want: gpu.Node{Devices: &gpu.Devices{Memory: 16384, Cards: 2}}},
		{name: "HAMi with cards that differ", change: func(n *corev1.Node) {
			n.Annotations = labels{"hami.io/node-nvidia-register": `[{"devmem":16384},{"devmem":32768}]`}
		}, want: gpu.Node{Devices: &gpu.Devices{Cards: 2}}},
		{name: "Volcano", change: func(n *corev1.Node) {
			n.Annotations = labels{"volcano.sh/node-vgpu-register": "GPU-1,10,32768,NVIDIA-V100,false:GPU-2,10,32768,NVIDIA-V100,false:"}
		}, want: gpu.Node{Devices: &gpu.Devices{Memory: 32768, Cards: 2}}},
		{name: "qGPU", change: func(n *corev1.Node) {
			n.Status.Capacity = list("tke.cloud.tencent.com/qgpu-core=400 tke.cloud.tencent.com/qgpu-memory=60")
		}, want: gpu.Node{Devices: &gpu.Devices{Memory: 15360}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := node(tt.labels, "")
			if tt.change != nil {
				tt.change(n)
			}
			tt.want.Name, tt.want.UID, tt.want.Shown = "node-1", "node-uid", true
			if diff := cmp.Diff(tt.want, gpu.NodeOf(n), cmpopts.IgnoreFields(gpu.Node{}, "Capacity", "Told")); diff != "" {
				t.Errorf("want - got +:\n%s", diff)
			}
		})
	}
}

func TestInstanceID(t *testing.T) {
	t.Parallel()
	for provider, want := range map[string]string{"qcloud:///800001/ins-a1b2c3d4": "ins-a1b2c3d4", "ins-a1b2c3d4": "ins-a1b2c3d4", "": ""} {
		if got := (gpu.Node{ProviderID: provider}).InstanceID(); got != want {
			t.Errorf("%q is the instance %q, want %q", provider, got, want)
		}
	}
}

func TestAllocatable(t *testing.T) {
	t.Parallel()
	type labels = map[string]string
	hami := node(nil, "nvidia.com/gpu=20")
	hami.Annotations = labels{"hami.io/node-nvidia-register": `[{"devmem":16384},{"devmem":16384}]`}
	for _, tt := range []struct {
		name      string
		node      *corev1.Node
		inventory *gpu.Inventory
		rules     []string
		want      string
	}{
		{name: "whole", node: node(nil, "cpu=8 nvidia.com/gpu=4"), want: "4"},
		{name: "none", node: node(nil, "cpu=8 nvidia.com/gpu=0"), want: "0"},
		{name: "time-sliced", node: node(labels{"nvidia.com/gpu.replicas": "4"}, "nvidia.com/gpu=8"), want: "2"},
		{name: "MIG mixed", node: node(nil, "nvidia.com/gpu=1 nvidia.com/mig-1g.5gb=7"), want: "2"},
		{name: "qGPU", node: node(nil, "tke.cloud.tencent.com/qgpu-core=400 tke.cloud.tencent.com/qgpu-memory=60"), want: "4"},
		{name: "HAMi's splits", node: hami, want: "2"},
		{name: "by a rule", node: node(nil, "nvidia.com/gpu=4"), rules: []string{"nvidia.com/gpu=1/2"}, want: "2"},
		{name: "by slices", node: node(nil, "cpu=8"), inventory: slices(), want: "199/56"}, // gpu-0, gpu-1, gpu-3, 3/7 and 1/8; the channel is not a GPU
		{name: "huge", node: node(nil, "nvidia.com/gpu=9223372036854775807"), want: "0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := table(t, tt.rules...).Allocatable(tt.node, tt.inventory).RatString(); got != tt.want {
				t.Errorf("it can give %s GPUs, want %s", got, tt.want)
			}
		})
	}
}
