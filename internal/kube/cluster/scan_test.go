package cluster

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// plainPod is a pod without GPUs, as large as many are.
func plainPod(n int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("web-%d", n), Namespace: "web", Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{"checksum/config": "8a1f"},
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "kubelet", Subresource: "status", FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:status":{}}`, 100)),
		}},
	}}
	pod.Spec.NodeName = "node-1"
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi"), "tke.cloud.tencent.com/eni-ip": resource.MustParse("1"),
		},
	}}}
	return pod
}

// asking makes a pod ask for something, in one of the places where it may.
func asking(change func(*corev1.Pod)) *corev1.Pod {
	pod := plainPod(0)
	change(pod)
	return pod
}

func some(name corev1.ResourceName) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse("1")}
}

func defaultTable(t testing.TB) *gpu.Table {
	t.Helper()
	table, err := gpu.Rules{}.Table()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestTheScanFindsEveryPlaceWhereAPodAsksForGPUs(t *testing.T) {
	t.Parallel()
	table := defaultTable(t)
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"nothing":       {plainPod(0), false},
		"request":       {asking(func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = some("nvidia.com/gpu") }), true},
		"limit alone":   {asking(func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = some("nvidia.com/gpu") }), true},
		"MIG slice":     {asking(func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = some("nvidia.com/mig-1g.5gb") }), true},
		"qGPU":          {asking(func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = some("tke.cloud.tencent.com/qgpu-core") }), true},
		"AMD partition": {asking(func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = some("amd.com/cpx_nps4") }), true},
		"init container": {asking(func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: some("amd.com/gpu")}}}
		}), true},
		"overhead":  {asking(func(p *corev1.Pod) { p.Spec.Overhead = some("nvidia.com/gpu") }), true},
		"pod level": {asking(func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{Limits: some("nvidia.com/gpu")} }), true},
		"claim":     {asking(func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }), true},
		"automatic claim": {asking(func(p *corev1.Pod) {
			p.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: "x"}
		}), true},
		"fraction":       {asking(func(p *corev1.Pod) { p.Annotations["gpu-fraction"] = "0.5" }), true},
		"memory":         {asking(func(p *corev1.Pod) { p.Annotations["gpu-memory"] = "4096" }), true},
		"a network card": {asking(func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = some("rdma/hca") }), false},
	} {
		data, err := test.pod.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		got, err := interestOf(table).mayHoldGPUs(data)
		if err != nil || got != test.want {
			t.Errorf("%s: the scan says %v (%v), want %v", name, got, err, test.want)
		}
		if table.MayHold(test.pod) && !got {
			t.Errorf("%s: the pod may hold GPUs, and the scan passes it over", name)
		}
	}
}

//nolint:paralleltest // allocations of tests beside it would count
func TestTheScanAllocatesNothing(t *testing.T) {
	data, err := plainPod(0).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	filter := interestOf(defaultTable(t))
	allocations := testing.AllocsPerRun(1000, func() {
		if may, err := filter.mayHoldGPUs(data); may || err != nil {
			t.Error(may, err)
		}
	})
	if allocations > 0 {
		t.Errorf("a pod without GPUs costs %v allocations, want none", allocations)
	}
}

func BenchmarkScan(b *testing.B) {
	data, err := plainPod(0).Marshal()
	if err != nil {
		b.Fatal(err)
	}
	filter := interestOf(defaultTable(b))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := filter.mayHoldGPUs(data); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzScan compares the scan with the pod read as a whole: it may be too eager,
// and must never pass a pod over.
func FuzzScan(f *testing.F) {
	for _, pod := range []*corev1.Pod{
		plainPod(0),
		asking(func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits = some("nvidia.com/gpu") }),
		asking(func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }),
		asking(func(p *corev1.Pod) { p.Annotations["gpu-fraction"] = "0.5" }),
	} {
		data, err := pod.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	table := defaultTable(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		may, scanErr := interestOf(table).mayHoldGPUs(data)
		var pod corev1.Pod
		if err := pod.Unmarshal(data); err != nil {
			return
		}
		if scanErr == nil && !may && table.MayHold(&pod) {
			t.Errorf("the scan passes over %+v", pod)
		}
	})
}
