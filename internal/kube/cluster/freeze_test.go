package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// refused waits until the server refuses pods such as this one, or admits them.
func refused(t *testing.T, server *kubetest.Cluster, want bool, pod func() *corev1.Pod) string {
	t.Helper()
	var message string
	kubetest.WaitFor(t, fmt.Sprintf("refused to be %v", want), func(ctx context.Context) error {
		made, err := kubetest.TryCreate(ctx, server, pod())
		switch {
		case err == nil && want:
			_ = server.Client().CoreV1().Pods(made.Namespace).Delete(ctx, made.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
			return errors.New("it was admitted")
		case err == nil:
			return nil
		case !want || !apierrors.IsForbidden(err):
			return err
		}
		message = err.Error()
		return nil
	})
	return message
}

// policy puts the freeze policy and its slots in place, once for all tests of the
// cluster.
func policy(t *testing.T, server *kubetest.Cluster) {
	t.Helper()
	kubetest.Ensure(t, server, kubecluster.FreezePolicy())
	kubetest.Ensure(t, server, kubecluster.FreezeSlots(len(kubecluster.FreezeSlotNames()))...)
}

// limitAlone asks for a GPU without saying that it requests it.
func limitAlone(pod *corev1.Pod) {
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
}

func TestFreezeStopsTheSelectedPodsAndNobodyElses(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	policy(t, server)
	ns, other, spared := server.Namespace(t, "env=prod"), server.Namespace(t, "env=dev"), server.Namespace(t, "env=prod")
	c := connect(t, server.Kubeconfig())
	freeze := budget.FreezeRule{
		Budget: "freeze-selected", BudgetUID: "f1f2f3f4-aaaa", RecoversAt: time.Date(2026, 7, 16, 14, 35, 0, 0, time.UTC),
		ProtectedNamespaces: []string{spared}, Resources: []string{"example.com/tensor"},
		Selector: budget.Selector{
			Namespaces: []string{ns, other, spared}, NamespaceLabels: map[string]string{"env": "prod"},
			MatchLabels: map[string]string{"team": "a"}, MatchExpressions: []budget.Expression{{Key: "tier", Operator: "NotIn", Values: []string{"vip"}}},
		},
	}
	if err := c.Freeze(t.Context(), freeze); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Unfreeze(context.Background(), freeze.BudgetUID) })
	team := kubetest.Labels(map[string]string{"team": "a"})
	in := func(namespace string, options ...kubetest.PodOption) func() *corev1.Pod {
		return func() *corev1.Pod { return kubetest.Pod(namespace, "", options...) }
	}
	message := refused(t, server, true, in(ns, team, kubetest.GPUs(1)))
	if !strings.Contains(message, "the budget freeze-selected are used up") ||
		!strings.Contains(message, "below its limit again, by itself at about 2026-07-16T14:35:00Z if nothing more is used") {
		t.Errorf("the refusal names neither the budget nor its end: %s", message)
	}
	for name, pod := range map[string]func() *corev1.Pod{
		"limits alone":     in(ns, team, limitAlone),
		"init container":   in(ns, team, kubetest.InitContainer("i", "nvidia.com/gpu", "1", time.Second)),
		"sidecar":          in(ns, team, kubetest.Sidecar("s", "nvidia.com/gpu", "1")),
		"MIG":              in(ns, team, kubetest.Resource("nvidia.com/mig-1g.5gb", "1")),
		"AMD":              in(ns, team, kubetest.Resource("amd.com/cpx_nps4", "1")),
		"qGPU":             in(ns, team, kubetest.Resource("tke.cloud.tencent.com/qgpu-core", "20")),
		"claim":            in(ns, team, kubetest.ClaimTemplate("any")),
		"fraction":         in(ns, team, kubetest.Annotation("gpu-fraction", "0.5")),
		"counted by rules": in(ns, team, kubetest.Resource("example.com/tensor", "1")),
	} {
		if _, err := kubetest.TryCreate(t.Context(), server, pod()); err == nil || !strings.Contains(err.Error(), "freeze-selected") {
			t.Errorf("%s: admitted (%v)", name, err)
		}
	}
	for name, pod := range map[string]func() *corev1.Pod{
		"no GPU":              in(ns, team),
		"no GPUs, said so":    in(ns, team, kubetest.Resource("nvidia.com/gpu", "0")),
		"another team":        in(ns, kubetest.Labels(map[string]string{"team": "b"}), kubetest.GPUs(1)),
		"another tier":        in(ns, team, kubetest.Labels(map[string]string{"tier": "vip"}), kubetest.GPUs(1)),
		"another environment": in(other, team, kubetest.GPUs(1)),
		"protected namespace": in(spared, team, kubetest.GPUs(1)),
		"protected pod":       in(ns, team, kubetest.GPUs(1), kubetest.Annotation(budget.ProtectedKey, "true")),
		"labeled protected":   in(ns, team, kubetest.GPUs(1), kubetest.Labels(map[string]string{budget.ProtectedKey: "true"})),
		"a network card":      in(ns, team, kubetest.Resource("rdma.example.com/hca", "1")),
	} {
		if _, err := kubetest.TryCreate(t.Context(), server, pod()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFreezeOfABudgetThatPodsCantEscape has a freeze begin to ignore what is
// written on pods; what is written on their namespace still spares them.
func TestFreezeOfABudgetThatPodsCantEscape(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	policy(t, server)
	ns, spared := server.Namespace(t), server.Namespace(t, budget.ProtectedKey+"=true")
	c := connect(t, server.Kubeconfig())
	freeze := budget.FreezeRule{Budget: "freeze-all", BudgetUID: "a1a2a3a4-aaaa", Selector: budget.Selector{Namespaces: []string{ns, spared}}}
	t.Cleanup(func() { _ = c.Unfreeze(context.Background(), freeze.BudgetUID) })
	pod := func(namespace string) func() *corev1.Pod {
		return func() *corev1.Pod {
			return kubetest.Pod(namespace, "", kubetest.GPUs(1), kubetest.Annotation(budget.ProtectedKey, "true"),
				kubetest.Labels(map[string]string{budget.ProtectedKey: "true"}))
		}
	}
	for _, freeze.IgnorePodProtection = range []bool{false, true, false} {
		if err := c.Freeze(t.Context(), freeze); err != nil {
			t.Fatal(err)
		}
		refused(t, server, true, func() *corev1.Pod { return kubetest.Pod(ns, "", kubetest.GPUs(1)) })
		refused(t, server, freeze.IgnorePodProtection, pod(ns))
	}
	if _, err := kubetest.TryCreate(t.Context(), server, pod(spared)()); err != nil {
		t.Errorf("in a protected namespace: %v", err)
	}
}

// TestFreezeAdmitsWhatItsBudgetDoesNotCount freezes a budget that weighs resources
// with zero.
func TestFreezeAdmitsWhatItsBudgetDoesNotCount(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	policy(t, server)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	const slice = "nvidia.com/mig-1g.5gb"
	freeze := budget.FreezeRule{
		Budget: "freeze-ignores", BudgetUID: "e1e2e3e4-aaaa", Selector: budget.Selector{Namespaces: []string{ns}},
		Ignored: append(gpu.Drivers(), slice, "gpu-fraction"),
	}
	pod := func(options ...kubetest.PodOption) func() *corev1.Pod {
		return func() *corev1.Pod { return kubetest.Pod(ns, "", options...) }
	}
	frozen := func() {
		t.Helper()
		if err := c.Freeze(t.Context(), freeze); err != nil {
			t.Fatal(err)
		}
	}
	frozen()
	t.Cleanup(func() { _ = c.Unfreeze(context.Background(), freeze.BudgetUID) })
	refused(t, server, true, pod(kubetest.GPUs(1)))
	ignored := map[string]func() *corev1.Pod{
		"a slice": pod(kubetest.Resource(slice, "1")), "a claim": pod(kubetest.ClaimTemplate("any")),
		"a fraction":     pod(kubetest.Annotation("gpu-fraction", "0.5")),
		"a device class": pod(kubetest.Resource("deviceclass.resource.kubernetes.io/gpu.example.com", "1")),
	}
	for name, pod := range ignored {
		if _, err := kubetest.TryCreate(t.Context(), server, pod()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := kubetest.TryCreate(t.Context(), server, pod(kubetest.Resource("aliyun.com/gpu-mem", "4"))()); err != nil {
		t.Errorf("what counts for no budget that does not weigh it: %v", err)
	}
	freeze.Resources = []string{"dra.example.com"} // a driver whose devices it counts
	frozen()
	refused(t, server, true, ignored["a claim"])
	freeze.Resources, freeze.Ignored = nil, nil
	frozen()
	for _, pod := range ignored {
		refused(t, server, true, pod)
	}
}

func TestFreezeIsListedChangedAndLifted(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	policy(t, server)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	freeze := budget.FreezeRule{Budget: "freeze-lifted", BudgetUID: "c1c2c3c4-bbbb", Selector: budget.Selector{Namespaces: []string{ns}}}
	pod := func() *corev1.Pod { return kubetest.Pod(ns, "", kubetest.GPUs(1)) }
	if err := c.Freeze(t.Context(), freeze); err != nil {
		t.Fatal(err)
	}
	before := c.Calls()["update validatingadmissionpolicybindings"]
	if err := c.Freeze(t.Context(), freeze); err != nil {
		t.Fatal(err)
	}
	if n := c.Calls()["update validatingadmissionpolicybindings"] - before; n != 0 {
		t.Errorf("freezing again wrote %d times, want never", n)
	}
	refused(t, server, true, pod)
	freeze.Selector.MatchLabels = map[string]string{"team": "a"}
	if err := c.Freeze(t.Context(), freeze); err != nil {
		t.Fatal(err)
	}
	refused(t, server, false, pod)
	found := false
	all, _, err := c.Freezes(t.Context())
	for _, f := range all {
		found = found || f.Budget == freeze.Budget && f.BudgetUID == freeze.BudgetUID && f.Selector.MatchLabels["team"] == "a"
	}
	if err != nil || !found {
		t.Errorf("got %+v (%v)", all, err)
	}
	freeze.Selector.MatchLabels = nil
	if err := c.Freeze(t.Context(), freeze); err != nil {
		t.Fatal(err)
	}
	refused(t, server, true, pod)
	for range 2 { // lifting what is not in force is no error
		if err := c.Unfreeze(t.Context(), freeze.BudgetUID); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, server, false, pod)
	kubetest.WaitFor(t, "the writer of a slot", func(ctx context.Context) error {
		slots := server.Client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
		slot, err := slots.Get(ctx, kubecluster.FreezeSlotNames()[0], metav1.GetOptions{})
		if err != nil {
			return err
		}
		slot.Annotations = map[string]string{"written-at": time.Now().String()}
		if _, err := slots.Update(ctx, slot, metav1.UpdateOptions{FieldManager: "kubectl-replace"}); err != nil {
			return err
		}
		if _, last, err := c.Freezes(ctx); err != nil || last.Manager != "kubectl-replace" {
			return fmt.Errorf("it is %+v (%w)", last, err)
		}
		return nil
	})
}

func TestFreezeWithoutItsPolicySaysWhatToApply(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t)
	c := connect(t, server.Kubeconfig())
	freeze := budget.FreezeRule{Budget: "b", BudgetUID: "d1d2d3d4", Selector: budget.Selector{Namespaces: []string{"x"}}}
	var missing *kubecluster.MissingPolicyError
	err := c.Freeze(t.Context(), freeze)
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "gpupool manifests") {
		t.Errorf("got %v, want the policy to be missing", err)
	}
	old := kubecluster.FreezePolicy()
	old.Annotations = nil
	kubetest.Create(t, server, old)
	if err := c.Freeze(t.Context(), freeze); !errors.As(err, &missing) {
		t.Errorf("got %v, want the policy to be of another revision", err)
	}
}
