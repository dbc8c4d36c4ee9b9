package cluster_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// TestAPodThatIsBornBoundIsToldWithTheLabelsOfItsBirth has the labels of a pod changed
// before the observation that first has it, whether that lists or not.
func TestAPodThatIsBornBoundIsToldWithTheLabelsOfItsBirth(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	before := observe(t, c, gpu.ObserveOptions{})
	kubetest.Create(t, server, kubetest.Pod(ns, "train", kubetest.GPUs(1), kubetest.BoundTo("nowhere"), kubetest.Labels(map[string]string{"team": "a"})))
	moved := []byte(`{"metadata": {"labels": {"team": "b"}}}`)
	if _, err := server.Client().CoreV1().Pods(ns).Patch(t.Context(), "train", types.MergePatchType, moved, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, list := range []bool{false, true} {
		after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion, List: list})
		if pods := in(ns, after.Pods); after.Listed != list || len(pods) != 1 || pods[0].Labels["team"] != "a" {
			t.Errorf("listed %v: got %+v, want the pod with the label team=a", after.Listed, pods)
		}
	}
}

// TestObservedPodsHaveTheLabelsOfTheirBinding has pods labeled while they wait behind a gate, by the binding
// itself, and after it. It does not matter whether an observation lists, or whether the pods still exist.
func TestObservedPodsHaveTheLabelsOfTheirBinding(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("bound-with", 8, func(n *corev1.Node) { n.Labels["topology.kubernetes.io/zone"] = "z1" }))
	c := connect(t, server.Kubeconfig())
	before := observe(t, c, gpu.ObserveOptions{})
	patch := func(name, text string) {
		t.Helper()
		if _, err := server.Client().CoreV1().Pods(ns).Patch(t.Context(), name, types.MergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"goes", "stays"} {
		gated := kubetest.Pod(ns, name, kubetest.GPUs(1), kubetest.OnNode(node.Name), kubetest.Labels(map[string]string{"team": "other"}))
		gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
		pod := kubetest.Create(t, server, gated)
		patch(name, `{"metadata": {"labels": {"team": "a"}}}`)
		patch(name, `{"spec": {"schedulingGates": null}}`)
		server.WaitRunning(t, pod)
		patch(name, `{"metadata": {"labels": {"team": "b", "topology.kubernetes.io/zone": "z2"}}}`)
		if name == "goes" {
			remove(t, server, pod)
		}
	}
	for _, list := range []bool{false, true} {
		after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion, List: list})
		seen := in(ns, slices.Concat(after.Pods, after.Replay.Ended))
		if len(seen) != 2 {
			t.Fatalf("listed %v: %d pods, want 2", list, len(seen))
		}
		for _, p := range seen {
			if p.Labels["team"] != "a" || p.Labels["topology.kubernetes.io/zone"] != "z1" {
				t.Errorf("listed %v: %s has the labels %v, want those that it was bound with", list, p.Name, p.Labels)
			}
		}
	}
}
