package budgets_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict))
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	before := d.Documents()
	report := d.DryRun()
	wantConsumed(t, report, "8.000")
	wantTold(t, report, "planned alert", "planned freeze", "planned evict a")
	if diff := cmp.Diff(before, d.Documents()); diff != "" {
		t.Errorf("the store changed (-before +after)\n%s", diff)
	}
	if len(d.Cluster.Acts) > 0 {
		t.Errorf("the cluster was changed: %v", d.Cluster.Acts)
	}
	acted := d.Run()
	wantConsumed(t, acted, "8.000")
	wantTold(t, acted, "done alert", "done freeze", "done evict a")
}

func TestLockedBudgetIsSkipped(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.Declare(func(b *budget.Declaration) { b.Name, b.Thresholds = "beside", []int{100} })
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	lock, err := d.Store().Lock(context.Background(), "budget/team-a", 0)
	if err != nil {
		t.Fatal(err)
	}
	p := d.Process()
	p.LockTimeout = 0
	report, err := p.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != outcome.Done || report.Budgets[1].Outcome != outcome.Skipped {
		t.Fatalf("got %v, %+v", err, report.Budgets)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	wantTold(t, d.Run(), "done alert")
}
