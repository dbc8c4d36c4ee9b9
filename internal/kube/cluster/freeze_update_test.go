package cluster_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// gated keeps a pod from being scheduled.
func gated(pod *corev1.Pod) {
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/later"}}
}

// ungated lets it be scheduled.
func ungated(pod *corev1.Pod) { pod.Spec.SchedulingGates = nil }

// unlabeled takes a label off.
func unlabeled(key string) kubetest.PodOption {
	return func(pod *corev1.Pod) { maps.DeleteFunc(pod.Labels, func(k, _ string) bool { return k == key }) }
}

// update asks whether a change of a pod would be taken, and changes nothing.
func update(ctx context.Context, server *kubetest.Cluster, made *corev1.Pod, changes ...kubetest.PodOption) error {
	pod := made.DeepCopy()
	pod.ResourceVersion = "" // another's change, such as of its status, is no conflict
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	for _, change := range changes {
		change(pod)
	}
	_, err := server.Client().CoreV1().Pods(pod.Namespace).Update(ctx, pod, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// TestAFreezeHoldsPodsThatComeToAskForGPUs changes pods that no node has yet, of
// which some asked for GPUs before the freeze.
func TestAFreezeHoldsPodsThatComeToAskForGPUs(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	policy(t, server)
	ns, shielded := server.Namespace(t), server.Namespace(t, budget.ProtectedKey+"=true")
	c := connect(t, server.Kubeconfig())
	team := func(labels ...string) kubetest.PodOption {
		all := map[string]string{"team": "a", "stage": "run"}
		for n := 0; n < len(labels); n += 2 {
			all[labels[n]] = labels[n+1]
		}
		return kubetest.Labels(all)
	}
	inNamespace := func(namespace string, options ...kubetest.PodOption) *corev1.Pod {
		return kubetest.Create(t, server, kubetest.Pod(namespace, "", append(options, gated)...))
	}
	in := func(options ...kubetest.PodOption) *corev1.Pod { return inNamespace(ns, options...) }
	half, memory := kubetest.Annotation("gpu-fraction", "0.5"), kubetest.Annotation("gpu-memory", "4000")
	protected := kubetest.Annotation(budget.ProtectedKey, "true")
	crowd := func(pod *corev1.Pod) {
		for range 70 {
			another(pod, false, 0, "")
		}
	}
	plain, whole, fraction := in(team()), in(team(), kubetest.GPUs(1)), in(team(), half)
	claim, guarded, many := in(team(), kubetest.ClaimTemplate("any")), in(team(), half, protected), in(team(), crowd)
	otherTeam, otherTier := in(team("team", "b"), kubetest.GPUs(1)), in(team("tier", "vip"), half)
	otherStage, held := in(unlabeled("stage"), kubetest.Labels(map[string]string{"team": "a"}), half), in(team("hold", ""), half)
	otherPlain, otherMany := in(team("team", "b")), in(team("team", "b"), crowd)
	spared := inNamespace(shielded, team())
	bound := kubetest.Create(t, server, kubetest.Pod(ns, "", team(), kubetest.BoundTo(kubetest.Create(t, server, kubetest.Node("freeze-updates", 0)).Name)))

	freeze := budget.FreezeRule{Budget: "freeze-updates", BudgetUID: "f5f5f5f5-aaaa", Selector: budget.Selector{
		Namespaces: []string{ns, shielded}, MatchLabels: map[string]string{"team": "a"}, MatchExpressions: []budget.Expression{
			{Key: "tier", Operator: "NotIn", Values: []string{"vip", "free"}}, {Key: "stage", Operator: "In", Values: []string{"test", "run"}},
			{Key: "team", Operator: "Exists"}, {Key: "hold", Operator: "DoesNotExist"},
		},
	}}
	if err := c.Freeze(t.Context(), freeze); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Unfreeze(context.Background(), freeze.BudgetUID) })
	refused(t, server, true, func() *corev1.Pod { return kubetest.Pod(ns, "", team(), kubetest.GPUs(1)) })

	type change struct {
		pod     *corev1.Pod
		changes []kubetest.PodOption
	}
	by := func(pod *corev1.Pod, changes ...kubetest.PodOption) change { return change{pod, changes} }
	for name, u := range map[string]change{
		"a fraction":                        by(plain, half),
		"a fraction, and no gate":           by(plain, half, ungated),
		"memory":                            by(plain, memory),
		"a fraction with a group":           by(plain, half, kubetest.Labels(map[string]string{"runai-gpu-group": "g1"})),
		"a fraction of a crowd":             by(many, half),
		"another team's pod":                by(otherTeam, team()),
		"another team's pod, and no gate":   by(otherTeam, team(), ungated),
		"another tier's pod":                by(otherTier, unlabeled("tier")),
		"another tier's, by another value":  by(otherTier, team("tier", "low")),
		"another stage's pod":               by(otherStage, team("stage", "test")),
		"a pod that was held":               by(held, unlabeled("hold")),
		"another team's pod and a fraction": by(otherPlain, team(), half),
		"another team's crowd":              by(otherMany, team()),
	} {
		err := update(t.Context(), server, u.pod, u.changes...)
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "the budget freeze-updates are used up") ||
			!strings.Contains(err.Error(), "nor may a pod that waits") {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
	finalizer := func(pod *corev1.Pod) { pod.Finalizers = append(pod.Finalizers, "example.com/f") }
	image := func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "registry.example.com/train:2" }
	label := kubetest.Labels(map[string]string{"more": "of-it"})
	for name, u := range map[string]change{
		"no GPU":                       by(plain, ungated, label, finalizer, image),
		"no GPU any more":              by(fraction, func(pod *corev1.Pod) { delete(pod.Annotations, "gpu-fraction") }),
		"a whole GPU":                  by(whole, ungated, label, finalizer, image),
		"a whole GPU, by annotation":   by(whole, half),
		"a fraction":                   by(fraction, ungated, label, finalizer, image),
		"a larger fraction":            by(fraction, kubetest.Annotation("gpu-fraction", "0.9")),
		"a claim":                      by(claim, ungated, label, finalizer),
		"a crowd":                      by(many, ungated, label),
		"protected":                    by(guarded, ungated, label),
		"protected no more":            by(guarded, kubetest.Annotation(budget.ProtectedKey, "false")),
		"protected from now on":        by(plain, half, protected),
		"a protected namespace":        by(spared, half),
		"a team for another":           by(whole, team("team", "b")),
		"a tier for another":           by(plain, team("tier", "vip"), half),
		"another team's, as before":    by(otherTeam, ungated, label),
		"another team's, by half":      by(otherPlain, half),
		"another tier's, for another":  by(otherTier, team("tier", "free"), half),
		"without a GPU into the team":  by(otherPlain, team()),
		"bound already, with fraction": by(bound, half),
	} {
		if err := update(t.Context(), server, u.pod, u.changes...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
