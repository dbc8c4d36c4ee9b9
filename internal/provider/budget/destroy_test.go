package budget_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// A deletion that was interrupted is reported, and finished by the next one. A plan of the
// configuration that still declares the budget replaces it.
func TestInterruptedDeletionIsFinished(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	o := create(t, s, values(nil))
	earlier := s.Plan(o, values(providertest.Values{"gpu_hours": "5"}))
	w.Rewrite("team-a", func(r *declaration.Budget) { r.Phase = declaration.Deleting })
	o, diags := s.Read(o)
	contains(t, diags, "WARNING", "was begun and not finished", "terraform destroy")
	again := s.Plan(o, values(nil))
	if len(again.Replaces) != 1 {
		t.Errorf("a plan of it replaces %v", again.Replaces)
	}
	contains(t, again.Diagnostics, "WARNING", "The deletion of budget team-a was begun and not finished", "Applying this plan finishes it")
	_, diags = s.Apply(earlier)
	contains(t, diags, "ERROR", "was begun and not finished")
	s.Destroy(o)
	nothingRecorded(t, w)
	if o, diags = s.Read(o); len(diags) > 0 || !o.State.IsNull() {
		t.Errorf("after the destruction: %v %s", o.State, diags)
	}
}

// A budget without a record is not destroyed: another store may still enforce it. Once
// an apply has recorded it again, it is.
func TestDestructionNeedsARecord(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	o := create(t, s, values(nil))
	planned := s.Plan(o, nil)
	w.Forget("team-a")
	_, diags := s.Apply(planned)
	contains(t, diags, "ERROR", "Budget is not in this store", "terraform apply before you destroy it", "terraform state rm")
	o, _ = s.Read(o)
	contains(t, s.Plan(o, nil).Diagnostics, "ERROR", "Budget is not in this store")
	o, diags = s.Apply(s.Plan(o, values(nil)))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	s.Destroy(o)
	nothingRecorded(t, w)
}

// A destruction resumes paused workloads. It leaves a workload that a user resumed meanwhile, with
// a warning.
func TestDestructionResumes(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	namespace := w.Cluster.Namespace(t)
	s := serve(t, w)
	o := create(t, s, values(nil))
	uid, _ := o.Attribute("uid").(string)
	job := func(name string, suspended bool) *batchv1.Job {
		j := kubetest.Job(namespace, name, 1)
		j.Spec.Suspend = &suspended
		return kubetest.Create(t, w.Cluster, j)
	}
	paused, started := job("paused", true), job("started", false)
	w.Hold(declaration.Pauses{BudgetUID: uid, Budget: "team-a", ClusterUID: w.ClusterUID(), Workloads: []declaration.Pause{
		{Workload: workloadOf(paused), Phase: declaration.Paused}, {Workload: workloadOf(started), Phase: declaration.Paused},
	}})
	_, diags := s.Apply(s.Plan(o, nil))
	contains(t, diags, "WARNING", "Budget team-a left a workload as it was", namespace+"/"+started.Name, "it was resumed manually since it was paused")
	if len(diags) != 1 {
		t.Errorf("%d diagnostics, not one:\n%s", len(diags), diags)
	}
	now, err := w.Cluster.Client().BatchV1().Jobs(namespace).Get(t.Context(), paused.Name, metav1.GetOptions{})
	if err != nil || *now.Spec.Suspend {
		t.Errorf("the job is still suspended: %v %v", now, err)
	}
	if docs, err := w.Store().List(t.Context(), store.Pauses); err != nil || len(docs) > 0 {
		t.Errorf("the store still holds %v (%v)", docs, err)
	}
	nothingRecorded(t, w)
}

func workloadOf(j *batchv1.Job) core.Workload {
	return core.Workload{Namespace: j.Namespace, Owner: ledger.Owner{APIVersion: "batch/v1", Kind: "Job", Name: j.Name, UID: string(j.UID)}}
}
