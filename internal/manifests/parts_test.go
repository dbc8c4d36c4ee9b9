package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func (w *world) pod(options ...kubetest.PodOption) {
	w.t.Helper()
	pod := kubetest.Create(w.t, w.cluster, kubetest.Pod(w.work, "", options...))
	w.cluster.WaitRunning(w.t, pod)
}

func prepareUsed(action budget.Action) func(w *world) {
	return func(w *world) {
		w.t.Helper()
		w.declare(action, "0.001")
		w.pod(kubetest.GPUs(4))
		w.exceed()
	}
}

func prepareClaims(w *world) {
	w.t.Helper()
	w.claim(kubetest.Create(w.t, w.cluster, kubetest.Node(w.work, 0)).Name)
	w.declare(budget.AlertOnly, "1000")
}

// claim publishes devices of a node, and claims one of them for the pods of the world.
func (w *world) claim(node string) {
	w.t.Helper()
	const driver = "gpu.nvidia.com"
	class := kubetest.Create(w.t, w.cluster, kubetest.DeviceClass(w.work, driver))
	kubetest.Create(w.t, w.cluster, kubetest.ResourceSlice(node, driver, 2, "16Gi"))
	kubetest.Create(w.t, w.cluster, kubetest.ResourceClaim(w.work, "gpu", class.Name, 1))
}

// counts makes two runs, with a pod that came in between for the second to find
// in the replay of the watch.
func counts(w *world) error {
	if err := w.run(); err != nil {
		return err
	}
	w.pod(kubetest.Claim("gpu"), kubetest.OnNode(w.work))
	return w.run()
}

func prepareByNamespace(w *world) {
	w.t.Helper()
	kubetest.Create(w.t, w.cluster, kubetest.Node(w.work, 1))
	w.declare(budget.AlertOnly, "1000", func(d *budget.Declaration) {
		d.Selector = budget.Selector{NamespaceLabels: map[string]string{"for": w.work}}
	})
	if _, err := w.admin.Runner().Run(w.t.Context(), reconcile.RunOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// countsGone makes a run after a pod is gone with its namespace.
func countsGone(w *world) error {
	namespace := w.cluster.Namespace(w.t, "for="+w.work)
	pod := kubetest.Create(w.t, w.cluster, kubetest.Pod(namespace, "test", kubetest.GPUs(1), kubetest.OnNode(w.work)))
	w.cluster.WaitRunning(w.t, pod)
	if err := w.cluster.Client().CoreV1().Pods(namespace).Delete(w.t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.cluster.WaitGone(w.t, pod)
	w.cluster.EndNamespace(w.t, namespace)
	if err := w.run(); err != nil && strings.Contains(err.Error(), namespace) {
		return err
	}
	return nil // others may leave something behind of which a run warns
}

// prepareVanished lets a pod disappear unobserved: the API server lacks the ledger's place in
// the watch, as after a restore from a backup.
func prepareVanished(w *world) {
	w.t.Helper()
	w.declare(budget.AlertOnly, "1000")
	pod := kubetest.Create(w.t, w.cluster, kubetest.Pod(w.work, "", kubetest.GPUs(1)))
	w.cluster.WaitRunning(w.t, pod)
	ctx := w.t.Context()
	if _, err := w.admin.Runner().Run(ctx, reconcile.RunOptions{}); err != nil {
		w.t.Fatal(err)
	}
	now := int64(0)
	if err := w.cluster.Client().CoreV1().Pods(w.work).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		w.t.Fatal(err)
	}
	w.cluster.WaitGone(w.t, pod)
	docs, err := w.admin.Store.List(ctx, store.Ledger)
	if err != nil {
		w.t.Fatal(err)
	}
	contents, revisions, uid := map[string][]byte{}, map[string]store.Revision{}, ""
	for _, d := range docs {
		cluster, name, _ := strings.Cut(d.Key.Name, "/")
		contents[name], revisions[name], uid = d.Data, d.Revision, cluster
	}
	l, _, err := ledger.Load(uid, contents, ledger.Time(time.Now().UnixMilli()))
	if err != nil {
		w.t.Fatal(err)
	}
	l.Header.ResourceVersion = "9000000000000"
	changes, err := l.Changes()
	if err != nil || len(changes.Write) == 0 {
		w.t.Fatal(changes, err)
	}
	for _, d := range changes.Write {
		if _, err := w.admin.Store.Write(ctx, store.Key{Kind: store.Ledger, Name: uid + "/" + d.Name}, d.Data, revisions[d.Name]); err != nil {
			w.t.Fatal(err)
		}
	}
}

// alerts reports a threshold, and reports it again after the reported ones are forgotten.
func alerts(w *world) error {
	if err := w.run(); err != nil {
		return err
	}
	key := store.Key{Kind: store.Statuses, Name: "budgets/team-a"}
	d, err := w.admin.Store.Read(w.t.Context(), key)
	if err == nil {
		err = w.admin.Store.Delete(w.t.Context(), key, d.Revision)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return w.run()
}

// freezes freezes, changes the freeze with its budget, and lifts it.
func freezes(w *world) error {
	if err := w.run(); err != nil {
		return err
	}
	w.change(func(d *budget.Declaration) { d.Selector.Namespaces = append(d.Selector.Namespaces, w.home) })
	if err := w.run(); err != nil {
		return err
	}
	w.change(raise)
	return w.run()
}

// prepareWorkloads lets each kind of workload that can be paused use the budget up.
func prepareWorkloads(w *world) {
	w.t.Helper()
	w.declare(budget.Pause, "0.001")
	kubetest.Create(w.t, w.cluster, kubetest.Deployment(w.work, "deployment", 1, kubetest.GPUs(1)))
	kubetest.Create(w.t, w.cluster, kubetest.StatefulSet(w.work, "statefulset", 1, kubetest.GPUs(1)))
	job := kubetest.Job(w.work, "job", 1, kubetest.GPUs(1))
	cronJob := kubetest.Create(w.t, w.cluster, &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.work, Name: "cronjob"},
		Spec:       batchv1.CronJobSpec{Schedule: "0 0 1 1 *", JobTemplate: batchv1.JobTemplateSpec{Spec: job.Spec}},
	})
	job.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "cronjob", UID: cronJob.UID, Controller: new(true)}}
	job = kubetest.Create(w.t, w.cluster, job)
	cronJob.Status.Active = []corev1.ObjectReference{{APIVersion: "batch/v1", Kind: "Job", Namespace: w.work, Name: "job", UID: job.UID}}
	if _, err := w.cluster.Client().BatchV1().CronJobs(w.work).UpdateStatus(w.t.Context(), cronJob, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.untilBound()
	w.exceed()
}

// untilBound waits until each workload has a pod with a node.
func (w *world) untilBound() {
	w.t.Helper()
	kubetest.WaitFor(w.t, "the pods to be bound", func(ctx context.Context) error {
		list, err := w.cluster.Client().CoreV1().Pods(w.work).List(ctx, metav1.ListOptions{})
		bound := 0
		for _, p := range list.Items {
			if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
				bound++
			}
		}
		if err == nil && bound != 3 {
			err = fmt.Errorf("%d are", bound)
		}
		return err
	})
}

func pauses(w *world) error {
	if err := w.run(); err != nil {
		return err
	}
	w.change(raise)
	return w.run()
}

// reviews asks who a user of the API is, and what they may do.
func reviews(w *world) error {
	ctx := w.t.Context()
	if _, err := w.client.ReviewToken(ctx, "unknown"); err != nil {
		return err
	}
	_, err := w.client.ReviewAccess(ctx, authenticationv1.UserInfo{Username: "someone"},
		authorizationv1.ResourceAttributes{Verb: access.Get, Group: access.Group, Resource: access.Jobs})
	return err
}

// evicts evicts, and asks for the eviction of a pod that is another one by now.
func evicts(w *world) error {
	if err := w.run(); err != nil {
		return err
	}
	pod := kubetest.Create(w.t, w.cluster, kubetest.Pod(w.home, "another"))
	return kubecluster.New(w.client).Evict(w.t.Context(),
		budget.Eviction{PodRef: budget.PodRef{Namespace: pod.Namespace, Name: pod.Name, UID: "0f7d3f5c-77c9-4c4f-9d57-3a1b2c4d5e6f"}, Grace: 30})
}

// prepareEnforced has a budget be frozen, and its workloads be paused: again, so that Events of their
// resumption exist.
func prepareEnforced(w *world) {
	w.t.Helper()
	prepareWorkloads(w)
	ctx := w.t.Context()
	run := func() {
		w.t.Helper()
		report, err := w.admin.Runner().Run(ctx, reconcile.RunOptions{})
		if failed, _ := report.Failures(); err != nil || failed > 0 {
			w.t.Fatalf("%+v %v", report.Budgets, err)
		}
	}
	run()
	w.change(raise)
	run()
	w.untilBound()
	w.change(func(d *budget.Declaration) { d.GPUHours = "0.001" })
	run()
	d, err := w.admin.Budgets().Find(ctx, "team-a")
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := w.admin.Cluster(ctx)
	if err == nil {
		err = c.Freeze(ctx, budget.FreezeRule{Budget: d.Name, BudgetUID: d.UID, Selector: d.Selector})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func destroys(w *world) error {
	ctx := w.t.Context()
	d, err := w.account.Budgets().Find(ctx, "team-a")
	if err != nil {
		return err
	}
	d.Thresholds = []int{100}
	state, err := w.account.Budgets().Update(ctx, d)
	if err != nil {
		return err
	}
	notices, err := w.account.Budgets().Delete(ctx, state.Declaration)
	if len(notices) > 0 {
		err = errors.Join(err, errors.New(strings.Join(notices.Texts(), "; ")))
	}
	return err
}
