package budgets_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// holds lists what the store holds paused, as "phase name replicas".
func (d *fixture) holds() []string {
	d.t.Helper()
	docs, err := d.Store().List(context.Background(), store.Pauses)
	if err != nil {
		d.t.Fatal(err)
	}
	var list []string
	for _, doc := range docs {
		p, err := declaration.Decode[declaration.Pauses]("it", doc.Data)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, w := range p.Workloads {
			list = append(list, fmt.Sprint(w.Phase, " ", w.Name, " ", w.Replicas))
		}
	}
	slices.Sort(list)
	return list
}

// training is a fixture with a budget that pauses, and what has used it up.
func training(t *testing.T, with ...func(*budget.Declaration)) (*fixture, budget.Declaration) {
	t.Helper()
	d := newFixture(t)
	b := d.Declare(append([]func(*budget.Declaration){enforcing(budget.Pause)}, with...)...)
	d.Cluster.Start("ml", "a", 8, ownedBy("Job", "train"))
	d.Cluster.Step(time.Hour)
	return d, b
}

// TestPausedWorkloadsAreReported: since when they are paused, and what they resume with.
func TestPausedWorkloadsAreReported(t *testing.T) {
	t.Parallel()
	d, _ := training(t)
	d.Run()
	at := d.Cluster.Now().UTC().Truncate(time.Second)
	d.Cluster.Step(time.Minute)
	d.Run()
	status, err := d.Runner().Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := []budget.PausedWorkload{{
		Workload: budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "uid-of-train"}},
		Replicas: 3, Since: at,
	}}
	if got := status.Budgets[0].Paused; !slices.Equal(got, want) {
		t.Errorf("it reports %+v, want %+v", got, want)
	}
}

func quietly(b *budget.Declaration) { b.Thresholds = []int{100} }

// TestWorkloadIsResumedAfterItsLastPause has two budgets pause a workload. First one, then the other releases
// it, because its usage falls or because it is destroyed.
func TestWorkloadIsResumedAfterItsLastPause(t *testing.T) {
	t.Parallel()
	for name, letGo := range map[string]func(d *fixture, b budget.Declaration) []string{
		"its limit is raised": func(d *fixture, b budget.Declaration) []string {
			b.GPUHours = "100"
			if _, err := d.Budgets().Update(context.Background(), b); err != nil {
				d.t.Fatal(err)
			}
			return reconciletest.Told(d.Run())
		},
		"it is destroyed": func(d *fixture, b budget.Declaration) []string {
			if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
				d.t.Fatal(err)
			}
			return reconciletest.Told(d.Run())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			first := d.Declare(enforcing(budget.Pause), quietly)
			second := d.Declare(enforcing(budget.Pause), quietly, func(b *budget.Declaration) {
				b.Name, b.Selector = "team-b", budget.Selector{MatchLabels: map[string]string{"project": "x"}}
			})
			labels := map[string]string{"team": "a", "project": "x"}
			d.Cluster.Start("ml", "a", 8, ownedBy("Job", "train"), func(s *gpu.Pod) {
				s.Labels = labels
				d.Cluster.WorkloadOf(budget.Workload{
					Namespace: "ml", Owner: ledger.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: s.Owner.UID},
				}).Labels = labels
			})
			d.Cluster.Step(time.Hour)
			d.Run()
			d.Run()
			if got := d.holds(); !slices.Equal(got, []string{"paused train 3", "paused train 3"}) {
				t.Errorf("the store holds %v", got)
			}
			letGo(d, first)
			if got := d.Cluster.Stopped(); !slices.Equal(got, []string{"train"}) || len(d.holds()) != 1 {
				t.Errorf("one holds it still, and stopped is %v; the store holds %v", got, d.holds())
			}
			letGo(d, second)
			if w := d.Cluster.Workloads["uid-of-train"]; w.Stopped || w.Replicas != 3 || len(d.holds()) > 0 {
				t.Errorf("no budget pauses it, and it is %+v; the store holds %v", w, d.holds())
			}
		})
	}
}

// TestPausesOfDestroyedBudgetsAreLifted has pauses outlive their destroyed budget, as after a kill, with no
// budget left.
func TestPausesOfDestroyedBudgetsAreLifted(t *testing.T) {
	t.Parallel()
	d, b := training(t)
	d.Run()
	key := store.Key{Kind: store.Pauses, Name: b.UID}
	doc, err := d.Store().Read(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	d.Cluster.Scale("train", 0)
	if _, err := d.Store().Write(context.Background(), key, doc.Data, ""); err != nil {
		t.Fatal(err)
	}
	report := d.Run()
	if got := d.Cluster.Stopped(); len(got) > 0 || len(d.holds()) > 0 || !strings.Contains(fmt.Sprint(report.Warnings), "it was lifted") {
		t.Errorf("stopped is %v, the store holds %v, warnings %v", got, d.holds(), report.Warnings)
	}
}

// TestADestroyThatCannotResumeFails: it says gone of nothing that stays stopped.
func TestADestroyThatCannotResumeFails(t *testing.T) {
	t.Parallel()
	d, b := training(t)
	d.Run()
	d.Cluster.Failing["Resume"] = &budget.NotPausedError{Why: reason.ChangeRefused("a webhook says no")}
	if _, err := d.Budgets().Delete(context.Background(), b); err == nil || !strings.Contains(err.Error(), "a webhook says no") {
		t.Errorf("the destroy says %v", err)
	}
	if holds := d.holds(); len(holds) != 1 {
		t.Errorf("the store holds %v", holds)
	}
	delete(d.Cluster.Failing, "Resume")
	if _, err := d.Budgets().Delete(context.Background(), b); err != nil || len(d.Cluster.Stopped()) > 0 || len(d.holds()) > 0 {
		t.Errorf("%v; stopped is %v, the store holds %v", err, d.Cluster.Stopped(), d.holds())
	}
}

// TestARefusedPauseIsHeldByNobody: else what its owner stops later would be started
// when usage falls.
func TestARefusedPauseIsHeldByNobody(t *testing.T) {
	t.Parallel()
	d, _ := training(t)
	d.Cluster.Failing["Pause"] = budget.ErrWorkloadChanged
	d.once()
	if holds := d.holds(); len(holds) > 0 {
		t.Errorf("the store holds %v", holds)
	}
}

// TestLabelsFillNoDocument: a tenant may write as many of them as an object holds.
func TestLabelsFillNoDocument(t *testing.T) {
	t.Parallel()
	d, b := training(t)
	labels := map[string]string{"team": "a"}
	for n := range 10_000 {
		labels[fmt.Sprint("example.com/label-", n)] = strings.Repeat("x", 60)
	}
	d.Cluster.WorkloadOf(budget.Workload{
		Namespace: "ml", Owner: ledger.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "uid-of-train"},
	}).Labels = labels
	d.Run()
	doc, err := d.Store().Read(context.Background(), store.Key{Kind: store.Pauses, Name: b.UID})
	if err != nil || len(doc.Data) > 2<<10 || !strings.Contains(string(doc.Data), `"team"`) {
		t.Errorf("the document has %d bytes: %v", len(doc.Data), err)
	}
}

// TestDamagedPauseDocumentResumesNothing resumes nothing of an unreadable document, and reconciles other
// budgets.
func TestDamagedPauseDocumentResumesNothing(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Pause), quietly)
	d.Declare(func(b *budget.Declaration) { b.Name, b.Thresholds = "team-b", []int{100} })
	d.Cluster.Start("ml", "a", 8, ownedBy("Job", "train"))
	d.Cluster.Step(time.Hour)
	d.Run()
	key := store.Key{Kind: store.Pauses, Name: b.UID}
	doc, err := d.Store().Read(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Store().Write(context.Background(), key, append(doc.Data[:40:40], '}'), doc.Revision); err != nil {
		t.Fatal(err)
	}
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantOutcomes(t, report, map[string]outcome.Outcome{"team-a": outcome.Failed, "team-b": outcome.Done})
}

// TestRecreatedWorkloadIsAnotherOne pauses a workload that was recreated under the name of a paused one, and
// restores the replicas of each.
func TestRecreatedWorkloadIsAnotherOne(t *testing.T) {
	t.Parallel()
	d, b := training(t, quietly)
	d.Run()
	delete(d.Cluster.Workloads, "uid-of-train")
	d.Cluster.Start("ml", "b", 8, ownedBy("Job", "train"), func(s *gpu.Pod) { s.Owner.UID = "uid-of-another" })
	wantTold(t, d.Run(), "done suspend train")
	b.GPUHours = "100"
	if _, err := d.Budgets().Update(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	d.Run()
	if w := d.Cluster.Workloads["uid-of-another"]; w.Stopped || w.Replicas != 3 || len(d.holds()) > 0 {
		t.Errorf("it is %+v, the store holds %v", w, d.holds())
	}
}

// TestForgedOwnerIsNotPaused reports pods with a false owner reference.
func TestForgedOwnerIsNotPaused(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Pause), quietly)
	d.Cluster.Forged = map[string]bool{"prod-api": true}
	d.Cluster.Start("ml", "a", 8, ownedBy("Deployment", "prod-api"))
	d.Cluster.Step(time.Hour)
	b, report := d.once()
	wantTold(t, report, "done alert")
	if got := fmt.Sprint(effectsOf(b)); !strings.Contains(got, "ineffective pause Pod ml/a: it names") || !strings.Contains(got, "which does not select it") {
		t.Errorf("effects %v", got)
	}
	d.Cluster.Failing["Owners"] = errors.New("cannot get replicasets: forbidden")
	failed, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || failed.Budgets[0].Outcome != outcome.Failed || !strings.Contains(failed.Budgets[0].Error.Message, "replicasets") {
		t.Errorf("where it can't be told: %v, %+v", err, failed.Budgets)
	}
}

// TestManuallyResumedWorkloadsAreReported resumes a paused workload manually. Each run reports it, and none
// as paused. It is paused again if the budget says so, and then restored to its last size.
func TestManuallyResumedWorkloadsAreReported(t *testing.T) {
	t.Parallel()
	d, b := training(t, quietly)
	wantTold(t, d.Run(), "done alert", "done suspend train")
	d.Cluster.Scale("train", 5)
	d.Cluster.Start("ml", "b", 8, ownedBy("Job", "train"))
	for range 2 {
		report := d.Run()
		wantTold(t, report)
		if r := report.Budgets[0]; len(r.Enforced) > 0 || !strings.Contains(fmt.Sprint(r.Warnings), "resumed manually") {
			t.Errorf("enforced %v, warnings %v", r.Enforced, r.Warnings)
		}
	}
	change := func(change func(*budget.Declaration)) {
		t.Helper()
		change(&b)
		state, err := d.Budgets().Update(context.Background(), b)
		if err != nil {
			t.Fatal(err)
		}
		b = state.Declaration
	}
	change(func(b *budget.Declaration) { b.Enforce.OnManualResume = budget.ResumePause })
	report := d.Run()
	wantTold(t, report, "done suspend train")
	if got := d.Cluster.Stopped(); len(got) != 1 ||
		budget.CountEffects(report.Budgets[0].Effects, budget.Pause, budget.Requested) != 1 {
		t.Errorf("stopped is %v, requested %v", got, report.Budgets[0].Effects)
	}
	change(func(b *budget.Declaration) { b.GPUHours = "100" })
	d.Run()
	if w := d.Cluster.Workloads["uid-of-train"]; w.Stopped || w.Replicas != 5 {
		t.Errorf("it is %+v", w)
	}
}
