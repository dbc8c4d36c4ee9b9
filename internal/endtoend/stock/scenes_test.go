package stock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

func TestMain(m *testing.M) { providertest.Main(m) }

// TestStockPools plays what may happen to stock pools, at the same time and in one
// cluster, each in a store of its own.
func TestStockPools(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t)
	for name, play := range map[string]func(*rig){
		"declared, reverted, destroyed":     reverted,
		"orphaned and imported":             orphaned,
		"deleted without its pods":          deletedAlone,
		"somebody else's, then taken over":  takenOver,
		"paused by its budget and back":     paused,
		"not grown by its budget":           notGrown,
		"taken pods are replaced":           taken,
		"an image that the cluster alters":  rewritten,
		"more than its declaration allows":  escalated,
		"pods that are not its own":         forged,
		"paused though it can't be changed": pausedAsRefused,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(newRig(t, server))
		})
	}
}

// reverted: the next run undoes any change of the Deployment and reports the old value and the
// writer. A run after that has nothing to do.
func reverted(r *rig) {
	r.apply(r.pool(attributes{"pod_disruption_budget": "{ min_available = 1 }"}))
	r.audit.Wants(r.t, "of the first apply", "create deployments", "patch deployments pool-g1", "apply deployments pool-g1", "create poddisruptionbudgets")
	r.settled()
	r.ready(2)
	r.reconcile().is(r.t, decide.Ready)
	r.audit.Wants(r.t, "of a plan and a run that have nothing to do")
	uid := r.deployment().UID

	for _, c := range []struct {
		as                   types.PatchType
		manager, patch, part string
		says                 []string
	}{
		{
			types.MergePatchType, "kubectl", `{"spec":{"replicas":5}}`, "scale",
			[]string{"done revert: spec.replicas was 5 instead of 2", "last written by kubectl (scale)"},
		},
		{types.StrategicMergePatchType, "kubectl-edit", `{"spec":{"template":{"spec":{"containers":[{"name":"runtime","image":"evil:1"}]}}}}`, "",
			[]string{
				"done revert: spec.template.spec.containers[0].image was evil:1 instead of registry.example.com/team/runtime:1",
				"last written by kubectl-edit at ",
			}},
		{
			types.MergePatchType, "kubectl-label", `{"metadata":{"labels":{"gpupool/stock-pool":null}}}`, "",
			[]string{"done revert: metadata.labels.gpupool/stock-pool was nothing instead of pool-g1"},
		},
	} {
		var part []string
		if c.part != "" {
			part = append(part, c.part)
		}
		r.somebody(c.as, c.manager, c.patch, part...)
		told := r.reconcile()
		r.says(told, c.says...)
		r.audit.Wants(r.t, "of a run after "+c.manager, "try to apply deployments pool-g1", "apply deployments pool-g1")
		of := r.deployment()
		if *of.Spec.Replicas != 2 || of.UID != uid || of.Labels[stockpool.LabelPool] != poolName ||
			of.Spec.Template.Spec.Containers[0].Image != "registry.example.com/team/runtime:1" {
			r.t.Errorf("after %s it is %+v", c.manager, of)
		}
		r.ready(2)
	}

	guards := r.server.Client().PolicyV1().PodDisruptionBudgets(r.namespace)
	if _, err := guards.Patch(r.t.Context(), poolName, types.MergePatchType, []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{}); err != nil {
		r.t.Fatal(err)
	}
	r.says(r.reconcile(), "done guard: its label was removed")
	r.audit.Wants(r.t, "of a run after its disruption budget lost its label", "apply poddisruptionbudgets pool-g1")
	r.reconcile().is(r.t, decide.Ready)
	r.audit.Wants(r.t, "of a run that has nothing to do")

	if err := r.server.Client().AppsV1().Deployments(r.namespace).Delete(r.t.Context(), poolName, metav1.DeleteOptions{}); err != nil {
		r.t.Fatal(err)
	}
	r.says(r.reconcile(), "done create: its Deployment was deleted")
	r.ready(2)
	if r.deployment().UID == uid {
		r.t.Error("it is the one that was deleted")
	}
	r.later("its being ready", func(told report) bool { return told.StockPools[0].Phase == decide.Ready })
	r.audit.Taken()
	r.settled()
	history := r.work.Must("gpupool", "history", "--kubeconfig", r.run, "-o", "json").Stdout
	if n := strings.Count(history, `"kind":"revert"`) + strings.Count(history, `"kind": "revert"`); n != 4 {
		r.t.Errorf("the history has %d reverts:\n%s", n, history)
	}
	r.apply()
	r.audit.Wants(r.t, "of its end", "delete deployments pool-g1")
	r.nothingLeft()
	if told := r.reconcile(); len(told.StockPools) != 0 {
		r.t.Errorf("a run still knows %+v", told.StockPools)
	}
}

// orphaned: what is left behind is left as it is, and can be had back.
func orphaned(r *rig) {
	config := r.pool(attributes{"on_destroy": `"retain"`})
	r.apply(config)
	before, pods := r.deployment(), names(r.ready(2))
	r.audit.Taken()
	r.apply()
	r.audit.Wants(r.t, "of an end that leaves it")
	if of := r.deployment(); of == nil || of.UID != before.UID || !slices.Equal(names(r.ready(2)), pods) {
		r.t.Fatalf("it was not left: %+v", of)
	}
	r.reconcile()
	r.audit.Wants(r.t, "of a run that has no pool")

	r.refuses("is not managed by gpupool and was not changed", config)
	r.work.Must("terraform", "import", "-input=false", "gpupool_stock_pool.g1", r.namespace+"/"+poolName)
	r.audit.Wants(r.t, "of a refusal and an import")
	r.apply(config)
	r.audit.Wants(r.t, "of taking it over", "try to apply deployments pool-g1", "apply deployments pool-g1")
	if of := r.deployment(); of.UID != before.UID || !slices.Equal(names(r.ready(2)), pods) {
		r.t.Error("its pods were replaced")
	}
	r.settled()
	r.reconcile().is(r.t, decide.Ready)

	// An import of what the store has a record of.
	r.work.Must("terraform", "state", "rm", "gpupool_stock_pool.g1")
	r.work.Must("terraform", "import", "-input=false", "gpupool_stock_pool.g1", r.namespace+"/"+poolName)
	r.settled()
	r.audit.Wants(r.t, "of an import of a recorded one")
	r.apply(r.pool()) // no orphan
	r.apply()
	r.nothingLeft()
}

// deletedAlone: the pods that an orphaning delete leaves go on under a new Deployment.
func deletedAlone(r *rig) {
	r.apply(r.pool())
	pods := names(r.ready(2))
	r.later("its being ready", func(told report) bool { return told.StockPools[0].Phase == decide.Ready })
	r.audit.Taken()
	uid := r.deployment().UID
	if err := r.server.Client().AppsV1().Deployments(r.namespace).Delete(r.t.Context(), poolName,
		metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}); err != nil {
		r.t.Fatal(err)
	}
	kubetest.WaitFor(r.t, "its Deployment to be gone", func(context.Context) error {
		if of := r.deployment(); of != nil {
			return fmt.Errorf("it is there, with the finalizers %v", of.Finalizers)
		}
		return nil
	})
	dry := r.work.Must("gpupool", "reconcile", "--kubeconfig", r.run, "--dry-run").Stdout
	if !strings.Contains(words(dry), "its Deployment with 2 replicas, for the pods of the deleted one") {
		r.t.Errorf("a dry run says\n%s", dry)
	}
	r.says(r.reconcile(), "done create: its Deployment was deleted")
	r.later("its being ready", func(told report) bool { return told.StockPools[0].Phase == decide.Ready })
	if of := r.deployment(); of.UID == uid || !slices.Equal(names(r.ready(2)), pods) {
		r.t.Errorf("its pods %v were replaced by %v", pods, names(r.ready(2)))
	}
	r.audit.Taken()
	r.settled()
	r.apply()
	r.nothingLeft()
}

func names(pods []corev1.Pod) []string {
	var all []string
	for _, p := range pods {
		all = append(all, p.Name)
	}
	slices.Sort(all)
	return all
}

// takenOver: a foreign Deployment is not changed until its owner labels it.
func takenOver(r *rig) {
	theirs := kubetest.Deployment(r.namespace, poolName, 1, kubetest.GPUs(1))
	theirs = kubetest.Create(r.t, r.server, theirs)
	pods := names(r.ready(1))
	untouched := func(when string) {
		r.t.Helper()
		of := r.deployment()
		if of == nil || of.UID != theirs.UID || of.Generation != theirs.Generation || !cmp.Equal(of.Spec, theirs.Spec) ||
			!slices.Equal(names(r.ready(1)), pods) {
			r.t.Fatalf("somebody else's Deployment was changed %s: %+v", when, of)
		}
	}
	config := r.pool(attributes{"pod_security_level": `"baseline"`, "labels": `{ team = "a", app = "pool-g1" }`})
	r.refuses("is not managed by gpupool and was not changed", config)
	r.reconcile()
	r.audit.Wants(r.t, "while it is somebody else's")
	untouched("by a name")

	r.work.Must("terraform", "import", "-input=false", "gpupool_stock_pool.g1", r.namespace+"/"+poolName)
	plan := r.work.Must("terraform", "plan", "-input=false", "-no-color").Stdout
	for _, want := range []string{
		"will be updated in-place", `"registry.example.com/train:1" -> "registry.example.com/team/runtime:1"`, "1 -> 2", "is taken over",
	} {
		if !strings.Contains(words(plan), want) {
			r.t.Errorf("the plan does not say %q:\n%s", want, plan)
		}
	}
	untouched("by an import and a plan")
	r.refuses("kubectl label deployment NAME gpupool/stock-pool=NAME", config)
	r.audit.Wants(r.t, "of an apply that its owner did not allow", "try to apply deployments pool-g1 403")
	untouched("by an apply")
	if told := r.reconcile(); len(told.StockPools) > 0 {
		r.t.Errorf("a record of it is left: %+v", told.StockPools)
	}

	r.somebody(types.MergePatchType, "kubectl-label", `{"metadata":{"labels":{"gpupool/stock-pool":"pool-g1"}}}`)
	r.apply(config)
	of := r.deployment()
	if of.UID != theirs.UID || *of.Spec.Replicas != 2 || of.Spec.Template.Spec.Containers[0].Image != "registry.example.com/team/runtime:1" ||
		of.Spec.Template.Spec.Containers[0].Name != "main" {
		r.t.Errorf("taken over, it is %+v", of)
	}
	r.ready(2)
	r.settled()
	r.later("its being ready", func(told report) bool { return told.StockPools[0].Phase == decide.Ready })
	r.audit.Taken()
	r.apply()
	r.audit.Wants(r.t, "of its end", "delete deployments pool-g1")
	r.nothingLeft()
}

func (r *rig) budget(action, hours string) string {
	return fmt.Sprintf("resource \"gpupool_budget\" \"b\" {\n  name = \"team-a\"\n  gpu_hours = %q\n  window = \"24h\"\n  selector = { namespaces = [%q] "+
		"}\n  enforcement = { action = %q, grace_period = \"0s\" }\n}\n", hours, r.namespace, action)
}

const ofBudget = `gpupool_budget.b.name`

func exceeded(told report) bool {
	return len(told.Budgets) == 1 && told.Budgets[0].Exceeded != nil && *told.Budgets[0].Exceeded
}

// paused: a budget that the pool's own pods exhausted scales it to zero, and resumes it once it
// is no longer exceeded.
func paused(r *rig) {
	r.apply(r.budget("pause", "1000"))
	r.reconcile() // which judges it
	pool := r.pool(attributes{"budget": ofBudget})
	r.apply(r.budget("pause", "1000"), pool)
	r.ready(2)
	r.audit.Taken()
	r.apply(r.budget("pause", "0.001"), pool)
	told := r.later("a pause", func(told report) bool { return told.StockPools[0].Phase == decide.Paused })
	if !exceeded(told) {
		r.t.Errorf("its budgets are %+v", told.Budgets)
	}
	r.audit.Wants(r.t, "of a pause, of which the budget does nothing", "patch deployments pool-g1")
	r.ready(0)
	if of := r.deployment(); *of.Spec.Replicas != 0 {
		r.t.Errorf("it has %d replicas", *of.Spec.Replicas)
	}
	r.reconcile().is(r.t, decide.Paused)
	r.settled()
	r.somebody(types.MergePatchType, "kubectl", `{"spec":{"replicas":2}}`, "scale")
	r.says(r.reconcile(), "done revert: spec.replicas was 2 instead of 0; last written by kubectl (scale)")
	r.ready(0)
	r.audit.Taken()

	r.apply(r.budget("pause", "1000"), pool)
	r.audit.Wants(r.t, "of a larger budget")
	r.says(r.later("its coming back", func(told report) bool { return strings.Contains(told.decided(), "resume") }), "no budget pauses it")
	r.audit.Wants(r.t, "of its coming back", "apply deployments pool-g1")
	r.ready(2)
	r.settled()
	r.apply()
	r.nothingLeft()
}

// pausedAsRefused: a policy of the cluster that refuses changes of a drifted Deployment keeps
// its pods from no pause, and fails no plan.
func pausedAsRefused(r *rig) {
	r.apply(r.budget("pause", "1000"))
	r.reconcile()
	pool := r.pool(attributes{"budget": ofBudget})
	r.apply(r.budget("pause", "1000"), pool)
	r.ready(2)
	r.refuse()
	r.somebody(types.JSONPatchType, "kubectl", `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"registry.example.com/other:1"}]`)
	kubetest.WaitFor(r.t, "a plan to warn that its dry run is refused", func(context.Context) error {
		done := r.work.Run("terraform", "plan", "-input=false", "-no-color")
		if done.Code != 0 {
			r.t.Fatalf("a plan fails:\n%s", done.Stderr)
		}
		if text := words(done.Stdout + done.Stderr); !strings.Contains(text, "the cluster refuses a dry run") {
			return errors.New(text)
		}
		return nil
	})
	r.work.Write(r.budget("pause", "0.001") + pool)
	r.work.Must("terraform", "apply", "-auto-approve", "-input=false", "-no-color", "-target=gpupool_budget.b")
	kubetest.WaitFor(r.t, "the pool to be scaled to 0", func(context.Context) error {
		done := r.work.Run("gpupool", "reconcile", "--kubeconfig", r.run)
		if of := r.deployment(); *of.Spec.Replicas != 0 {
			return fmt.Errorf("%d replicas, exit code %d: %s%s", *of.Spec.Replicas, done.Code, done.Stdout, done.Stderr)
		}
		return nil
	})
	admission := r.server.Client().AdmissionregistrationV1()
	if err := admission.ValidatingAdmissionPolicyBindings().Delete(r.t.Context(), "refuse-"+r.namespace, metav1.DeleteOptions{}); err != nil {
		r.t.Fatal(err)
	}
	kubetest.WaitFor(r.t, "a destroy", func(context.Context) error {
		if done := r.work.Run("terraform", "destroy", "-auto-approve", "-input=false", "-no-color"); done.Code != 0 {
			return errors.New(done.Stderr)
		}
		return nil
	})
}

// refuse has a policy of the cluster refuse what gpupool's accounts change of Deployments.
func (r *rig) refuse() {
	r.t.Helper()
	admission, ctx := r.server.Client().AdmissionregistrationV1(), r.t.Context()
	name := "refuse-" + r.namespace
	rule := admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Update},
		Rule:       admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
	}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: rule}}},
		MatchConditions:  []admissionv1.MatchCondition{{Name: "gpupool", Expression: "request.userInfo.username.contains('gpupool')"}},
		Validations:      []admissionv1.Validation{{Expression: "false", Message: "nothing changes here"}},
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		MatchResources: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: r.namespace}},
		},
	}}
	if _, err := admission.ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	if _, err := admission.ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
}

// notGrown: a budget that only alerts keeps an exceeded pool from growing, and ends
// nothing.
func notGrown(r *rig) {
	r.apply(r.budget("alert_only", "1000"))
	r.reconcile()
	r.apply(r.budget("alert_only", "1000"), r.pool(attributes{"budget": ofBudget}))
	pods := names(r.ready(2))
	r.apply(r.budget("alert_only", "0.001"), r.pool(attributes{"budget": ofBudget}))
	r.later("its being exceeded", exceeded)
	more := r.pool(attributes{"budget": ofBudget, "replicas": "4"})
	r.apply(r.budget("alert_only", "0.001"), more)
	r.reconcile().is(r.t, decide.Degraded)
	if *r.deployment().Spec.Replicas != 2 || !slices.Equal(names(r.ready(2)), pods) {
		r.t.Errorf("it was grown to %d, or its pods ended", *r.deployment().Spec.Replicas)
	}
	r.apply(r.budget("alert_only", "1000"), more)
	r.later("its growth", func(told report) bool { return told.StockPools[0].Phase == decide.Ready })
	r.ready(4)
	r.apply()
	r.nothingLeft()
}

// taken: a claimed pod is labeled, and another one becomes ready. If it is released, the stock
// shrinks by idle pods.
func taken(r *rig) {
	r.apply(r.pool(attributes{"replicas_policy": `"available"`, "maximum": "4"}))
	pods := r.ready(2)
	label := func(pod, session string) {
		r.t.Helper()
		patch := fmt.Sprintf(`{"metadata":{"labels":{"session":%s}}}`, session)
		if _, err := r.server.Client().CoreV1().Pods(r.namespace).Patch(r.t.Context(), pod, types.MergePatchType, []byte(patch),
			metav1.PatchOptions{}); err != nil {
			r.t.Fatal(err)
		}
	}
	r.audit.Taken()
	label(pods[0].Name, `"a"`)
	r.says(r.reconcile(), "done scale: 1 of its pods is in use, and 2 must be available")
	r.audit.Wants(r.t, "of a taken pod", "apply deployments pool-g1")
	label(pods[1].Name, `"b"`)
	r.ready(3)
	r.reconcile()
	all := r.ready(4)
	label(all[slices.IndexFunc(all, func(p corev1.Pod) bool { return p.Labels["session"] == "" })].Name, `"c"`)
	r.reconcile() // its maximum is reached
	r.ready(4)
	told := r.later("its being ready", func(told report) bool { return told.StockPools[0].Available == 1 })
	if p := told.StockPools[0]; p.Allocated != 3 || p.Replicas != 4 {
		r.t.Errorf("it is %+v", p)
	}
	r.settled()
	r.audit.Taken()

	label(pods[1].Name, "null")
	var used []string
	for _, p := range r.ready(4) {
		if p.Labels["session"] != "" {
			used = append(used, p.Name)
		}
	}
	r.reconcile() // which finds nothing to do: two are in use, and two available
	label(pods[0].Name, "null")
	used = slices.DeleteFunc(used, func(name string) bool { return name == pods[0].Name })
	r.reconcile()
	left := r.ready(3)
	if !slices.Contains(names(left), used[0]) {
		r.t.Errorf("%s was in use, and ended", used[0])
	}
	r.audit.Wants(r.t, "of pods that are given back", "patch pods "+used[0], "apply deployments pool-g1")
	r.reconcile().is(r.t, decide.Ready)
	r.audit.Wants(r.t, "of a run that has nothing to do")
	r.apply()
	r.nothingLeft()
}

// rewritten: changes by the cluster's webhooks are not drift, and manual changes are.
func rewritten(r *rig) {
	about := metav1.ObjectMeta{Name: r.namespace}
	kubetest.Create(r.t, r.server, &admissionv1.MutatingAdmissionPolicy{ObjectMeta: about, Spec: admissionv1.MutatingAdmissionPolicySpec{
		ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: r.namespace}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}}},
		},
		MatchConditions: []admissionv1.MatchCondition{{
			Name: "theirs", Expression: "!object.spec.template.spec.containers[0].image.startsWith('mirror.example.com/')",
		}},
		Mutations: []admissionv1.Mutation{{PatchType: admissionv1.PatchTypeJSONPatch, JSONPatch: &admissionv1.JSONPatch{
			Expression: `[JSONPatch{op: "replace", path: "/spec/template/spec/containers/0/image", value: "mirror.example.com/" + object.spec.template.spec.containers[0].image}]`,
		}}},
	}})
	kubetest.Create(r.t, r.server, &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: about, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: about.Name},
	})
	const mirrored = "mirror.example.com/registry.example.com/team/runtime:1"
	image := func() string { return r.deployment().Spec.Template.Spec.Containers[0].Image }
	r.untilRewritten()
	r.apply(r.pool())
	r.ready(2)
	if image() != mirrored {
		r.t.Fatalf("its image is %s", image())
	}
	r.audit.Taken()
	for range 2 {
		told := r.reconcile()
		told.is(r.t, decide.Ready)
		r.settled()
	}
	r.audit.Wants(r.t, "of runs and plans that have nothing to do")

	r.somebody(types.StrategicMergePatchType, "kubectl-edit",
		`{"spec":{"template":{"spec":{"containers":[{"name":"runtime","image":"mirror.example.com/evil:1"}]}}}}`)
	r.says(r.reconcile(), "image was mirror.example.com/evil:1 instead of "+mirrored, "last written by kubectl-edit")
	if image() != mirrored {
		r.t.Errorf("its image is %s", image())
	}
	r.ready(2)
	r.audit.Taken()
	r.reconcile().is(r.t, decide.Ready)
	r.audit.Wants(r.t, "of a run after that")
	r.apply()
	r.nothingLeft()
}

// untilRewritten waits until the cluster rewrites images.
func (r *rig) untilRewritten() {
	r.t.Helper()
	kubetest.WaitFor(r.t, "images to be rewritten", func(ctx context.Context) error {
		made, err := r.server.Client().AppsV1().Deployments(r.namespace).Create(ctx, kubetest.Deployment(r.namespace, "probe", 0),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && !strings.HasPrefix(made.Spec.Template.Spec.Containers[0].Image, "mirror.example.com/") {
			err = errors.New("they are not")
		}
		return err
	})
}
