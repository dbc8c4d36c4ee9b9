package kube_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kube"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

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
	err = c.Alert(t.Context(), reconcile.Alert{
		Namespace: ns, Budget: "b", BudgetUID: "budget-1", Reason: "GPUBudgetPause", Message: "m",
		About: new(workloadOf("apps/v1", "ReplicaSet", &sets.Items[0])),
	})
	events, listErr := server.Client().CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=GPUBudgetPause"})
	if err := errors.Join(err, listErr); err != nil || len(events.Items) != 1 || events.Items[0].InvolvedObject.Kind != "Deployment" || events.Items[0].InvolvedObject.UID != d.UID {
		t.Errorf("the pause of a Deployment is told of by %+v (%v)", events.Items, err)
	}
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

// TestAStatefulSetThatWouldLoseItsVolumesIsNotPaused has one whose claims go with
// its pods.
func TestAStatefulSetThatWouldLoseItsVolumesIsNotPaused(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	s := kubetest.StatefulSet(ns, "ckpt", 1, kubetest.GPUs(1))
	s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType, WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
	}
	s.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
		ObjectMeta: metav1.ObjectMeta{Name: "ckpt"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}}
	s = kubetest.Create(t, server, s)
	if got := mustNotPause(t, look(t, server.Kubeconfig()), workloadOf("apps/v1", "StatefulSet", s)); !strings.Contains(got, "whenScaled is Delete") {
		t.Errorf("got %q", got)
	}
	if now, err := server.Client().AppsV1().StatefulSets(ns).Get(t.Context(), "ckpt", metav1.GetOptions{}); err != nil || *now.Spec.Replicas != 1 {
		t.Errorf("it was scaled: %v", err)
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
