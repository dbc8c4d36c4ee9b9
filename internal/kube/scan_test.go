package kube

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

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
		Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi"), "tke.cloud.tencent.com/eni-ip": resource.MustParse("1")},
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

// encoded is a list as the API server sends it.
func encoded(t testing.TB, list *corev1.PodList) []byte {
	t.Helper()
	list.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}
	scheme := runtime.NewScheme()
	var out bytes.Buffer
	if err := protobuf.NewSerializer(scheme, scheme).Encode(list, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pagesOf(n int) *corev1.PodList {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "token"}}
	for i := range n {
		list.Items = append(list.Items, *plainPod(i))
	}
	return list
}

func TestReadListHandsOverEachObject(t *testing.T) {
	t.Parallel()
	var (
		token string
		names []string
	)
	err := readList(bytes.NewReader(encoded(t, pagesOf(3))), func(more string) {
		token = more
		if len(names) > 0 {
			t.Error("what the page says about itself came after its first object")
		}
	}, func(object []byte) error {
		var pod corev1.Pod
		err := pod.Unmarshal(object)
		names = append(names, pod.Name)
		return err
	})
	if err != nil || fmt.Sprint(names) != "[web-0 web-1 web-2]" || token != "token" {
		t.Errorf("got %v and %q (%v)", names, token, err)
	}
}

func TestReadListNoticesEveryCut(t *testing.T) {
	t.Parallel()
	whole := encoded(t, pagesOf(2))
	// What follows the list in its envelope are two empty strings.
	const tail = 4
	for n := range len(whole) - tail {
		err := readList(bytes.NewReader(whole[:n]), func(string) {}, func([]byte) error { return nil })
		if !errors.Is(err, errDamaged) {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func TestReadListTakesNoImpossibleLengthForAnEmptyList(t *testing.T) {
	t.Parallel()
	for _, length := range []uint64{1, 1 << 62, 1 << 63, math.MaxUint64} {
		page := protowire.AppendVarint(append([]byte(envelope), 2<<3|byte(protowire.BytesType)), length)
		if err := readList(bytes.NewReader(page), func(string) {}, func([]byte) error { return nil }); !errors.Is(err, errDamaged) {
			t.Errorf("a list of %d bytes of which none came: %v", length, err)
		}
	}
}

func FuzzReadList(f *testing.F) {
	f.Add(encoded(f, pagesOf(2)))
	f.Add([]byte(envelope))
	f.Add([]byte("k8s\x00\x12\x03\x12\x80\x80"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var items int
		err := readList(io.MultiReader(bytes.NewReader(data)), func(string) {}, func(object []byte) error {
			items += len(object)
			return nil
		})
		if items > len(data) {
			t.Errorf("%d bytes of objects came out of %d (%v)", items, len(data), err)
		}
	})
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
