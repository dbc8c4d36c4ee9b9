package endtoend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/endtoend/processtest"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// rig is a namespace of a cluster, a store, and a budget for the namespace's
// pods of team a.
type rig struct {
	t         *testing.T
	server    *kubetest.Cluster
	namespace string
	dir       string
	budget    budget.Declaration
	// ineffective lets runs fail because a pause does not reach pods.
	ineffective bool
}

var team = kubetest.Labels(map[string]string{"team": "a"})

// newRig declares a budget of 3.6 GPU-seconds, which a few GPUs use up at once.
func newRig(t *testing.T, changes ...func(*budget.Declaration)) *rig {
	t.Helper()
	server := kubetest.Start(t)
	kubetest.Ensure(t, server, kubecluster.FreezePolicy())
	kubetest.Ensure(t, server, kubecluster.FreezeSlots(len(kubecluster.FreezeSlotNames()))...)
	r := &rig{t: t, server: server, namespace: server.Namespace(t), dir: t.TempDir() + "/store"}
	d := budget.Declaration{
		Name: "team-a", GPUHours: "0.001", Window: "24h", Thresholds: []int{100},
		Selector: budget.Selector{Namespaces: []string{r.namespace}, MatchLabels: map[string]string{"team": "a"}},
		Enforce:  budget.Enforcement{Action: budget.AlertOnly, GracePeriod: "0s"},
	}
	for _, change := range changes {
		change(&d)
	}
	state, err := r.process().Budgets().Create(t.Context(), d.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	r.budget = state.Declaration
	t.Cleanup(func() {
		_, _ = r.process().Budgets().Delete(context.Background(), r.budget) // a test may have done so
	})
	return r
}

func enforcing(a budget.Action) func(*budget.Declaration) {
	return func(d *budget.Declaration) { d.Enforce.Action = a }
}

func (r *rig) process() reconcile.World {
	r.t.Helper()
	return processtest.Place{Dir: r.dir, Kubeconfig: r.server.Kubeconfig()}.Process(r.t, "test")
}

// run runs once, and fails the test where the budget failed.
func (r *rig) run(o reconcile.RunOptions) reconcile.Report {
	r.t.Helper()
	report, err := r.process().Runner().Run(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	if b := report.Budgets[0]; b.Outcome == outcome.Failed && !(r.ineffective && strings.Contains(b.Error.Message, " cannot be paused: ")) {
		r.t.Fatalf("the budget failed: %s", b.Error.Message)
	}
	return report
}

func (r *rig) runUntil(what string, is func(reconcile.Report) bool) reconcile.Report {
	r.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(500 * time.Millisecond) {
		report := r.run(reconcile.RunOptions{})
		if is(report) {
			return report
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("no run came to %s; the last one: %v, %+v", what, decided(report), report.Budgets[0])
		}
	}
}

func has(decision string) func(reconcile.Report) bool {
	return func(report reconcile.Report) bool {
		for _, d := range decided(report) {
			if d == decision {
				return true
			}
		}
		return false
	}
}

// decided lists a report's decisions as "outcome kind what".
func decided(r reconcile.Report) []string {
	var list []string
	for _, d := range r.Decisions {
		text, of := string(d.Outcome)+" "+d.Kind(), d.Decision.(budget.Decision)
		switch {
		case of.Pod != nil:
			text += " " + of.Pod.Name
		case of.Owner != nil:
			text += " " + of.Owner.Kind
		}
		list = append(list, text)
	}
	return list
}

// start creates a pod of team a with GPUs, and waits until it runs.
func (r *rig) start(name string, options ...kubetest.PodOption) *corev1.Pod {
	r.t.Helper()
	options = append([]kubetest.PodOption{team, kubetest.GPUs(1)}, options...)
	return r.server.WaitRunning(r.t, kubetest.Create(r.t, r.server, kubetest.Pod(r.namespace, name, options...)))
}

// pods lists what is in the namespace and not on its way out.
func (r *rig) pods(ctx context.Context) ([]corev1.Pod, error) {
	list, err := r.server.Client().CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var there []corev1.Pod
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			there = append(there, pod)
		}
	}
	return there, nil
}

// waitForPods waits until as many pods of the namespace run, and returns them.
func (r *rig) waitForPods(count int) (running []corev1.Pod) {
	r.t.Helper()
	kubetest.WaitFor(r.t, fmt.Sprintf("%d running pods", count), func(ctx context.Context) error {
		pods, err := r.pods(ctx)
		if err != nil {
			return err
		}
		running = nil
		for _, pod := range pods {
			if pod.Status.Phase == corev1.PodRunning {
				running = append(running, pod)
			}
		}
		if len(running) != count || len(pods) != count {
			return fmt.Errorf("%d of %d run", len(running), len(pods))
		}
		return nil
	})
	return running
}

// stillThere fails unless exactly these pods exist and are unchanged.
func (r *rig) stillThere(pods ...*corev1.Pod) {
	r.t.Helper()
	for _, pod := range pods {
		now, err := r.server.Client().CoreV1().Pods(pod.Namespace).Get(r.t.Context(), pod.Name, metav1.GetOptions{})
		if err != nil || now.UID != pod.UID || now.DeletionTimestamp != nil {
			r.t.Errorf("the pod %s is not left alone: %v", pod.Name, err)
		}
	}
}

// evict asks for an eviction as anyone would, without gpupool.
func (r *rig) evict(ctx context.Context, pod *corev1.Pod) error {
	return r.server.Client().CoreV1().Pods(pod.Namespace).EvictV1(ctx,
		&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}})
}

// admitted asks whether the API server would take a pod. Nothing is created.
func (r *rig) admitted(ctx context.Context, pod *corev1.Pod) (bool, error) {
	_, err := r.server.Client().CoreV1().Pods(r.namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil && (apierrors.IsForbidden(err) || apierrors.IsInvalid(err)) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
		return false, nil
	}
	return err == nil, err
}

// waitAdmitted waits until the API server takes pods such as this, or refuses
// them.
func (r *rig) waitAdmitted(want bool, options ...kubetest.PodOption) {
	r.t.Helper()
	kubetest.WaitFor(r.t, fmt.Sprintf("a pod's admission to be %v", want), func(ctx context.Context) error {
		got, err := r.admitted(ctx, kubetest.Pod(r.namespace, "candidate", options...))
		if err == nil && got != want {
			err = errors.New("not yet")
		}
		return err
	})
}
