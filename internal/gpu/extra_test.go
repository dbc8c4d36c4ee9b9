package gpu_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// looked returns one pod as observed with and without extra resources.
func looked(t *testing.T, p *corev1.Pod, w gpu.World, extra ...string) (without, with gpu.Pod) {
	t.Helper()
	more, err := gpu.Rules{Extra: extra}.Table()
	if err != nil {
		t.Fatal(err)
	}
	return table(t).Observe(p, w), more.Observe(p, w)
}

func unitsOf(s gpu.Pod, resource string) string {
	for _, share := range s.Shares {
		if share.Resource == resource {
			return share.Units.RatString()
		}
	}
	return ""
}

// TestExtraResourcesChangeNoWeight has one budget weigh extra resources. All other budgets must
// count the same.
func TestExtraResourcesChangeNoWeight(t *testing.T) {
	t.Parallel()
	card := map[string]string{"nvidia.com/gpu.memory": "16384"}
	fraction := pod(asks("cpu=1 example.com/npu=2"))
	fraction.Annotations, fraction.Labels = map[string]string{"gpu-fraction": "0.5"}, map[string]string{"runai-gpu-group": "g"}
	mapped := pod(asks("example.com/gpu=1"))
	mapped.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{
		ResourceClaimName: "claim-1",
		RequestMappings:   []corev1.ContainerExtendedResourceRequest{{ContainerName: "main", ResourceName: "example.com/gpu", RequestName: "r"}},
	}
	all := []string{
		"gpu.nvidia.com", "dra.net", "gpu-fraction", "tke.cloud.tencent.com/qgpu-memory", "nvidia.com/gpumem", "nvidia.com/gpucores",
		"nvidia.com/gpu", "example.com/npu", "example.com/gpu", "cpu",
	}
	for name, test := range map[string]struct {
		pod      *corev1.Pod
		world    gpu.World
		gpus     string
		resource string // the reported resource, and its units
		units    string
	}{
		"a DRA device":       {claiming(), withClaims(slices(), claim([]string{"uid-1"}, allocated("r", nvidiaDriver, "gpu-1"))), "1", nvidiaDriver, "1"},
		"a device of no GPU": {claiming(), withClaims(slices(), claim([]string{"uid-1"}, allocated("r", "dra.net", "eth1"))), "0", "dra.net", "1"},
		"cores below memory": {
			pod(asks("tke.cloud.tencent.com/qgpu-core=20 tke.cloud.tencent.com/qgpu-memory=8")), world(card), "1/2", "tke.cloud.tencent.com/qgpu-memory", "8",
		},
		"memory alone":          {pod(asks("tke.cloud.tencent.com/qgpu-memory=8")), world(card), "1/2", "tke.cloud.tencent.com/qgpu-memory", "8"},
		"parts of cards":        {pod(asks("nvidia.com/gpu=2 nvidia.com/gpucores=10 nvidia.com/gpumem=8192")), world(card), "1", "nvidia.com/gpumem", "8192"},
		"a GPU":                 {pod(asks("nvidia.com/gpu=2")), world(nil), "2", "nvidia.com/gpu", "2"},
		"no GPU":                {pod(asks("example.com/npu=4")), world(nil), "0", "example.com/npu", "4"},
		"very many units":       {pod(asks("example.com/npu=16384")), world(nil), "0", "example.com/npu", "16384"},
		"a fraction":            {fraction, world(nil), "1/2", "gpu-fraction", "1/2"},
		"a device by a request": {mapped, withClaims(slices(), claim([]string{"uid-1"}, allocated("r", nvidiaDriver, "gpu-1"))), "1", nvidiaDriver, "1"},
	} {
		without, with := looked(t, test.pod, test.world, all...)
		if gpus(without) != test.gpus || gpus(with) != test.gpus {
			t.Errorf("%s: %s GPUs, and with extra resources %s; want %s", name, gpus(without), gpus(with), test.gpus)
		}
		if got := unitsOf(with, test.resource); got != test.units {
			t.Errorf("%s: %q units of %s, want %s", name, got, test.resource, test.units)
		}
		undoubted(t, with)
	}
	if _, with := looked(t, mapped, withClaims(slices(), claim([]string{"uid-1"}, allocated("r", nvidiaDriver, "gpu-1"))), all...); unitsOf(with,
		"example.com/gpu") != "" {
		t.Error("a request is reported in addition to its device")
	}
	nothing := withClaims(slices(), &resourcev1.ResourceClaim{})
	if _, with := looked(t, mapped, nothing, all...); unitsOf(with, "example.com/gpu") != "1" {
		t.Error("a request with an unknown device is not reported")
	}
	if _, err := (gpu.Rules{Extra: []string{"no name"}}).Table(); err == nil {
		t.Error("what is no resource's name is extra")
	}
}
