package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

func evictionOf(p *corev1.Pod) budget.Eviction {
	return budget.Eviction{PodRef: budget.PodRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)}, Grace: 30}
}

func TestEvictTakesExactlyThisPod(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("evict-exactly", 8))
	c := connect(t, server.Kubeconfig())
	first := server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "p", kubetest.GPUs(1), kubetest.OnNode(node.Name))))
	if err := c.Evict(t.Context(), evictionOf(first)); err != nil {
		t.Fatal(err)
	}
	server.WaitGone(t, first)
	if err := c.Evict(t.Context(), evictionOf(first)); err != nil {
		t.Errorf("it is gone already: %v", err)
	}
	second := server.WaitRunning(t, kubetest.Create(t, server, kubetest.Pod(ns, "p", kubetest.GPUs(1), kubetest.OnNode(node.Name))))
	if err := c.Evict(t.Context(), evictionOf(first)); err != nil {
		t.Errorf("its name is another pod's: %v", err)
	}
	if now, err := server.Client().CoreV1().Pods(ns).Get(t.Context(), "p", metav1.GetOptions{}); err != nil || now.UID != second.UID ||
		now.DeletionTimestamp != nil {
		t.Errorf("the later pod of the name was evicted, too (%v)", err)
	}
}

var guarded = map[string]string{"app": "guarded"}

// runningGuarded is a running pod that disruption budgets may guard.
func runningGuarded(t *testing.T, server *kubetest.Cluster, namespace, nodeName string) *corev1.Pod {
	t.Helper()
	node := kubetest.Create(t, server, kubetest.Node(nodeName, 8))
	return server.WaitRunning(t, kubetest.Create(t, server,
		kubetest.Pod(namespace, "p", kubetest.GPUs(1), kubetest.Labels(guarded), kubetest.OnNode(node.Name))))
}

func TestADisruptionBudgetBlocksAnEvictionAtOnce(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	pod := runningGuarded(t, server, ns, "pdb-blocks")
	kubetest.Create(t, server, kubetest.PodDisruptionBudget(ns, "all", 1, guarded))
	c := connect(t, server.Kubeconfig())
	started := time.Now()
	var blocked *budget.EvictionBlockedError
	err := c.Evict(t.Context(), evictionOf(pod))
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
	pod := runningGuarded(t, server, ns, "pdbs-block")
	kubetest.Create(t, server, kubetest.PodDisruptionBudget(ns, "one", 0, guarded))
	kubetest.Create(t, server, kubetest.PodDisruptionBudget(ns, "two", 0, guarded))
	var blocked *budget.EvictionBlockedError
	err := connect(t, server.Kubeconfig()).Evict(t.Context(), evictionOf(pod))
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
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/eviction"}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: "request.namespace != '" + ns + "'", Message: "hands off"}},
		},
	})
	kubetest.Create(t, server, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	})
	c := connect(t, server.Kubeconfig())
	kubetest.WaitFor(t, "an eviction to be refused", func(ctx context.Context) error {
		pod := kubetest.Create(t, server, kubetest.Pod(ns, "", kubetest.BoundTo("nowhere")))
		var blocked *budget.EvictionBlockedError
		err := c.Evict(ctx, evictionOf(pod))
		if !errors.As(err, &blocked) || !strings.Contains(err.Error(), "hands off") {
			return fmt.Errorf("it was not blocked: %w", err)
		}
		return nil
	})
}

// TestEvictionShortensGracePeriod has pods that take ten years to terminate: an evicted one, and one that was
// deleted before and that no disruption budget protects.
func TestEvictionShortensGracePeriod(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := kubetest.Create(t, server, kubetest.Node("evict-grace", 8))
	c := connect(t, server.Kubeconfig())
	pods := server.Client().CoreV1().Pods(ns)
	slow := func(pod *corev1.Pod) { pod.Spec.TerminationGracePeriodSeconds = new(int64(315360000)) }
	start := func(name string) *corev1.Pod {
		return server.WaitRunning(t, kubetest.Create(t, server,
			kubetest.Pod(ns, name, kubetest.GPUs(1), kubetest.Labels(guarded), kubetest.OnNode(node.Name), kubetest.StopsAfter(time.Hour), slow)))
	}
	left := func(name string) time.Duration {
		t.Helper()
		pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || pod.DeletionTimestamp == nil {
			t.Fatalf("%s: %v", name, err)
		}
		return time.Until(pod.DeletionTimestamp.Time)
	}
	evicted, deleted := start("evicted"), start("deleted")
	if err := c.Evict(t.Context(), evictionOf(evicted)); err != nil {
		t.Fatal(err)
	}
	if err := pods.Delete(t.Context(), "deleted", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if before := left("deleted"); before < 24*time.Hour {
		t.Errorf("deleted by someone, it has %v left", before)
	}
	kubetest.Create(t, server, kubetest.PodDisruptionBudget(ns, "all", 2, guarded))
	if err := c.Evict(t.Context(), evictionOf(deleted)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"evicted", "deleted"} {
		if now := left(name); now > time.Minute {
			t.Errorf("%s has %v left", name, now)
		}
		if err := pods.Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
			t.Error(err)
		}
	}
}

// TestAWaitingPodIsEvictedWhileItWaits has a disruption budget guard a pod that waits
// for GPUs, for which it is not consulted, also if its node is gone. One that started meanwhile stays.
func TestAWaitingPodIsEvictedWhileItWaits(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	pods := server.Client().CoreV1().Pods(ns)
	kubetest.Create(t, server, kubetest.PodDisruptionBudget(ns, "all", 2, guarded))
	start := func(name string, labels map[string]string) *corev1.Pod {
		return kubetest.Create(t, server, kubetest.Pod(ns, name, kubetest.GPUs(1), kubetest.Labels(labels), kubetest.OnNode("evict-waiting-"+name)))
	}
	waits, bound := start("waits", guarded), start("bound", nil)
	orphan := kubetest.Create(t, server, kubetest.Pod(ns, "orphan", kubetest.GPUs(1), kubetest.Labels(guarded), kubetest.BoundTo("evict-waiting-gone")))
	eviction := func(p *corev1.Pod) budget.Eviction {
		e := evictionOf(p)
		e.Waiting = p.ResourceVersion
		return e
	}
	found, err := c.WaitingPods(t.Context(), []string{ns}, gpu.Rules{})
	if err != nil || len(found) != 3 || found[0].ResourceVersion == "" {
		t.Fatalf("waiting are %+v (%v)", found, err)
	}
	kubetest.Create(t, server, kubetest.Node("evict-waiting-bound", 8))
	server.WaitRunning(t, bound)
	if err := c.Evict(t.Context(), eviction(waits)); err != nil { // the scheduler wrote to it since
		t.Error(err)
	}
	server.WaitGone(t, waits)
	if err := c.Evict(t.Context(), eviction(orphan)); err != nil { // bound to a node that never started it
		t.Error(err)
	}
	var blocked *budget.EvictionBlockedError
	if err := c.Evict(t.Context(), eviction(bound)); !errors.As(err, &blocked) || !strings.Contains(err.Error(), "started it meanwhile") {
		t.Errorf("got %v, want it blocked", err)
	}
	if now, err := pods.Get(t.Context(), "bound", metav1.GetOptions{}); err != nil || now.DeletionTimestamp != nil {
		t.Errorf("it was evicted though it runs: %v", err)
	}
	found, err = c.WaitingPods(t.Context(), []string{ns}, gpu.Rules{})
	if err != nil || slices.ContainsFunc(found, func(p gpu.Pod) bool { return p.Deletion == 0 }) {
		t.Errorf("waiting are %+v (%v)", found, err)
	}
}
