package gpu_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// BenchmarkSee measures a pod with GPUs, and BenchmarkMayHold one without.
func BenchmarkSee(b *testing.B) {
	weights, w := table(b), world(map[string]string{"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.memory": "15360"})
	p := pod(asks("cpu=4 memory=16Gi nvidia.com/gpu=1"))
	p.Status.ContainerStatuses = with(running(at(2)))
	b.ReportAllocs()
	for b.Loop() {
		weights.Observe(p, w)
	}
}

func BenchmarkMayHold(b *testing.B) {
	weights := table(b)
	p := pod(asks("cpu=4 memory=16Gi"), asks("cpu=1 memory=1Gi"))
	p.Annotations = map[string]string{"kubernetes.io/config.seen": "x", "prometheus.io/scrape": "true"}
	p.Spec.InitContainers = []corev1.Container{asks("cpu=1")}
	b.ReportAllocs()
	for b.Loop() {
		weights.MayHold(p)
	}
}
