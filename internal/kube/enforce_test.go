package kube_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/kube"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
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

// policy puts the freeze policy in place, once for all tests of the cluster.
func policy(t *testing.T, server *kubetest.Cluster) {
	t.Helper()
	_, err := server.Client().AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), kube.FreezePolicy(), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
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
	c := look(t, server.Kubeconfig())
	freeze := reconcile.Freeze{
		Budget: "freeze-selected", BudgetUID: "f1f2f3f4-aaaa", ProtectedNamespaces: []string{spared}, Resources: []string{"example.com/tensor"},
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
	if !strings.Contains(message, "the budget freeze-selected are used up") {
		t.Errorf("the refusal does not name the budget: %s", message)
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
		"labelled protected":  in(ns, team, kubetest.GPUs(1), kubetest.Labels(map[string]string{budget.ProtectedKey: "true"})),
		"a network card":      in(ns, team, kubetest.Resource("rdma.example.com/hca", "1")),
	} {
		if _, err := kubetest.TryCreate(t.Context(), server, pod()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFreezeAdmitsWhatItsBudgetDoesNotCount freezes a budget that weighs resources
// with zero.
func TestFreezeAdmitsWhatItsBudgetDoesNotCount(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	policy(t, server)
	ns := server.Namespace(t)
	c := look(t, server.Kubeconfig())
	const slice = "nvidia.com/mig-1g.5gb"
	freeze := reconcile.Freeze{
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
		"a slice": pod(kubetest.Resource(slice, "1")), "a claim": pod(kubetest.ClaimTemplate("any")), "a fraction": pod(kubetest.Annotation("gpu-fraction", "0.5")),
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
	c := look(t, server.Kubeconfig())
	freeze := reconcile.Freeze{Budget: "freeze-lifted", BudgetUID: "c1c2c3c4-bbbb", Selector: budget.Selector{Namespaces: []string{ns}}}
	pod := func() *corev1.Pod { return kubetest.Pod(ns, "", kubetest.GPUs(1)) }
	for range 2 { // the second time it is there already
		if err := c.Freeze(t.Context(), freeze); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.Calls()["update validatingadmissionpolicybindings"]; n != 0 {
		t.Errorf("freezing again wrote %d times, want never", n)
	}
	refused(t, server, true, pod)
	freeze.Selector.MatchLabels = map[string]string{"team": "a"}
	if err := c.Freeze(t.Context(), freeze); err != nil {
		t.Fatal(err)
	}
	refused(t, server, false, pod)
	found := false
	all, err := c.Freezes(t.Context())
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
}

func TestFreezeWithoutItsPolicySaysWhatToApply(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t)
	c := look(t, server.Kubeconfig())
	freeze := reconcile.Freeze{Budget: "b", BudgetUID: "d1d2d3d4", Selector: budget.Selector{Namespaces: []string{"x"}}}
	var missing *kube.MissingPolicyError
	err := c.Freeze(t.Context(), freeze)
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "gpupool manifests") {
		t.Errorf("got %v, want the policy to be missing", err)
	}
	old := kube.FreezePolicy()
	old.Annotations = nil
	kubetest.Create(t, server, old)
	if err := c.Freeze(t.Context(), freeze); !errors.As(err, &missing) {
		t.Errorf("got %v, want the policy to be of another revision", err)
	}
}

func TestEvictTakesExactlyThisPod(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("evict-exactly", 8))
	c := look(t, server.Kubeconfig())
	ref := func(p *corev1.Pod) reconcile.PodRef {
		return reconcile.PodRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)}
	}
	first := server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "p", kubetest.GPUs(1), kubetest.OnNode(node.Name))))
	if err := c.Evict(t.Context(), ref(first)); err != nil {
		t.Fatal(err)
	}
	server.WaitGone(t, first)
	if err := c.Evict(t.Context(), ref(first)); err != nil {
		t.Errorf("it is gone already: %v", err)
	}
	second := server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "p", kubetest.GPUs(1), kubetest.OnNode(node.Name))))
	if err := c.Evict(t.Context(), ref(first)); err != nil {
		t.Errorf("its name is another pod's: %v", err)
	}
	if now, err := server.Client().CoreV1().Pods(ns).Get(t.Context(), "p", metav1.GetOptions{}); err != nil || now.UID != second.UID || now.DeletionTimestamp != nil {
		t.Errorf("the later pod of the name was evicted, too (%v)", err)
	}
}

func TestADisruptionBudgetBlocksAnEvictionAtOnce(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("pdb-blocks", 8))
	guarded := map[string]string{"app": "guarded"}
	pod := server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "p", kubetest.GPUs(1), kubetest.Labels(guarded), kubetest.OnNode(node.Name))))
	kubetest.Create(t, server, kubetest.PodDisruptionBudget(ns, "all", 1, guarded))
	c := look(t, server.Kubeconfig())
	started := time.Now()
	var blocked *reconcile.EvictionBlockedError
	err := c.Evict(t.Context(), reconcile.PodRef{Namespace: ns, Name: "p", UID: string(pod.UID)})
	if !errors.As(err, &blocked) || blocked.Pod.Name != "p" {
		t.Errorf("got %v, want it blocked", err)
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("it took %v: a blocked eviction must not be waited for", took)
	}
}

func TestTwoDisruptionBudgetsBlockAnEviction(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("pdbs-block", 8))
	guarded := map[string]string{"app": "guarded"}
	pod := server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "p", kubetest.GPUs(1), kubetest.Labels(guarded), kubetest.OnNode(node.Name))))
	kubetest.Create(t, server, kubetest.PodDisruptionBudget(ns, "one", 0, guarded))
	kubetest.Create(t, server, kubetest.PodDisruptionBudget(ns, "two", 0, guarded))
	var blocked *reconcile.EvictionBlockedError
	err := look(t, server.Kubeconfig()).Evict(t.Context(), reconcile.PodRef{Namespace: ns, Name: "p", UID: string(pod.UID)})
	if !errors.As(err, &blocked) || !strings.Contains(err.Error(), "more than one PodDisruptionBudget") {
		t.Errorf("got %v, want it blocked", err)
	}
}

func TestAnEvictionThatAPolicyRefusesIsBlocked(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	name := "deny-" + ns
	kubetest.Create(t, server, &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/eviction"}},
			}}}},
			Validations: []admissionv1.Validation{{Expression: "request.namespace != '" + ns + "'", Message: "hands off"}},
		},
	})
	kubetest.Create(t, server, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	})
	c := look(t, server.Kubeconfig())
	kubetest.WaitFor(t, "an eviction to be refused", func(ctx context.Context) error {
		pod := kubetest.Create(t, server, kubetest.Pod(ns, "", kubetest.BoundTo("nowhere")))
		var blocked *reconcile.EvictionBlockedError
		err := c.Evict(ctx, reconcile.PodRef{Namespace: ns, Name: pod.Name, UID: string(pod.UID)})
		if !errors.As(err, &blocked) || !strings.Contains(err.Error(), "hands off") {
			return fmt.Errorf("it was not blocked: %w", err)
		}
		return nil
	})
}

func TestANamespaceThatIsGoneIsToldNothing(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	err := look(t, server.Kubeconfig()).Alert(t.Context(), reconcile.Alert{Namespace: "no-such-namespace", Budget: "b", BudgetUID: "u", Reason: "GPUBudgetThreshold", Message: "m"})
	if err != nil {
		t.Error(err)
	}
}

// workloadOf names an object as budgets do.
func workloadOf(apiVersion, kind string, o metav1.Object) budget.Workload {
	return budget.Workload{Namespace: o.GetNamespace(), APIVersion: apiVersion, Kind: kind, Name: o.GetName(), UID: string(o.GetUID())}
}

func paused(t *testing.T, c *kube.Cluster, w budget.Workload) bool {
	t.Helper()
	all, err := c.Paused(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.Workload == w {
			return true
		}
	}
	return false
}

func TestPauseStopsWorkloadsAndResumeBringsThemBack(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	apps, batch := server.Client().AppsV1(), server.Client().BatchV1()
	d := kubetest.Create(t, server, kubetest.Deployment(ns, "d", 2, kubetest.GPUs(1)))
	s := kubetest.Create(t, server, kubetest.StatefulSet(ns, "s", 3, kubetest.GPUs(1)))
	j := kubetest.Create(t, server, kubetest.Job(ns, "j", 1, kubetest.GPUs(1)))
	sizes := func(ctx context.Context) (string, error) {
		d, err1 := apps.Deployments(ns).Get(ctx, "d", metav1.GetOptions{})
		s, err2 := apps.StatefulSets(ns).Get(ctx, "s", metav1.GetOptions{})
		j, err3 := batch.Jobs(ns).Get(ctx, "j", metav1.GetOptions{})
		if err := errors.Join(err1, err2, err3); err != nil {
			return "", err
		}
		return fmt.Sprintf("%d/%d %d/%d %v/%d", *d.Spec.Replicas, d.Status.Replicas, *s.Spec.Replicas, s.Status.Replicas, *j.Spec.Suspend, j.Status.Active), nil
	}
	waitFor := func(want string) {
		t.Helper()
		kubetest.WaitFor(t, "sizes of "+want, func(ctx context.Context) error {
			if got, err := sizes(ctx); err != nil || got != want {
				return fmt.Errorf("they are %s (%w)", got, err)
			}
			return nil
		})
	}
	waitFor("2/2 3/3 false/1")
	sets, err := apps.ReplicaSets(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(sets.Items) != 1 {
		t.Fatal(err)
	}
	c := look(t, server.Kubeconfig())
	workloads := []budget.Workload{workloadOf("apps/v1", "Deployment", d), workloadOf("apps/v1", "StatefulSet", s), workloadOf("batch/v1", "Job", j)}
	for range 2 {
		for _, w := range append(workloads[1:], workloadOf("apps/v1", "ReplicaSet", &sets.Items[0])) {
			if err := c.Pause(t.Context(), w, "budget-1"); err != nil {
				t.Fatal(err)
			}
		}
	}
	waitFor("0/0 0/0 true/0")
	for _, w := range workloads {
		if !paused(t, c, w) {
			t.Errorf("%s is not listed as paused", w.Kind)
		}
		if err := c.Resume(t.Context(), w, "budget-2"); err != nil {
			t.Errorf("resuming another budget's: %v", err)
		}
	}
	waitFor("0/0 0/0 true/0")
	for range 2 {
		for _, w := range workloads {
			if err := c.Resume(t.Context(), w, "budget-1"); err != nil {
				t.Fatal(err)
			}
		}
	}
	waitFor("2/2 3/3 false/1")
	for _, w := range workloads {
		if paused(t, c, w) {
			t.Errorf("%s is still listed as paused", w.Kind)
		}
	}
}

// mustNotPause asks for a pause and returns why it was not done.
func mustNotPause(t *testing.T, c *kube.Cluster, w budget.Workload) string {
	t.Helper()
	var not *reconcile.NotPausedError
	if err := c.Pause(t.Context(), w, "budget-1"); !errors.As(err, &not) {
		t.Fatalf("%s: got %v, want it not to be paused", w.Kind, err)
	}
	return not.Reason
}

func TestWhatSomeoneElseDrivesIsNotFoughtOver(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := look(t, server.Kubeconfig())
	deployments := server.Client().AppsV1().Deployments(ns)
	makeOne := func(name string) budget.Workload {
		return workloadOf("apps/v1", "Deployment", kubetest.Create(t, server, kubetest.Deployment(ns, name, 1)))
	}
	scaled := makeOne("scaled")
	kubetest.Create(t, server, &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "auto"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "scaled"}, MaxReplicas: 3,
		},
	})
	applied := makeOne("applied")
	patch := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"applied"},"spec":{"replicas":1}}`
	if _, err := deployments.Patch(t.Context(), "applied", types.ApplyPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "argocd-controller", Force: new(true)}); err != nil {
		t.Fatal(err)
	}
	controlled := makeOne("controlled")
	owner := `{"metadata":{"ownerReferences":[{"apiVersion":"ray.io/v1","kind":"RayCluster","name":"ray","uid":"1","controller":true}]}}`
	if _, err := deployments.Patch(t.Context(), "controlled", types.MergePatchType, []byte(owner), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	queued := kubetest.Job(ns, "queued", 1)
	queued.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "main"}
	for want, w := range map[string]budget.Workload{
		"HorizontalPodAutoscaler auto": scaled,
		"argocd-controller":            applied,
		"RayCluster ray":               controlled,
		"Kueue":                        workloadOf("batch/v1", "Job", kubetest.Create(t, server, queued)),
		"its operator":                 {Namespace: ns, APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: "x"},
		"it is gone":                   {Namespace: ns, APIVersion: "apps/v1", Kind: "Deployment", Name: "no-such"},
	} {
		if got := mustNotPause(t, c, w); !strings.Contains(got, want) {
			t.Errorf("%s %s: %q, want %q", w.Kind, w.Name, got, want)
		}
	}
}

func TestWhatWasStartedAgainIsLeftAlone(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := look(t, server.Kubeconfig())
	w := workloadOf("apps/v1", "Deployment", kubetest.Create(t, server, kubetest.Deployment(ns, "d", 2)))
	if err := c.Pause(t.Context(), w, "budget-1"); err != nil {
		t.Fatal(err)
	}
	deployments := server.Client().AppsV1().Deployments(ns)
	if _, err := deployments.Patch(t.Context(), "d", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{FieldManager: "kubectl-scale"}); err != nil {
		t.Fatal(err)
	}
	if got := mustNotPause(t, c, w); !strings.Contains(got, "someone started it again") {
		t.Errorf("got %q", got)
	}
	var not *reconcile.NotPausedError
	if err := c.Resume(t.Context(), w, "budget-1"); !errors.As(err, &not) {
		t.Errorf("got %v, want it to be told", err)
	}
	d, err := deployments.Get(t.Context(), "d", metav1.GetOptions{})
	if err != nil || *d.Spec.Replicas != 1 || d.Labels[kube.LabelPausedBy] != "" || d.Annotations[kube.AnnotationReplicas] != "" {
		t.Errorf("got %d replicas, %v, %v (%v)", *d.Spec.Replicas, d.Labels, d.Annotations, err)
	}
}

func TestAnAlertIsOneEventHoweverOften(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := look(t, server.Kubeconfig())
	for range 3 {
		for _, threshold := range []int{50, 80} {
			if err := c.Alert(t.Context(), reconcile.Alert{
				Namespace: ns, Budget: "team-a", BudgetUID: "u1", Reason: "GPUBudgetThreshold", Threshold: threshold,
				Message: fmt.Sprintf("%d%% used", threshold), Warning: true,
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	events, err := server.Client().CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=GPUBudgetThreshold"})
	if err != nil || len(events.Items) != 2 {
		t.Fatalf("%d events, want one for each threshold (%v)", len(events.Items), err)
	}
	for _, e := range events.Items {
		if e.Count != 3 || e.Type != corev1.EventTypeWarning || e.InvolvedObject.Name != ns || e.LastTimestamp.IsZero() {
			t.Errorf("got %+v", e)
		}
	}
}

func TestEventsTellWhenPodsEnded(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := look(t, server.Kubeconfig())
	at := time.Now().Add(-10 * time.Minute).UTC().Truncate(time.Second)
	tell := func(name, uid, reason string, at time.Time) {
		kubetest.Create(t, server, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: ns, Name: name},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: ns, Name: name, UID: types.UID(uid)},
			Reason:         reason, LastTimestamp: metav1.NewTime(at),
		})
	}
	tell("killed", "1", "Killing", at)
	tell("restarted", "2", "Killing", at)
	tell("restarted-2", "2", "Started", at.Add(time.Second))
	tell("taint", "3", "TaintManagerEviction", at.Add(-time.Minute))
	tell("unknown", "4", "BackOff", at)
	refs := func(n int) (out []reconcile.PodRef) {
		for i := range n {
			out = append(out, reconcile.PodRef{Namespace: ns, Name: "x", UID: fmt.Sprint(i + 1)})
		}
		return out
	}
	for _, n := range []int{4, 40} { // one by one, and all of the namespace
		got, err := c.PodEvents(t.Context(), refs(n))
		if err != nil || len(got) != 2 || !got["1"].Equal(at) || !got["3"].Equal(at.Add(-time.Minute)) {
			t.Errorf("%d pods: got %v (%v)", n, got, err)
		}
	}
}
