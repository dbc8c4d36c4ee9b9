package gpu_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// TestDefaultWeightsAreDocumented compares the documented weights with those that count.
func TestDefaultWeightsAreDocumented(t *testing.T) {
	t.Parallel()
	weights := table(t)
	defaults := gpu.DefaultWeights()
	if len(defaults) == 0 {
		t.Fatal("no weight is documented")
	}
	for _, d := range defaults {
		if d.Resource == "" || d.Weight == "" || d.Note == "" || d.Source == "" {
			t.Errorf("%+v does not say everything", d)
		}
		name, _, _ := strings.Cut(d.Resource, " ")
		name = strings.NewReplacer("<g>", "1", "<m>", "5", "<mode>", "cpx", "<n>", "4").Replace(name)
		if strings.Contains(name, "/") && !weights.Counts(name) {
			t.Errorf("%s is documented, and %s is not counted", d.Resource, name)
		}
	}
}

func TestWhatMatters(t *testing.T) {
	t.Parallel()
	weights := table(t, "example.com/gpu=1/2", "amd.com/gpu=0")
	for name, want := range map[string]bool{
		"nvidia.com/gpu": true, "example.com/gpu": true, "nvidia.com/gpumem": true, "tke.cloud.tencent.com/qgpu-memory": true,
		"deviceclass.resource.kubernetes.io/gpu.nvidia.com": true, "amd.com/gpu": false, "cpu": false, "memory": false,
		"rdma/hca": false, "gpu.intel.com/xe_monitoring": false,
	} {
		if got := weights.Matters(name); got != want {
			t.Errorf("%s matters: %t, want %t", name, got, want)
		}
	}
	if !gpu.MattersAnnotation("gpu-fraction") || !gpu.MattersAnnotation("gpu-memory") || gpu.MattersAnnotation("gpupool/protected") {
		t.Error("other annotations matter than those of fractions")
	}
}

func TestMayHold(t *testing.T) {
	t.Parallel()
	weights := table(t)
	if weights.MayHold(pod(asks("cpu=1 memory=1Gi"))) {
		t.Error("a pod without GPUs may hold some")
	}
	byLimit := pod(asks(""))
	byLimit.Spec.Containers[0].Resources.Limits = list("nvidia.com/gpu=1")
	byInit := pod(asks("cpu=1"))
	byInit.Spec.InitContainers = append(byInit.Spec.InitContainers, asks("nvidia.com/gpu=1"))
	byFraction := pod(asks("cpu=1"))
	byFraction.Annotations = map[string]string{"gpu-fraction": "0.5"}
	byOverhead := pod(asks("cpu=1"))
	byOverhead.Spec.Overhead = list("nvidia.com/gpu=1")
	if !weights.MayHold(byLimit) || !weights.MayHold(byInit) || !weights.MayHold(byFraction) || !weights.MayHold(byOverhead) || !weights.MayHold(claiming()) {
		t.Error("a pod that asks for GPUs may hold none")
	}
}
