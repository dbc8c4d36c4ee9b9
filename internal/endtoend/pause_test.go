package endtoend

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

func owned(by metav1.OwnerReference) kubetest.PodOption {
	return func(pod *corev1.Pod) {
		by.Controller = new(true)
		pod.OwnerReferences = []metav1.OwnerReference{by}
	}
}

func (r *rig) replicas(name string) int32 {
	r.t.Helper()
	d, err := r.server.Client().AppsV1().Deployments(r.namespace).Get(r.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return *d.Spec.Replicas
}

// TestForgedOwnerIsNotPaused has pods that name Deployments as their owners,
// which own no pods but by ReplicaSets, one without and one with GPUs.
func TestForgedOwnerIsNotPaused(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Pause))
	r.ineffective = true
	create := func(d *appsv1.Deployment) *appsv1.Deployment { return kubetest.Create(t, r.server, d) }
	api, other := create(kubetest.Deployment(r.namespace, "prod-api", 1)), create(kubetest.Deployment(r.namespace, "other-gpus", 1, kubetest.GPUs(1)))
	r.waitForPods(2)
	ref := func(d *appsv1.Deployment) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: d.Name, UID: d.UID}
	}
	r.start("direct", owned(ref(api)))
	r.start("direct-gpus", owned(ref(other)))
	told := func(report reconcile.Report) bool {
		effects := fmt.Sprint(report.Budgets[0].Effects)
		return strings.Contains(effects, "/direct: ") && strings.Contains(effects, "/direct-gpus: ")
	}
	report := r.runUntil("a report of forged owners", told)
	for _, d := range decided(report) {
		if strings.Contains(d, "suspend") {
			t.Errorf("decisions %v", decided(report))
		}
	}
	if n, m := r.replicas("prod-api"), r.replicas("other-gpus"); n != 1 || m != 1 {
		t.Errorf("they have %d and %d replicas", n, m)
	}
}

// TestLabelExemptsNoWorkload has a Deployment that is labeled as if it were paused.
func TestLabelExemptsNoWorkload(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Pause))
	d := kubetest.Deployment(r.namespace, "train", 1, team, kubetest.GPUs(1))
	d.Labels = map[string]string{"gpupool/paused-by": "absent"}
	kubetest.Create(t, r.server, d)
	r.waitForPods(1)
	r.runUntil("a pause", has("done suspend Deployment"))
	r.waitForPods(0)
}

// TestTwoBudgetsHoldAWorkload has one of two budgets let go of what both paused,
// and then the other one.
func TestTwoBudgetsHoldAWorkload(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Pause))
	second := r.budget
	second.Name, second.UID = "all", ""
	second.Selector = budget.Selector{Namespaces: []string{r.namespace}}
	state, err := r.process().Budgets().Create(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	second = state.Declaration
	kubetest.Create(t, r.server, kubetest.Deployment(r.namespace, "serve", 2, team, kubetest.GPUs(1)))
	r.waitForPods(2)
	r.runUntil("a pause", has("done suspend Deployment"))
	r.waitForPods(0)
	raise := func(d budget.Declaration) {
		t.Helper()
		d.GPUHours = "1000"
		if _, err := r.process().Budgets().Update(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	raise(r.budget)
	r.run(reconcile.RunOptions{})
	if n := r.replicas("serve"); n != 0 {
		t.Errorf("the other budget is exceeded still, and it has %d replicas", n)
	}
	raise(second)
	r.runUntil("a resumption", has("done resume Deployment"))
	r.waitForPods(2)
}

// TestScaledUpWorkloadIsReported has a person scale up what was paused.
func TestScaledUpWorkloadIsReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Pause))
	kubetest.Create(t, r.server, kubetest.Deployment(r.namespace, "serve", 1, team, kubetest.GPUs(1)))
	r.waitForPods(1)
	r.runUntil("a pause", has("done suspend Deployment"))
	r.waitForPods(0)
	kubetest.WaitFor(t, "the Deployment to be scaled", func(ctx context.Context) error { // its controller writes, too
		deployments := r.server.Client().AppsV1().Deployments(r.namespace)
		scale, err := deployments.GetScale(ctx, "serve", metav1.GetOptions{})
		if err == nil {
			scale.Spec.Replicas = 1
			_, err = deployments.UpdateScale(ctx, "serve", scale, metav1.UpdateOptions{FieldManager: "kubectl"})
		}
		return err
	})
	r.waitForPods(1)
	report := r.run(reconcile.RunOptions{})
	if b := report.Budgets[0]; len(report.Decisions) > 0 || len(b.Enforced) > 0 ||
		!strings.Contains(strings.Join(b.Warnings.Texts(), "\n"), "resumed manually") {
		t.Errorf("decisions %v, enforced %v, warnings %v", decided(report), b.Enforced, b.Warnings)
	}
	again := r.budget
	again.Enforce.OnManualResume = budget.ResumePause
	if _, err := r.process().Budgets().Update(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	r.runUntil("a pause", has("done suspend Deployment"))
	r.waitForPods(0)
}
