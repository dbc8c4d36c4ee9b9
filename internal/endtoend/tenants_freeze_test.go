package endtoend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// aside puts what was asked for so far into a second container, behind a first
// one with these options.
func aside(options ...kubetest.PodOption) kubetest.PodOption {
	return func(pod *corev1.Pod) {
		second := pod.Spec.Containers[0]
		second.Name = "second"
		first := kubetest.Pod("", "", options...).Spec.Containers[0]
		pod.Spec.Containers = []corev1.Container{first, second}
	}
}

// absurd requests zero of many unknown resources.
func absurd(count int, form string) kubetest.PodOption {
	return func(pod *corev1.Pod) {
		for n := range count {
			kubetest.Resource(corev1.ResourceName(fmt.Sprintf(form, n)), "0")(pod)
		}
	}
}

// longName is a resource's name as long as one can be.
var longName = strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + "." + strings.Repeat("d",
	40) + ".example/" + strings.Repeat("e", 58) + "%05d"

// TestFreezeBlocksAllGPUPods: a tenant whose budget is frozen creates pods with GPUs in forms
// that a policy could miss.
func TestFreezeBlocksAllGPUPods(t *testing.T) {
	t.Parallel()
	s := newTenancy(t, 8)
	s.declareOwn(`{"gpu_hours":"0.001","enforcement":{"action":"freeze"}}`)
	s.create(s.editor, "user", kubetest.GPUs(4), s.onNode(1))
	s.turnUntil("a freeze", s.exceeded("own"))
	gpu := kubetest.GPUs(1)
	for _, user := range []kubernetes.Interface{s.editor, s.creator} {
		kubetest.WaitFor(t, "the freeze to be in force", func(ctx context.Context) error {
			if admitted, err := s.tryPod(ctx, user, gpu); admitted || err != nil {
				return errors.Join(errors.New("a pod with a GPU is let in"), err)
			}
			return nil
		})
		for name, options := range map[string][]kubetest.PodOption{
			"300 resources first":         {gpu, aside(absurd(300, "example.com/gpu-%03d"))},
			"3000 resources first":        {gpu, aside(absurd(3000, "example.com/%04d"))},
			"300 in the same container":   {absurd(300, "a.example.com/gpu-%03d"), gpu},
			"names that look like GPUs":   {gpu, aside(absurd(200, "nvidia.com/mig-%dg.5gb.shared"))},
			"names of classes":            {gpu, aside(absurd(200, "deviceclass.resource.kubernetes.io/gpu-%03d"))},
			"300 long names first":        {gpu, aside(absurd(300, longName))},
			"2000 long names first":       {gpu, aside(absurd(2000, longName))},
			"long names beside it":        {absurd(300, longName), gpu},
			"an init container":           {kubetest.InitContainer("first", "nvidia.com/gpu", "1", 0), aside(absurd(300, "example.com/gpu-%03d"))},
			"a node of one's own":         {gpu, s.onNode(1)},
			"another unit":                {kubetest.Resource("nvidia.com/gpu", "1k"), aside(absurd(1, "example.com/gpu-%03d"))},
			"a count beyond all counting": {kubetest.Resource("nvidia.com/gpu", "9223372036854775807")},
			"a slice":                     {kubetest.Resource("nvidia.com/mig-1g.5gb", "1"), aside(absurd(300, "example.com/gpu-%03d"))},
			"a fraction":                  {kubetest.Annotation("gpu-fraction", "0.5"), absurd(300, "example.com/gpu-%03d")},
			"a claim":                     {kubetest.ClaimTemplate("none"), absurd(300, "example.com/gpu-%03d")},
		} {
			if admitted, err := s.tryPod(t.Context(), user, options...); admitted || err != nil {
				t.Errorf("%s: let in %t, %v", name, admitted, err)
			}
		}
		if admitted, err := s.tryPod(t.Context(), user, kubetest.Resource(corev1.ResourceCPU, "1")); !admitted {
			t.Errorf("a pod without GPUs is kept out: %v", err)
		}
	}
	// Freezes are not a tenant's.
	freezes := s.editor.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	if _, err := freezes.List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a tenant lists freezes: %v", err)
	}
	r := s.turn()
	s.wantUsage(r, "own", s.ofTenant)
}

// TestNoPodSlipsPastAFreezeAfterwards: a tenant creates pods without requests, and adds GPUs
// after admission. Pods that waited before the freeze continue.
func TestNoPodSlipsPastAFreezeAfterwards(t *testing.T) {
	t.Parallel()
	s := newTenancy(t, 8)
	half, group := kubetest.Annotation("gpu-fraction", "0.5"), s.namespace+"-group"
	gated := func(pod *corev1.Pod) {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/mine"}}
	}
	node := kubetest.OnNode(s.nodes[1].Name)
	s.server.Reserve(t, s.nodes[1].Name, group)
	s.declareOwn(`{"gpu_hours":"0.001","enforcement":{"action":"freeze"}}`)
	s.create(s.editor, "waits", kubetest.GPUs(1), node, gated)
	s.create(s.editor, "user", kubetest.GPUs(4), s.onNode(0))
	s.turnUntil("a freeze", s.exceeded("own"))
	kubetest.WaitFor(t, "the freeze to be in force", func(ctx context.Context) error {
		if admitted, err := s.tryPod(ctx, s.editor, half); admitted || err != nil {
			return errors.Join(errors.New("a pod with a fraction is let in"), err)
		}
		return nil
	})
	s.create(s.editor, "slip", kubetest.Group(group), node, gated)
	patch := func(name, change string) error {
		_, err := s.editor.CoreV1().Pods(s.namespace).Patch(t.Context(), name, types.MergePatchType, []byte(change), metav1.PatchOptions{})
		return err
	}
	for _, change := range []string{
		`{"metadata":{"annotations":{"gpu-fraction":"0.5"}}}`,
		`{"metadata":{"annotations":{"gpu-memory":"4000","gpu-fraction-num-devices":"2"}},"spec":{"schedulingGates":null}}`,
	} {
		if err := patch("slip", change); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "the budget own are used up") {
			t.Errorf("%s: got %v, want a refusal by the freeze", change, err)
		}
	}
	for _, name := range []string{"slip", "waits"} {
		if err := patch(name, `{"metadata":{"labels":{"queue":"mine"}},"spec":{"schedulingGates":null}}`); err != nil {
			t.Errorf("letting %s go: %v", name, err)
		}
		s.server.WaitRunning(t, s.pod(name))
	}
	s.wantUsage(s.turn(), "own", s.ofTenant)
}

// tryPod asks whether the API server takes a tenant's pod; nothing is created.
func (s *tenancy) tryPod(ctx context.Context, as kubernetes.Interface, options ...kubetest.PodOption) (bool, error) {
	_, err := as.CoreV1().Pods(s.namespace).Create(ctx, kubetest.Pod(s.namespace, "", options...), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil && (apierrors.IsForbidden(err) || apierrors.IsInvalid(err)) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
		return false, nil
	}
	return err == nil, err
}
