package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// workloadOf names an object as budgets do.
func workloadOf(apiVersion, kind string, o metav1.Object) budget.Workload {
	return budget.Workload{Namespace: o.GetNamespace(), Owner: ledger.Owner{APIVersion: apiVersion, Kind: kind, Name: o.GetName(), UID: string(o.GetUID())}}
}

// seen looks at a workload.
func seen(t *testing.T, c *kubecluster.Cluster, w budget.Workload) budget.WorkloadState {
	t.Helper()
	state, err := c.Workload(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return state
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
	c := connect(t, server.Kubeconfig())
	workloads := []budget.Workload{workloadOf("apps/v1", "Deployment", d), workloadOf("apps/v1", "StatefulSet", s), workloadOf("batch/v1", "Job", j)}
	before := map[string]int32{}
	for _, w := range workloads {
		state := seen(t, c, w)
		if state.Stopped || !state.PauseObstacle.IsZero() {
			t.Errorf("%s: stopped %t, driven: %s", w, state.Stopped, state.PauseObstacle)
		}
		before[w.UID] = state.Replicas
		stale := state
		stale.ResourceVersion = "1"
		if err := c.Pause(t.Context(), stale); !errors.Is(err, budget.ErrWorkloadChanged) {
			t.Errorf("%s as it was before a change: %v", w, err)
		}
		// The status changes the resource version, again and again.
		kubetest.WaitFor(t, "a pause of "+w.String(), func(ctx context.Context) error { return c.Pause(ctx, seen(t, c, w)) })
	}
	waitFor("0/0 0/0 true/0")
	for _, w := range workloads {
		if state := seen(t, c, w); !state.Stopped {
			t.Errorf("%s is not seen stopped", w)
		}
		kubetest.WaitFor(t, "a resumption of "+w.String(), func(ctx context.Context) error { return c.Resume(ctx, seen(t, c, w), before[w.UID]) })
	}
	waitFor("2/2 3/3 false/1")
	for call := range c.Calls() {
		if strings.HasPrefix(call, "update ") && !strings.HasSuffix(call, "/scale") {
			t.Errorf("it called %s", call)
		}
	}
}

// TestAnAutoscalerStopsAtZero: the controller of autoscalers does not scale a paused Deployment, and scales it
// again once it is resumed.
func TestAnAutoscalerStopsAtZero(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	d := workloadOf("apps/v1", "Deployment", kubetest.Create(t, server, kubetest.Deployment(ns, "d", 1)))
	kubetest.Create(t, server, &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "d"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"},
			MinReplicas:    new(int32(2)), MaxReplicas: 3,
		},
	})
	scaled := func(replicas int32, reason string) {
		t.Helper()
		kubetest.WaitFor(t, fmt.Sprintf("%d replicas, %s", replicas, reason), func(ctx context.Context) error {
			h, err := server.Client().AutoscalingV2().HorizontalPodAutoscalers(ns).Get(ctx, "d", metav1.GetOptions{})
			if err != nil {
				return err
			}
			stopped := slices.ContainsFunc(h.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
				return c.Type == autoscalingv2.ScalingActive && c.Reason == "ScalingDisabled"
			})
			if got := seen(t, c, d).Replicas; got != replicas || stopped != (reason == "stopped") {
				return fmt.Errorf("it has %d, and the conditions are %+v", got, h.Status.Conditions)
			}
			return nil
		})
	}
	scaled(2, "scaling")
	kubetest.WaitFor(t, "a pause", func(ctx context.Context) error { return c.Pause(ctx, seen(t, c, d)) })
	scaled(0, "stopped")
	kubetest.WaitFor(t, "a resumption", func(ctx context.Context) error { return c.Resume(ctx, seen(t, c, d), 1) })
	scaled(2, "scaling")
}

// mustNotPause returns why a workload must not be paused.
func mustNotPause(t *testing.T, c *kubecluster.Cluster, w budget.Workload) string {
	t.Helper()
	state, err := c.Workload(t.Context(), w)
	if err != nil {
		var not *budget.NotPausedError
		if !errors.As(err, &not) {
			t.Fatal(err)
		}
		return not.Why.String()
	}
	scaler, err := c.Autoscaler(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if !scaler.FromZero {
		return state.PauseObstacle.String()
	}
	return state.PauseObstacle.String() + scaler.String()
}

func TestWhatSomeoneElseDrivesIsNotFoughtOver(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	deployments := server.Client().AppsV1().Deployments(ns)
	makeOne := func(name string) budget.Workload {
		return workloadOf("apps/v1", "Deployment", kubetest.Create(t, server, kubetest.Deployment(ns, name, 1)))
	}
	autoscaler := func(name string, change func(*autoscalingv2.HorizontalPodAutoscaler)) budget.Workload {
		h := &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "of-" + name}, MaxReplicas: 3,
			},
		}
		change(h)
		kubetest.Create(t, server, h)
		return makeOne("of-" + name)
	}
	byKEDA := autoscaler("keda", func(h *autoscalingv2.HorizontalPodAutoscaler) {
		h.OwnerReferences = []metav1.OwnerReference{{APIVersion: "keda.sh/v1alpha1", Kind: "ScaledObject", Name: "a", UID: "1", Controller: new(true)}}
	})
	usual := autoscaler("usual", func(*autoscalingv2.HorizontalPodAutoscaler) {})
	applied := makeOne("applied")
	for subresource, patch := range map[string]string{
		"":      `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"applied"},"spec":{"replicas":1}}`,
		"scale": `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"applied"},"spec":{"replicas":1}}`,
	} {
		if _, err := deployments.Patch(t.Context(), "applied", types.ApplyPatchType, []byte(patch),
			metav1.PatchOptions{FieldManager: "argocd-controller" + subresource, Force: new(true)}, subresource); err != nil {
			t.Fatal(err)
		}
	}
	for name, w := range map[string]budget.Workload{"an autoscaler that stops at zero": usual, "field managers": applied} {
		if got := mustNotPause(t, c, w); got != "" {
			t.Errorf("%s keep it from being paused: %s", name, got)
		}
	}
	controlled := makeOne("controlled")
	owner := `{"metadata":{"ownerReferences":[{"apiVersion":"ray.io/v1","kind":"RayCluster","name":"ray","uid":"1","controller":true}]}}`
	if _, err := deployments.Patch(t.Context(), "controlled", types.MergePatchType, []byte(owner), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	queued := kubetest.Job(ns, "queued", 1)
	queued.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "main"}
	for want, w := range map[string]budget.Workload{
		"HorizontalPodAutoscaler keda": byKEDA,
		"RayCluster ray":               controlled,
		"Kueue":                        workloadOf("batch/v1", "Job", kubetest.Create(t, server, queued)),
		"change its nodeSelector":      {Namespace: ns, Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "x"}},
		"its operator":                 {Namespace: ns, Owner: ledger.Owner{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: "x"}},
		"it is gone":                   {Namespace: ns, Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "no-such"}},
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
	if got := mustNotPause(t, connect(t, server.Kubeconfig()), workloadOf("apps/v1", "StatefulSet", s)); !strings.Contains(got, "whenScaled is Delete") {
		t.Errorf("got %q", got)
	}
	if now, err := server.Client().AppsV1().StatefulSets(ns).Get(t.Context(), "ckpt", metav1.GetOptions{}); err != nil || *now.Spec.Replicas != 1 {
		t.Errorf("it was scaled: %v", err)
	}
}
