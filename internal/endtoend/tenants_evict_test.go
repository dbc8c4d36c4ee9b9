package endtoend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

const decades = 315_360_000

// waitGone waits until a pod of the tenant's is gone, for so long.
func (s *tenancy) waitGone(name string, within time.Duration) {
	s.t.Helper()
	for deadline := time.Now().Add(within); s.pod(name) != nil; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Errorf("%s is still there after %s", name, within)
			return
		}
	}
}

// left fails unless the pod exists and is unchanged.
func (s *tenancy) left(name string) {
	s.t.Helper()
	if pod := s.pod(name); pod == nil || pod.DeletionTimestamp != nil {
		s.t.Errorf("%s was ended", name)
	}
}

// TestAnEndlessGraceEnds has tenants' pods ignore SIGTERM for ten years: one that
// is evicted, and one that the tenant deleted himself, before.
func TestAnEndlessGraceEnds(t *testing.T) {
	t.Parallel()
	s := newTenancy(t, 8)
	s.declareOwn(`{"gpu_hours":"0.001","enforcement":{"max_grace_period":"3s"}}`)
	for _, name := range []string{"runs", "ends"} {
		s.create(s.editor, name, kubetest.GPUs(2), s.onNode(1), kubetest.IgnoresSIGTERM(decades))
		s.server.WaitRunning(t, s.pod(name))
	}
	if err := s.editor.CoreV1().Pods(s.namespace).Delete(t.Context(), "ends", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r := s.turnUntil("an eviction", s.exceeded("own"))
	for range 3 { // until they are gone, they hold GPUs and are reported
		if s.pod("runs") != nil && !strings.Contains(r.text, "runs") {
			t.Errorf("nothing is said of a pod that still holds GPUs:\n%s", r.text)
		}
		time.Sleep(time.Second)
		r = s.turn()
	}
	s.waitGone("runs", 10*time.Second)
	s.waitGone("ends", 10*time.Second)
	s.wantUsage(s.turn(), "own", s.ofTenant)
}

// TestOnesOwnProtection: a tenant's own protection of pods holds unless the budget says
// otherwise. Their hours count in any case.
func TestOnesOwnProtection(t *testing.T) {
	t.Parallel()
	for honored, document := range map[bool]string{
		true:  `{"gpu_hours":"0.001","enforcement":{"honor_pod_protection":true}}`,
		false: `{"gpu_hours":"0.001","enforcement":{"honor_pod_protection":false}}`,
	} {
		t.Run(fmt.Sprint(honored), func(t *testing.T) {
			t.Parallel()
			s := newTenancy(t, 8)
			s.declareOwn(document)
			s.create(s.creator, "protected", kubetest.GPUs(4), s.onNode(1), kubetest.Annotation("gpupool/protected", "true"))
			r := s.turnUntil("the budget to be enforced", func(r turn) bool { return *s.budget(r, "own").Exceeded })
			s.turn()
			if honored {
				s.left("protected")
				if len(s.budget(s.turn(), "own").Warnings) == 0 {
					t.Errorf("nothing warns of a pod that is spared:\n%s", r.text)
				}
			} else {
				s.waitGone("protected", 15*time.Second)
			}
			s.wantUsage(s.turn(), "own", s.ofTenant)
		})
	}
}

// TestADisruptionBudgetOfAll: a tenant allows no disruption. Running pods stay and are
// reported; pending ones are evicted.
func TestADisruptionBudgetOfAll(t *testing.T) {
	t.Parallel()
	s := newTenancy(t, 4)
	s.declareOwn(`{"gpu_hours":"0.001"}`)
	all := kubetest.Labels(map[string]string{"app": "all"})
	pdb := kubetest.PodDisruptionBudget(s.namespace, "none", 1000, map[string]string{"app": "all"})
	if _, err := s.editor.PolicyV1().PodDisruptionBudgets(s.namespace).Create(t.Context(), pdb, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.create(s.editor, "runs", all, kubetest.GPUs(4), kubetest.OnNode(s.nodes[1].Name))
	s.server.WaitRunning(t, s.pod("runs"))
	s.create(s.editor, "waits", all, kubetest.GPUs(4), kubetest.OnNode(s.nodes[1].Name))
	kubetest.WaitFor(t, "the disruption budget to be observed", func(ctx context.Context) error {
		now, err := s.editor.PolicyV1().PodDisruptionBudgets(s.namespace).Get(ctx, "none", metav1.GetOptions{})
		if err == nil && (now.Status.ObservedGeneration == 0 || now.Status.CurrentHealthy != 1) {
			err = errors.New("not yet")
		}
		return err
	})
	s.turnUntil("the budget to be enforced", s.exceeded("own"))
	r := s.turn()
	s.left("runs")
	s.waitGone("waits", 10*time.Second)
	if !strings.Contains(r.text, "disruption budget") {
		t.Errorf("nothing is said of the disruption budget:\n%s", r.text)
	}
}

// TestWaitingPodsOfAJobAreTold has waiting pods of two Jobs: those of the one
// that would count their eviction as its failure are left.
func TestWaitingPodsOfAJobAreTold(t *testing.T) {
	t.Parallel()
	s := newTenancy(t, 2)
	s.declareOwn(`{"gpu_hours":"0.001","enforcement":{"max_evictions_per_run":1}}`)
	// It keeps its GPUs: a Job's pod that got them would be evicted as one that runs.
	s.create(s.editor, "runs", kubetest.GPUs(2), kubetest.Annotation("gpupool/protected", "true"), kubetest.OnNode(s.nodes[1].Name))
	s.server.WaitRunning(t, s.pod("runs"))
	for _, name := range []string{"counts", "ignores"} {
		job := kubetest.Job(s.namespace, name, 1, kubetest.GPUs(2), kubetest.OnNode(s.nodes[1].Name))
		if name == "ignores" {
			job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action:          batchv1.PodFailurePolicyActionIgnore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "DisruptionTarget", Status: "True"}},
			}}}
		}
		if _, err := s.editor.BatchV1().Jobs(s.namespace).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	waiting := func(job string) (names []string) {
		list, err := s.editor.CoreV1().Pods(s.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + job})
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range list.Items {
			if pod.DeletionTimestamp == nil && pod.Spec.NodeName == "" {
				names = append(names, pod.Name)
			}
		}
		return names
	}
	kubetest.WaitFor(t, "the Jobs' pods to wait", func(context.Context) error {
		if len(waiting("counts")) != 1 || len(waiting("ignores")) != 1 {
			return errors.New("they don't")
		}
		return nil
	})
	s.turnUntil("the budget to be enforced", s.exceeded("own"))
	kubetest.WaitFor(t, "the pods that may be evicted to be gone", func(context.Context) error {
		if left := waiting("ignores"); len(left) > 0 {
			return fmt.Errorf("%v wait", left)
		}
		return nil
	})
	if r := s.turn(); !strings.Contains(r.text, "wait") {
		t.Errorf("nothing is said of a Job's pods that wait:\n%s", r.text)
	}
	job, err := s.editor.BatchV1().Jobs(s.namespace).Get(t.Context(), "counts", metav1.GetOptions{})
	if err != nil || job.Status.Failed > 0 {
		t.Errorf("the Job counts %d failures: %v", job.Status.Failed, err)
	}
}
