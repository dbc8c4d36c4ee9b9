package gpu_test

import (
	"fmt"
	"math/big"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
	"pgregory.net/rapid"
)

// TestRequestsAreTheSchedulers compares with what Kubernetes itself computes.
func TestRequestsAreTheSchedulers(t *testing.T) {
	t.Parallel()
	weights := table(t, "cpu=1", "nvidia.com/gpu=1", "amd.com/gpu=1")
	container := rapid.Custom(func(r *rapid.T) corev1.Container {
		var text string
		for _, name := range []string{"cpu", "nvidia.com/gpu", "amd.com/gpu"} {
			if n := rapid.IntRange(-1, 9).Draw(r, name); n >= 0 {
				text += fmt.Sprintf("%s=%d ", name, n)
			}
		}
		if rapid.Bool().Draw(r, "sidecar") {
			return sidecar(text)
		}
		return asks(text)
	})
	rapid.Check(t, func(r *rapid.T) {
		p := pod()
		for _, c := range rapid.SliceOfN(container, 0, 4).Draw(r, "containers") {
			c.RestartPolicy = nil
			p.Spec.Containers = append(p.Spec.Containers, c)
		}
		p.Spec.InitContainers = rapid.SliceOfN(container, 0, 5).Draw(r, "init containers")
		if rapid.Bool().Draw(r, "overhead") {
			p.Spec.Overhead = list("cpu=250m nvidia.com/gpu=1")
		}
		if rapid.Bool().Draw(r, "pod-level") {
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: list("cpu=7")}
		}
		want := helpers.PodRequests(p, helpers.PodResourcesOptions{})
		got := map[string]*big.Rat{}
		for _, share := range weights.Observe(p, world(nil)).Shares {
			got[share.Resource] = new(big.Rat).Mul(share.Units, share.Weight)
		}
		for _, name := range []string{"cpu", "nvidia.com/gpu", "amd.com/gpu"} {
			official := want[corev1.ResourceName(name)]
			own := got[name]
			if own == nil {
				own = new(big.Rat)
			}
			if own.Cmp(big.NewRat(official.MilliValue(), 1000)) != 0 {
				r.Fatalf("%s: %s here, %s by Kubernetes", name, own.RatString(), official.String())
			}
		}
	})
}

// TestQuantitiesAreExact checks the conversion of every form of a quantity.
func TestQuantitiesAreExact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1": "1", "100m": "1/10", "2k": "2000", "1Ki": "1024", "0.5": "1/2", "1e3": "1000", "3e-3": "3/1000", "1n": "1/1000000000",
	} {
		p := pod(corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"x.io/y": resource.MustParse(text)}}})
		if got := gpus(table(t, "x.io/y=1").Observe(p, world(nil))); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
