package gpu_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

func TestAFractionIsOfAReservedGPU(t *testing.T) {
	t.Parallel()
	reservation := pod(asks("nvidia.com/gpu=1"))
	reservation.Namespace, reservation.Labels = "kai-resource-reservation", map[string]string{"runai-gpu-group": "group-1"}
	on, group, ok := gpu.ReservationOf(reservation)
	if !ok || on != "node-1" || group != "group-1" {
		t.Fatalf("it reserves for %q on %q: %v", group, on, ok)
	}
	for name, change := range map[string]func(*corev1.Pod){
		"of a tenant's own":           func(p *corev1.Pod) { p.Namespace = "ml" },
		"that no kubelet took":        func(p *corev1.Pod) { p.Status.StartTime = nil },
		"that its kubelet refused":    func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "OutOfnvidia.com/gpu" },
		"that is for no group":        func(p *corev1.Pod) { p.Labels = nil },
		"that is bound to no node":    func(p *corev1.Pod) { p.Spec.NodeName = "" },
		"in a namespace called alike": func(p *corev1.Pod) { p.Namespace = "kai-resource-reservation-x" },
	} {
		p := reservation.DeepCopy()
		change(p)
		if _, _, ok := gpu.ReservationOf(p); ok {
			t.Errorf("a reservation %s counts", name)
		}
	}

	w := having("cpu=8 nvidia.com/gpu=2")
	w.Reserved = func(node, group string) bool { return node == on && (group == "group-1" || group == "group-2") }
	type texts = map[string]string
	for name, test := range map[string]struct {
		labels, annotations texts
		want                string
	}{
		"a fraction": {texts{"runai-gpu-group": "group-1"}, texts{"gpu-fraction": "0.5"}, "1/2"},
		"of two GPUs": {
			texts{"runai-gpu-group/group-1": "group-1", "runai-gpu-group/group-2": "group-2"}, texts{"gpu-fraction": "0.5", "gpu-fraction-num-devices": "2"},
			"1",
		},
		"of one that is not reserved": {texts{"runai-gpu-group": "mine"}, texts{"gpu-fraction": "1", "gpu-fraction-num-devices": "999"}, "0"},
		"without a group":             {nil, texts{"gpu-fraction": "1", "gpu-fraction-num-devices": "999"}, "0"},
		"of many, and one reserved":   {texts{"runai-gpu-group": "group-1"}, texts{"gpu-fraction": "1", "gpu-fraction-num-devices": "999"}, "1"},
		"one named twice": {
			texts{"runai-gpu-group/a": "group-1", "runai-gpu-group/b": "group-1"}, texts{"gpu-fraction": "1", "gpu-fraction-num-devices": "2"}, "1",
		},
		"of memory": {nil, texts{"gpu-memory": "8192"}, "0"},
	} {
		p := pod(asks("cpu=1"))
		p.Labels, p.Annotations = test.labels, test.annotations
		s := table(t).Observe(p, w)
		if got := gpus(s); got != test.want {
			t.Errorf("%s: it holds %s GPUs, want %s", name, got, test.want)
		}
		if test.want != "0" && s.Shown == 0 {
			t.Errorf("%s: it is an estimate", name)
		}
	}
	p := pod(asks("cpu=1"))
	p.Annotations = texts{"gpu-fraction": "1", "gpu-fraction-num-devices": "999"}
	doubted(t, table(t).Observe(p, w), "by annotation")
	// A node without GPUs has no fractions, whatever is reserved.
	p.Labels = texts{"runai-gpu-group": "group-1"}
	none := having("cpu=8")
	none.Reserved = w.Reserved
	if s := table(t).Observe(p, none); gpus(s) != "0" {
		t.Errorf("on a node without GPUs it holds %s", gpus(s))
	}
	// If no reservations were read, the pod's own annotations count, as an estimate.
	if s := table(t).Observe(p, having("nvidia.com/gpu=1000")); s.Shown != 0 || gpus(s) != "999" {
		t.Errorf("it holds %s GPUs, shown by %d", gpus(s), s.Shown)
	}
}

// TestAFractionNamesTheGPUThatItIsOf, so that all pods that copy a group's label have one GPU
// together.
func TestAFractionNamesTheGPUThatItIsOf(t *testing.T) {
	t.Parallel()
	type texts = map[string]string
	two := texts{"runai-gpu-group/b": "group-2", "runai-gpu-group/a": "group-1"}
	w := having("cpu=8 nvidia.com/gpu=2")
	w.Reserved = func(_, group string) bool { return group == "group-1" || group == "group-2" }
	unread, small := having("cpu=8 nvidia.com/gpu=2"), having("cpu=8 nvidia.com/gpu=1")
	small.Reserved = w.Reserved
	for name, test := range map[string]struct {
		world               gpu.World
		labels, annotations texts
		want                []string
	}{
		"one": {w, texts{"runai-gpu-group": "group-1"}, texts{"gpu-fraction": "0.25"}, []string{"1/4 of 1 node-1/group-1"}},
		"two": {
			w, two, texts{"gpu-fraction": "0.25", "gpu-fraction-num-devices": "2"}, []string{"1/4 of 1 node-1/group-1", "1/4 of 1 node-1/group-2"},
		},
		"more named than wanted": {w, two, texts{"gpu-fraction": "0.25"}, []string{"1/4 of 1 node-1/group-1"}},
		"fewer GPUs than named": {
			small, two, texts{"gpu-fraction": "1", "gpu-fraction-num-devices": "2"}, []string{"1/2 of 1 node-1/group-1", "1/2 of 1 node-1/group-2"},
		},
		"nothing is known": {unread, two, texts{"gpu-fraction": "0.25", "gpu-fraction-num-devices": "2"}, []string{"1/2 of <nil> "}},
	} {
		p := pod(asks("cpu=1"))
		p.Labels, p.Annotations = test.labels, test.annotations
		var got []string
		for _, s := range table(t).Observe(p, test.world).Shares {
			got = append(got, fmt.Sprintf("%s of %s %s", s.Units.RatString(), text(s.Whole), s.Claim))
		}
		if !cmp.Equal(got, test.want) {
			t.Errorf("%s: it holds %q, want %q", name, got, test.want)
		}
	}
}
