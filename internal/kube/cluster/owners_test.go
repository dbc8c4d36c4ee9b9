package cluster_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// ownerOf asks whose a pod is that has labels and names an owner.
func ownerOf(t *testing.T, c *kubecluster.Cluster, labels map[string]string, owner budget.Workload) budget.Ownership {
	t.Helper()
	p := budget.Pod{
		Pod: gpu.Pod{UID: "pod", Namespace: owner.Namespace, Name: "pod", Owner: &owner.Owner},
		Set: &ledger.LabelSet{Namespace: owner.Namespace, Labels: ledger.LabelsOf(labels)},
	}
	owners, err := c.Owners(t.Context(), []budget.Pod{p}, gpu.Rules{Weights: map[string]string{"example.com/npu": "1", "amd.com/gpu": "0"}})
	if err != nil {
		t.Fatal(err)
	}
	return owners[p.UID]
}

// podOf waits for a pod of a workload, and says what it names as its owner.
func podOf(t *testing.T, server *kubetest.Cluster, ns, app string) (*corev1.Pod, budget.Workload) {
	t.Helper()
	var pod corev1.Pod
	kubetest.WaitFor(t, "a pod of "+app, func(ctx context.Context) error {
		list, err := server.Client().CoreV1().Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
		if err != nil || len(list.Items) == 0 {
			return fmt.Errorf("there is none (%w)", err)
		}
		pod = list.Items[0]
		return nil
	})
	o := metav1.GetControllerOf(&pod)
	return &pod, budget.Workload{Namespace: ns, Owner: ledger.Owner{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: string(o.UID)}}
}

func TestOwnersAreWhatTheClusterHas(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	d := kubetest.Create(t, server, kubetest.Deployment(ns, "d", 1, kubetest.GPUs(1)))
	s := kubetest.Create(t, server, kubetest.StatefulSet(ns, "s", 1, kubetest.Resource("example.com/npu", "1")))
	j := kubetest.Create(t, server, kubetest.Job(ns, "j", 1, kubetest.ClaimTemplate("gpus")))
	kubetest.Create(t, server, kubetest.Deployment(ns, "api", 1))
	kubetest.Create(t, server, kubetest.Deployment(ns, "amd", 1, kubetest.Resource("amd.com/gpu", "1")))
	for app, want := range map[string]budget.Workload{
		"d": workloadOf("apps/v1", "Deployment", d), "s": workloadOf("apps/v1", "StatefulSet", s), "j": workloadOf("batch/v1", "Job", j),
	} {
		pod, owner := podOf(t, server, ns, app)
		if got := ownerOf(t, c, pod.Labels, owner); got.Workload != want || got.Stopped {
			t.Errorf("the pod of %s is of %+v", app, got)
		}
		if got := ownerOf(t, c, map[string]string{"team": "a"}, owner); got.Workload.Name != "" ||
			!strings.Contains(got.Reason.String(), "does not select it") {
			t.Errorf("a pod with other labels is of %+v", got)
		}
		owner.UID = "another"
		if got := ownerOf(t, c, pod.Labels, owner); got.Workload.Name != "" || !strings.Contains(got.Reason.String(), "it is gone") {
			t.Errorf("a pod of another uid's is of %+v", got)
		}
	}
	pod, _ := podOf(t, server, ns, "d")
	if got := ownerOf(t, c, pod.Labels, workloadOf("apps/v1", "Deployment", d)); got.Workload.Name != "" ||
		!strings.Contains(got.Reason.String(), "no Deployment owns pods") {
		t.Errorf("a pod that names a Deployment is of %+v", got)
	}
	for _, app := range []string{"api", "amd"} {
		pod, owner := podOf(t, server, ns, app)
		if got := ownerOf(t, c, pod.Labels, owner); got.Workload.Name != "" || !strings.Contains(got.Reason.String(), "asks for no GPUs") {
			t.Errorf("%s: %+v", app, got)
		}
	}
}

// TestWorkloadsWithInvalidOwners has workloads with owner references of names that no object can have. A
// request for one would fail, and the budget's other workloads would not be paused.
func TestWorkloadsWithInvalidOwners(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	of := kubetest.Deployment(ns, "of", 0, kubetest.GPUs(1))
	rs := kubetest.Create(t, server, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: "rs", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "Deployment", Name: "a%b", UID: "u", Controller: new(true),
			}},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: new(int32), Selector: of.Spec.Selector, Template: of.Spec.Template},
	})
	if got := ownerOf(t, c, of.Spec.Template.Labels, workloadOf("apps/v1", "ReplicaSet", rs)); got.Workload.Name != "" ||
		!strings.Contains(got.Reason.String(), "no Deployment controls it") {
		t.Errorf("the pod is of %+v", got)
	}
	of.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "example.com/v1", Kind: "Job\nbudget a: within its limit", Name: "n", UID: "u", Controller: new(true),
	}}
	state, err := c.Workload(t.Context(), workloadOf("apps/v1", "Deployment", kubetest.Create(t, server, of)))
	if err != nil || !state.PauseObstacle.IsZero() {
		t.Errorf("it is driven by %q (%v)", state.PauseObstacle, err)
	}
}

// TestObstaclesAreFoundWithOwners: an autoscaler that scales from zero, and a queue. One that stops at zero is none.
func TestObstaclesAreFoundWithOwners(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	for name, owners := range map[string][]metav1.OwnerReference{
		"keda": {{APIVersion: "keda.sh/v1alpha1", Kind: "ScaledObject", Name: "a", UID: "1", Controller: new(true)}}, "usual": nil,
	} {
		kubetest.Create(t, server, kubetest.Deployment(ns, name, 1, kubetest.GPUs(1)))
		kubetest.Create(t, server, &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, OwnerReferences: owners},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}, MaxReplicas: 3,
			},
		})
	}
	queued := kubetest.Job(ns, "queued", 1, kubetest.GPUs(1))
	queued.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "main"}
	kubetest.Create(t, server, queued)
	for app, want := range map[string]string{
		"keda": "the HorizontalPodAutoscaler keda scales it from zero, and would undo it", "usual": "",
		"queued": "Kueue suspends and starts it (queue main)",
	} {
		pod, owner := podOf(t, server, ns, app)
		if got := ownerOf(t, c, pod.Labels, owner); got.Workload.Name != app || got.Obstacle.String() != want {
			t.Errorf("the pod of %s is of %+v", app, got)
		}
	}
}

// TestTheFailuresThatAJobSurvives: its controller fails the Job with the eviction after the last of them, whether
// or not its containers restart.
func TestTheFailuresThatAJobSurvives(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	for name, policy := range map[string]corev1.RestartPolicy{"never": corev1.RestartPolicyNever, "on-failure": corev1.RestartPolicyOnFailure} {
		j := kubetest.Job(ns, name, 1, kubetest.GPUs(1))
		j.Spec.BackoffLimit, j.Spec.Template.Spec.RestartPolicy = new(int32(1)), policy
		kubetest.Create(t, server, j)
		evicted := map[types.UID]bool{}
		for left := 1; left >= 0; left-- {
			kubetest.WaitFor(t, fmt.Sprintf("an eviction with %d failures left", left), func(ctx context.Context) error {
				list, err := server.Client().CoreV1().Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: "app=" + name})
				if err != nil {
					return err
				}
				for _, pod := range list.Items {
					if evicted[pod.UID] || pod.DeletionTimestamp != nil {
						continue
					}
					o := metav1.GetControllerOf(&pod)
					owner := budget.Workload{Namespace: ns, Owner: ledger.Owner{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: string(o.UID)}}
					if got := ownerOf(t, c, pod.Labels, owner); got.FailuresLeft != left || got.ToleratesDisruption {
						return fmt.Errorf("the pod %s is of %+v", pod.Name, got)
					}
					evicted[pod.UID] = true
					return c.Evict(ctx, budget.Eviction{PodRef: budget.PodRef{Namespace: ns, Name: pod.Name, UID: string(pod.UID)}})
				}
				return fmt.Errorf("none of %d pods runs", len(list.Items))
			})
		}
		kubetest.WaitFor(t, "a failed Job", func(ctx context.Context) error {
			j, err := server.Client().BatchV1().Jobs(ns).Get(ctx, name, metav1.GetOptions{})
			if err != nil || !slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
				return c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue
			}) {
				return fmt.Errorf("%+v: %w", j.Status, err)
			}
			return nil
		})
	}
}

// TestDisruptionsOfJobs counts failures by the limits of a Job, and by its pod failure policy.
func TestDisruptionsOfJobs(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	onDisruption := func(action batchv1.PodFailurePolicyAction) func(*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) {
			s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
				},
			}}}
		}
	}
	perIndex := func(limit int32) func(*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) {
			s.CompletionMode, s.BackoffLimitPerIndex = new(batchv1.IndexedCompletion), &limit
		}
	}
	for name, tt := range map[string]struct {
		change    func(*batchv1.JobSpec)
		left      int
		tolerates bool
	}{
		"default":       {func(*batchv1.JobSpec) {}, 6, false},
		"ignored":       {onDisruption(batchv1.PodFailurePolicyActionIgnore), 6, true},
		"counted":       {onDisruption(batchv1.PodFailurePolicyActionCount), 6, false},
		"fails":         {onDisruption(batchv1.PodFailurePolicyActionFailJob), 0, false},
		"indexed":       {perIndex(0), 0, false},
		"indexed-again": {perIndex(2), math.MaxInt32, false},
	} {
		j := kubetest.Job(ns, name, 1, kubetest.GPUs(1))
		tt.change(&j.Spec)
		kubetest.Create(t, server, j)
		pod, owner := podOf(t, server, ns, name)
		if got := ownerOf(t, c, pod.Labels, owner); got.FailuresLeft != tt.left || got.ToleratesDisruption != tt.tolerates {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestCronJobsAreFoundByTheJobsThatTheyStarted, which their status lists, and paused. A Job that only names one as
// its owner is not of it.
func TestCronJobsAreFoundByTheJobsThatTheyStarted(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	started := func(name string, change func(*batchv1.CronJob), options ...kubetest.PodOption) (budget.Workload, func(active bool) *budget.Ownership) {
		cron := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: batchv1.CronJobSpec{
			Schedule: "0 0 1 1 *", JobTemplate: batchv1.JobTemplateSpec{Spec: kubetest.Job(ns, name, 1, options...).Spec},
		}}
		change(cron)
		cron = kubetest.Create(t, server, cron)
		j := kubetest.Job(ns, name, 1, kubetest.GPUs(1))
		j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: name, UID: cron.UID, Controller: new(true)}}
		j = kubetest.Create(t, server, j)
		return workloadOf("batch/v1", "CronJob", cron), func(active bool) *budget.Ownership {
			if active {
				cron.Status.Active = []corev1.ObjectReference{{APIVersion: "batch/v1", Kind: "Job", Namespace: ns, Name: name, UID: j.UID}}
				if _, err := server.Client().BatchV1().CronJobs(ns).UpdateStatus(t.Context(), cron, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			pod, owner := podOf(t, server, ns, name)
			got := ownerOf(t, c, pod.Labels, owner)
			if got.Workload.Name != name || !got.Obstacle.IsZero() {
				t.Errorf("the pod of %s is of %+v", name, got)
			}
			return got.CronJob
		}
	}
	w, of := started("nightly", func(*batchv1.CronJob) {}, kubetest.GPUs(1), kubetest.Labels(map[string]string{"team": "a"}))
	if got := of(false); got != nil {
		t.Errorf("a Job that names the CronJob is of %+v", got)
	}
	if got := of(true); got == nil || got.Workload != w || got.Labels["team"] != "a" || got.Stopped || !got.Obstacle.IsZero() {
		t.Errorf("a Job that it started is of %+v", got)
	}
	_, without := started("no-gpus", func(*batchv1.CronJob) {})
	if got := without(true); got != nil {
		t.Errorf("a Job of a CronJob without GPUs is of %+v", got)
	}
	_, operated := started("operated", func(c *batchv1.CronJob) {
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Pipeline", Name: "p", UID: "1", Controller: new(true)}}
	}, kubetest.GPUs(1))
	if got := operated(true); got == nil || !strings.Contains(got.Obstacle.String(), "the Pipeline p controls it") {
		t.Errorf("a Job of an operator's CronJob is of %+v", got)
	}
	if got := ownerOf(t, c, map[string]string{"app": "nightly"}, w); got.Workload.Name != "" || !strings.Contains(got.Reason.String(), "does not select it") {
		t.Errorf("a pod that names a CronJob is of %+v", got)
	}

	kubetest.WaitFor(t, "a pause", func(ctx context.Context) error { return c.Pause(ctx, seen(t, c, w)) })
	if got := of(false); got == nil || !got.Stopped || !seen(t, c, w).Stopped || !seen(t, c, w).Concurrent {
		t.Errorf("once it is paused: %+v", got)
	}
	kubetest.WaitFor(t, "a resumption", func(ctx context.Context) error { return c.Resume(ctx, seen(t, c, w), 0) })
	if seen(t, c, w).Stopped {
		t.Error("it is still suspended")
	}
	for policy, want := range map[batchv1.ConcurrencyPolicy]bool{
		batchv1.AllowConcurrent: true, batchv1.ForbidConcurrent: false, batchv1.ReplaceConcurrent: false,
	} {
		w, _ := started("of-"+strings.ToLower(string(policy)), func(c *batchv1.CronJob) { c.Spec.ConcurrencyPolicy = policy }, kubetest.GPUs(1))
		if got := seen(t, c, w).Concurrent; got != want {
			t.Errorf("%s: it runs several Jobs at once: %t", policy, got)
		}
	}
}
