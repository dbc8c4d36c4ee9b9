package budgets_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// losePauses removes the documents of a budget's pauses.
func (d *fixture) losePauses() {
	d.t.Helper()
	ctx := context.Background()
	docs, err := d.Store().List(ctx, store.Pauses)
	if err != nil || len(docs) == 0 {
		d.t.Fatalf("%d documents of pauses: %v", len(docs), err)
	}
	for _, doc := range docs {
		if err := d.Store().Delete(ctx, doc.Key, doc.Revision); err != nil {
			d.t.Fatal(err)
		}
	}
}

const (
	lostJob = "Job ml/train is stopped, and the record that this budget paused it is lost: gpupool does not resume it. To resume it:\n" +
		`kubectl patch job/train --namespace ml --type merge --patch '{"spec":{"suspend":false}}'`
	lostDeployment = "Deployment ml/serve is stopped, and the record that this budget paused it is lost: gpupool does not resume it. To resume it:\n" +
		"kubectl scale deployment/serve --namespace ml --replicas 3"
)

// TestLostPausesAreReported in each run and by status, until the workloads run again, whether the
// limit is still reached or not.
func TestLostPausesAreReported(t *testing.T) {
	t.Parallel()
	for _, raised := range []bool{false, true} {
		d, b := training(t, quietly)
		d.Cluster.Start("ml", "s", 1, ownedBy("Deployment", "serve"))
		d.Run()
		d.Run()
		d.losePauses()
		if raised {
			b = d.update(b, func(b *budget.Declaration) { b.GPUHours = "1000" })
		}
		for range 2 {
			d.Cluster.Step(time.Minute)
			if got := d.Run().Budgets[0].Warnings.Texts(); !slices.Equal(got, []string{lostDeployment, lostJob}) {
				t.Fatalf("raised %t: the run warns of %q", raised, got)
			}
		}
		status, err := d.Runner().Status(context.Background())
		if err != nil || !slices.Contains(status.Budgets[0].Warnings.Texts(), lostJob) {
			t.Errorf("raised %t: status warns of %q, %v", raised, status.Budgets[0].Warnings, err)
		}
		d.Cluster.Scale("train", 3)
		if got := d.Run().Budgets[0].Warnings.Texts(); !slices.Equal(got, []string{lostDeployment}) {
			t.Errorf("raised %t: once the Job runs, the run warns of %q", raised, got)
		}
		messages, err := d.Budgets().Delete(context.Background(), b)
		if err != nil || !slices.Equal(messages.Texts(), []string{lostDeployment}) {
			t.Errorf("raised %t: the deletion says %q, %v", raised, messages, err)
		}
	}
}

// TestAPauseOfAnotherBudgetIsNotLost: the other one resumes the workload.
func TestAPauseOfAnotherBudgetIsNotLost(t *testing.T) {
	t.Parallel()
	d, budgets := sharing(t, map[string]bool{"a": false, "b": false})
	d.Run()
	d.Run()
	ctx := context.Background()
	doc, err := d.Store().Read(ctx, store.Key{Kind: store.Pauses, Name: budgets["a"].UID})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Store().Delete(ctx, doc.Key, doc.Revision); err != nil {
		t.Fatal(err)
	}
	report := d.Run().Budgets
	if len(report) != 2 {
		t.Fatalf("%d budgets, want 2", len(report))
	}
	for _, b := range report {
		if strings.Contains(strings.Join(b.Warnings.Texts(), ""), "lost") {
			t.Errorf("%s warns of %q", b.Name, b.Warnings)
		}
	}
}

// TestManyLostPausesAreCounted: a status lists the first of them.
func TestManyLostPausesAreCounted(t *testing.T) {
	t.Parallel()
	list := make([]budget.PausedWorkload, 150)
	status := budget.Status{}.WithPaused(list)
	if len(status.Paused) != 100 || status.PausedLeftOut != 50 {
		t.Errorf("%d are listed, and %d left out", len(status.Paused), status.PausedLeftOut)
	}
	if texts := budget.LostPauses(list).Texts(); len(texts) != 21 || !strings.Contains(texts[20], "130 more") {
		t.Errorf("%d warnings: %q", len(texts), texts[len(texts)-1])
	}
}
