package endtoend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// TestEvictedPodDoesNotComeBack shows that a Deployment brings an evicted pod
// back, and that it does not after gpupool froze and evicted.
func TestEvictedPodDoesNotComeBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Evict))
	kubetest.Create(t, r.server, kubetest.Deployment(r.namespace, "train", 1, team, kubetest.GPUs(2)))
	first := r.waitForPods(1)[0]
	if err := r.evict(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	r.server.WaitGone(t, &first)
	second := r.waitForPods(1)[0] // it is back

	report := r.runUntil("an eviction", has("done evict "+second.Name))
	if diff := cmp.Diff([]string{"done alert", "done freeze", "done evict " + second.Name}, decided(report)); diff != "" {
		t.Errorf("decisions (-want +got)\n%s", diff)
	}
	used := report.Budgets[0].ConsumedMilliGPUSeconds
	r.server.WaitGone(t, &second)
	r.wantEvent("GPUBudgetFreeze", "Namespace", r.namespace)
	r.wantEvent("GPUBudgetEvict", "Pod", second.Name)
	kubetest.WaitFor(t, "the Deployment to fail to bring the pod back", func(ctx context.Context) error {
		sets, err := r.server.Client().AppsV1().ReplicaSets(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, condition := range sets.Items[0].Status.Conditions {
			if condition.Type == "ReplicaFailure" && strings.Contains(condition.Message, "gpupool") {
				return nil
			}
		}
		return fmt.Errorf("conditions: %v", sets.Items[0].Status.Conditions)
	})
	r.waitForPods(0)
	after := r.run(reconcile.RunOptions{})
	if now := after.Budgets[0].ConsumedMilliGPUSeconds; now < used {
		t.Errorf("usage fell from %d to %d when pods were evicted", used, now)
	}
	if len(after.Decisions) > 0 {
		t.Errorf("the next run decided %v", decided(after))
	}
}

// wantEvent finds exactly one Event of a reason, which is about one object.
func (r *rig) wantEvent(reason, kind, name string) {
	r.t.Helper()
	events, err := r.server.Client().CoreV1().Events(r.namespace).List(r.t.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason})
	if err != nil {
		r.t.Fatal(err)
	}
	if len(events.Items) != 1 || events.Items[0].InvolvedObject.Kind != kind || events.Items[0].InvolvedObject.Name != name ||
		!strings.Contains(events.Items[0].Message, "team-a") {
		r.t.Errorf("the Events %s: %+v", reason, events.Items)
	}
}

// TestDisruptionBudgetPassesOn shows that a disruption budget blocks an eviction,
// and that the next victim goes instead.
func TestDisruptionBudgetPassesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Evict), func(d *budget.Declaration) {
		d.Enforce.MaxEvictionsPerRun, d.Enforce.EvictionOrder, d.GPUHours = 1, budget.NewestStart, "0.01"
	})
	open := r.start("open")
	time.Sleep(1100 * time.Millisecond) // starts are told apart in seconds
	guarded := r.start("guarded", kubetest.Labels(map[string]string{"app": "guarded"}))
	kubetest.Create(t, r.server, kubetest.PodDisruptionBudget(r.namespace, "guard", 1, map[string]string{"app": "guarded"}))
	kubetest.WaitFor(t, "the disruption budget to be observed", func(ctx context.Context) error {
		pdb, err := r.server.Client().PolicyV1().PodDisruptionBudgets(r.namespace).Get(ctx, "guard", metav1.GetOptions{})
		if err == nil && pdb.Status.CurrentHealthy != 1 {
			err = errors.New("not yet")
		}
		return err
	})
	if err := r.evict(t.Context(), guarded); !apierrors.IsTooManyRequests(err) {
		t.Fatalf("without gpupool the eviction is answered %v, want 429", err)
	}
	report := r.runUntil("an eviction", has("done evict open"))
	want := []string{"done alert", "done freeze", "skipped evict guarded", "done evict open"}
	if got := decided(report); !slices.Equal(got, want) {
		t.Errorf("decisions %v, want %v", got, want)
	}
	r.server.WaitGone(t, open)
	r.stillThere(guarded)
}

// TestFreezeIsSelectiveAndLifted stops the budget's pods with GPUs, and no others in the
// namespace, and allows them again once usage has fallen.
func TestFreezeIsSelectiveAndLifted(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Freeze), func(d *budget.Declaration) { d.Window, d.GPUHours = "1m", "0.005" })
	r.waitAdmitted(true, team, kubetest.GPUs(1)) // without gpupool
	pod := r.start("runs", kubetest.GPUs(8))
	r.runUntil("a freeze", has("done freeze"))
	r.waitAdmitted(false, team, kubetest.GPUs(1))
	r.waitAdmitted(false, team, kubetest.InitContainer("prepare", "nvidia.com/gpu", "1", time.Second))
	r.waitAdmitted(true, team)
	r.waitAdmitted(true, kubetest.GPUs(1))
	r.stillThere(pod)
	if err := r.server.Client().CoreV1().Pods(r.namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.runUntil("the freeze to be lifted", has("done unfreeze"))
	r.waitAdmitted(true, team, kubetest.GPUs(1))
}

// TestPauseIsUndone suspends what can be suspended, reports what can't, and
// gives everything its former size back once usage has fallen.
func TestPauseIsUndone(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Pause), func(d *budget.Declaration) { d.Window, d.GPUHours = "1m", "0.01" })
	gpus := kubetest.GPUs(1)
	kubetest.Create(t, r.server, kubetest.Deployment(r.namespace, "serve", 2, team, gpus))
	kubetest.Create(t, r.server, kubetest.StatefulSet(r.namespace, "store", 1, team, gpus))
	kubetest.Create(t, r.server, kubetest.Job(r.namespace, "train", 1, team, gpus))
	r.waitForPods(4)
	report := r.runUntil("pauses", has("done suspend Job"))
	for _, owner := range []string{"Deployment", "StatefulSet", "Job"} {
		if !has("done suspend " + owner)(report) {
			t.Errorf("the %s was not paused: %v", owner, decided(report))
		}
	}
	r.waitForPods(0)
	if again := r.run(reconcile.RunOptions{}); len(again.Decisions) > 0 {
		t.Errorf("the next run decided %v", decided(again))
	}
	r.runUntil("everything to be resumed", has("done resume Job"))
	r.waitForPods(4)
}

// TestLowerLimitLeavesItsGrace lowers a limit far below usage: no pod is evicted for the grace
// period from then on.
func TestLowerLimitLeavesItsGrace(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Evict), func(d *budget.Declaration) { d.GPUHours, d.Enforce.GracePeriod = "1000", "8s" })
	pod := r.start("runs", kubetest.GPUs(8))
	time.Sleep(2 * time.Second)
	r.run(reconcile.RunOptions{})
	lowered := r.budget
	lowered.GPUHours = "0.001"
	state, err := r.process().Budgets().Update(t.Context(), lowered)
	if err != nil {
		t.Fatal(err)
	}
	for time.Since(state.Declaration.PublishedAt) < 7*time.Second {
		if report := r.run(reconcile.RunOptions{}); *report.Budgets[0].Exceeded && len(report.Budgets[0].Enforced) > 0 {
			t.Fatalf("it enforced %v within the grace", report.Budgets[0].Enforced)
		}
		r.stillThere(pod)
		time.Sleep(500 * time.Millisecond)
	}
	r.runUntil("an eviction", has("done evict runs"))
	r.server.WaitGone(t, pod)
}

// TestProtectedPodsStay evicts around protected pods.
func TestProtectedPodsStay(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Evict))
	class := kubetest.Create(t, r.server, kubetest.PriorityClass(r.namespace, 1000))
	t.Cleanup(func() {
		_ = r.server.Client().SchedulingV1().PriorityClasses().Delete(context.Background(), class.Name, metav1.DeleteOptions{})
	})
	changed := r.budget
	changed.Enforce.ProtectedPriorityClass = class.Name
	if _, err := r.process().Budgets().Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	annotated := r.start("annotated", kubetest.Annotation("gpupool/protected", "true"))
	important := r.start("important", kubetest.Priority(class.Name))
	other := r.server.WaitRunning(t, kubetest.Create(t, r.server, kubetest.Pod(r.namespace, "other", kubetest.GPUs(1))))
	plain := r.start("plain", kubetest.GPUs(4))
	report := r.runUntil("an eviction", has("done evict plain"))
	if slices.ContainsFunc(decided(report), func(s string) bool { return strings.Contains(s, "evict") && s != "done evict plain" }) {
		t.Errorf("decisions %v", decided(report))
	}
	r.server.WaitGone(t, plain)
	if again := r.run(reconcile.RunOptions{}); len(again.Decisions) > 0 || len(again.Budgets[0].Warnings) == 0 {
		t.Errorf("the next run decided %v, and warned of %v", decided(again), again.Budgets[0].Warnings)
	}
	r.stillThere(annotated, important, other)
}

// TestDryRunDoesNothing plans what a run would do, and changes nothing.
func TestDryRunDoesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Evict))
	pod := r.start("runs", kubetest.GPUs(8))
	time.Sleep(2 * time.Second)
	report := r.run(reconcile.RunOptions{DryRun: true})
	want := []string{"planned alert", "planned freeze", "planned evict runs"}
	if got := decided(report); !slices.Equal(got, want) {
		t.Errorf("decisions %v, want %v", got, want)
	}
	r.stillThere(pod)
	r.waitAdmitted(true, team, kubetest.GPUs(1))
	events, err := r.server.Client().CoreV1().Events(r.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range events.Items {
		if strings.HasPrefix(event.Reason, "GPUBudget") {
			t.Errorf("there is an Event: %s", event.Message)
		}
	}
	for call := range report.Calls {
		for _, verb := range []string{"create", "update", "patch", "delete"} {
			if strings.HasPrefix(call, verb+" ") {
				t.Errorf("a dry run called %s", call)
			}
		}
	}
}

// TestAlertIsAnEvent reports a threshold in the pods' namespace, once.
func TestAlertIsAnEvent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.start("runs", kubetest.GPUs(4))
	r.runUntil("an alert", has("done alert"))
	if again := r.run(reconcile.RunOptions{}); len(again.Decisions) > 0 {
		t.Errorf("the next run decided %v", decided(again))
	}
	events, err := r.server.Client().CoreV1().Events(r.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	told := slices.DeleteFunc(events.Items, func(e corev1.Event) bool { return e.Reason != "GPUBudgetThreshold" })
	if len(told) != 1 || told[0].Type != corev1.EventTypeWarning || !strings.Contains(told[0].Message, "team-a") {
		t.Errorf("the Events: %+v", told)
	}
}

// elsewhere is a cluster as it would be under another uid.
type elsewhere struct{ reconcile.Cluster }

func (elsewhere) UID(context.Context) (string, error) {
	return "99999999-2222-3333-4444-555555555555", nil
}

// TestWrongClusterIsRefused runs against another cluster than the budget's.
func TestWrongClusterIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Evict))
	pod := r.start("runs", kubetest.GPUs(8))
	time.Sleep(2 * time.Second)
	p := r.process()
	right := p.Cluster
	p.Cluster = func(ctx context.Context) (reconcile.Cluster, error) {
		c, err := right(ctx)
		return elsewhere{c}, err
	}
	report, err := p.Runner().Run(t.Context(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != outcome.Failed || !strings.Contains(report.Budgets[0].Error.Message, "Nothing was changed") {
		t.Errorf("got %v, %+v", err, report.Budgets)
	}
	r.stillThere(pod)
	r.waitAdmitted(true, team, kubetest.GPUs(1))
	r.runUntil("the right cluster to be enforced", has("done evict runs"))
}
