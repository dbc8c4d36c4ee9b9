package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// none requests a quantity of zero of n resources that do not exist, whose names the format makes of a
// number.
func none(container *corev1.Container, n int, format string) {
	limits := corev1.ResourceList{}
	for i := range n {
		limits[corev1.ResourceName(fmt.Sprintf(format, i))] = resource.MustParse("0")
	}
	container.Resources.Limits = limits
}

// another adds a container that asks for these resources.
func another(pod *corev1.Pod, init bool, n int, format string) *corev1.Container {
	list := &pod.Spec.Containers
	if init {
		list = &pod.Spec.InitContainers
	}
	*list = append(*list, corev1.Container{Name: fmt.Sprintf("c%v-%d", init, len(*list)), Image: pod.Spec.Containers[0].Image})
	c := &(*list)[len(*list)-1]
	none(c, n, format)
	return c
}

// one asks for one of a resource in a container of its own.
func one(pod *corev1.Pod, init bool, name corev1.ResourceName) {
	another(pod, init, 0, "").Resources.Limits = corev1.ResourceList{name: resource.MustParse("1")}
}

// long is a made-up name as long as names of resources can be.
var long = strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + "." + strings.Repeat("d",
	40) + ".example/" + strings.Repeat("e", 58) + "%05d"

// TestNoPodExhaustsAFreeze makes pods with GPUs so costly to look at that the API
// server might give up, and shows that none gets in.
func TestNoPodExhaustsAFreeze(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	policy(t, server)
	ns, free := server.Namespace(t), server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	freeze := budget.FreezeRule{Budget: "freeze-costly", BudgetUID: "a7a7a7a7-aaaa", Selector: budget.Selector{Namespaces: []string{ns}}}
	for i := range 40 { // so many that each name is compared with all of them
		freeze.Ignored = append(freeze.Ignored, fmt.Sprintf("ignored.example.com/resource-%d", i))
		freeze.Resources = append(freeze.Resources, fmt.Sprintf("counted.example.com/resource-%d", i))
	}
	const gpu, class = "nvidia.com/gpu", "deviceclass.resource.kubernetes.io/"
	filled := func(containers int, init bool, n int, format string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			for range containers {
				another(pod, init, n, format)
			}
		}
	}
	waiting := map[string]*corev1.Pod{}
	for name, format := range map[string]string{"made-up names": long, "slices": "nvidia.com/mig-0g.%dgb", "classes": class + "c%d"} {
		full := 62
		if format == long {
			full = 10 // an object can be only so large
		}
		waiting[name] = kubetest.Create(t, server, kubetest.Pod(ns, "", filled(full, false, 32, format), gated))
		waiting[name+" before a GPU"] = kubetest.Create(t, server,
			kubetest.Pod(ns, "", filled(full, false, 32, format), func(pod *corev1.Pod) { one(pod, true, gpu) }, gated))
	}
	if err := c.Freeze(t.Context(), freeze); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Unfreeze(context.Background(), freeze.BudgetUID) })
	refused(t, server, true, func() *corev1.Pod { return kubetest.Pod(ns, "", kubetest.GPUs(1)) })
	costly := map[string]func(pod *corev1.Pod){
		"300 names before it": func(pod *corev1.Pod) {
			none(&pod.Spec.Containers[0], 300, long)
			one(pod, false, gpu)
		},
		"5000 long names":                func(pod *corev1.Pod) { none(&pod.Spec.Containers[0], 5000, long); one(pod, false, gpu) },
		"as many names as are let pass":  func(pod *corev1.Pod) { none(&pod.Spec.Containers[0], 32, long); one(pod, false, gpu) },
		"63 containers of 32 long names": func(pod *corev1.Pod) { filled(62, false, 32, long)(pod); one(pod, true, gpu) },
		"900 containers":                 func(pod *corev1.Pod) { filled(900, false, 1, "made-up.example.com/r%d")(pod); one(pod, false, gpu) },
		"300 init containers":            func(pod *corev1.Pod) { filled(300, true, 3, "made-up.example.com/r%d")(pod); one(pod, false, gpu) },
		"slices of nothing before one of something": func(pod *corev1.Pod) {
			filled(62, false, 32, "nvidia.com/mig-0g.%dgb")(pod)
			one(pod, true, "nvidia.com/mig-1g.5gb")
		},
		"classes of no GPU before one of some": func(pod *corev1.Pod) { filled(62, false, 32, class+"c%d")(pod); one(pod, true, class+"big-gpu") },
	}
	for name, fill := range costly {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, namespace := range []string{ns, free} {
				pod := kubetest.Pod(namespace, "")
				fill(pod)
				_, err := server.Client().CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				switch {
				case namespace == free && err != nil:
					t.Errorf("where nothing is frozen: %v", err)
				case namespace == ns && !apierrors.IsForbidden(err):
					t.Errorf("got %v, want a refusal", err)
				case namespace == ns && !strings.Contains(err.Error(), "the budget freeze-costly are used up"):
					t.Errorf("refused, and does not say why: %.300s", err)
				}
			}
		})
	}
	t.Run("updates", func(t *testing.T) {
		t.Parallel()
		for name, pod := range waiting {
			if err := update(t.Context(), server, pod, ungated, kubetest.Labels(map[string]string{"more": "of-it"})); err != nil {
				t.Errorf("%s, let go: %.300s", name, err)
			}
			err := update(t.Context(), server, pod, kubetest.Annotation("gpu-fraction", "0.5"))
			switch asked := len(pod.Spec.InitContainers) > 0; {
			case asked && err != nil:
				t.Errorf("%s, with a fraction: %.300s", name, err)
			case !asked && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "the budget freeze-costly are used up")):
				t.Errorf("%s, with a fraction: got %.300v, want a refusal that says why", name, err)
			}
		}
	})
	t.Run("without a GPU", func(t *testing.T) {
		t.Parallel()
		for name, fill := range map[string]func(*corev1.Pod){
			"63 containers of 32 long names": filled(62, false, 32, long), "62 init containers": filled(62, true, 32, "made-up.example.com/r%d"),
			"slices of nothing": filled(62, false, 32, "nvidia.com/mig-0g.%dgb"), "classes of no GPU": filled(62, false, 32, class+"c%d"),
		} {
			pod := kubetest.Pod(ns, "")
			fill(pod)
			if _, err := server.Client().CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
				t.Errorf("%s: %.300s", name, err)
			}
		}
		pod := kubetest.Pod(ns, "")
		none(&pod.Spec.Containers[0], 33, "made-up.example.com/r%d")
		_, err := kubetest.TryCreate(t.Context(), server, pod)
		if err == nil || !strings.Contains(err.Error(), "more than 64 containers, or more than 32 resources in one of them") {
			t.Errorf("got %v, want the number of its resources to be refused", err)
		}
	})
}
