package budgets_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

func TestABudgetFromItsCreationToItsEnd(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	ctx := context.Background()
	b := d.Declare(enforcing(budget.Freeze))
	if b.UID == "" || b.ClusterUID != d.Cluster.ClusterUID || b.Generation != 1 || b.PublishedAt.IsZero() {
		t.Errorf("created as %+v", b)
	}
	var exists *record.ExistsError
	if _, err := d.Budgets().Create(ctx, b); !errors.As(err, &exists) || !strings.Contains(err.Error(), "terraform import") {
		t.Errorf("creating it twice: %v", err)
	}
	if err := d.Budgets().Refusal(ctx, b); !errors.As(err, &exists) {
		t.Errorf("planning it twice: %v", err)
	}
	found, err := d.Budgets().Find(ctx, b.Name)
	if diff := cmp.Diff(b, found); err != nil || diff != "" {
		t.Errorf("finding it: %v (-want +got)\n%s", err, diff)
	}
	var none *record.AbsentError
	if _, err := d.Budgets().Find(ctx, "team-b"); !errors.As(err, &none) || !strings.Contains(err.Error(), "team-a") {
		t.Errorf("finding another: %v", err)
	}

	told := b
	told.Thresholds = []int{10}
	state, err := d.Budgets().Update(ctx, told)
	if err != nil || state.Declaration.Generation != 2 || !state.Declaration.PublishedAt.Equal(b.PublishedAt) {
		t.Errorf("changing the thresholds: %v, %+v", err, state.Declaration)
	}
	if _, err := d.Budgets().Update(ctx, told); err == nil || !strings.Contains(err.Error(), "plan again") {
		t.Errorf("an old plan: %v", err)
	}
	again, err := d.Budgets().Update(ctx, state.Declaration)
	if err != nil || again.Declaration.Generation != 2 {
		t.Errorf("changing nothing: %v, generation %d", err, again.Declaration.Generation)
	}

	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	d.Run()
	view, err := d.Budgets().View(ctx, b)
	if err != nil || !view.Recorded || view.Destroyed || view.Status == nil || !view.Status.Usage.Exceeded() {
		t.Errorf("viewing it: %v, %+v", err, view)
	}
	if len(d.Cluster.Frozen) != 1 {
		t.Errorf("frozen: %v", d.Cluster.Frozen)
	}
	if _, err := d.Budgets().Delete(ctx, b); err == nil || !strings.Contains(err.Error(), "plan again") {
		t.Fatalf("a deletion that was planned against another generation: %v", err)
	}
	if _, err := d.Budgets().Delete(ctx, again.Declaration); err != nil {
		t.Fatal(err)
	}
	view, err = d.Budgets().View(ctx, b)
	if err != nil || !view.Destroyed || len(d.Cluster.Frozen) > 0 {
		t.Errorf("viewing it destroyed: %v, %+v, frozen %v", err, view, d.Cluster.Frozen)
	}
	if _, err := d.Budgets().Update(ctx, state.Declaration); err == nil || !strings.Contains(err.Error(), "was destroyed") {
		t.Errorf("changing it destroyed: %v", err)
	}
}

// TestBudgetWithoutARecordIsNotDestroyed expects its record to be written again.
func TestBudgetWithoutARecordIsNotDestroyed(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare()
	elsewhere := newFixture(t)
	elsewhere.Cluster = d.Cluster
	view, err := elsewhere.Budgets().View(context.Background(), b)
	if err != nil || view.Recorded || view.Destroyed {
		t.Fatalf("viewing it: %v, %+v", err, view)
	}
	state, err := elsewhere.Budgets().Update(context.Background(), b)
	if err != nil || !state.Recorded || state.Declaration.UID != b.UID || state.Declaration.Generation != b.Generation+1 {
		t.Errorf("recording it again: %v, %+v", err, state)
	}
}

func TestBudgetsAreTakenOverFromAState(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare()
	b.PublishedAt = time.Time{} // as a state has it
	state := &declaration.TerraformState{Form: declaration.FormShow, Budgets: []declaration.StateBudget{{Address: "gpupool_budget.team_a", Declaration: b}}}
	elsewhere := newFixture(t)
	elsewhere.Cluster = d.Cluster
	d.Cluster.Start("ml", "a", 2)
	d.Cluster.Step(time.Hour)
	run := func(o reconcile.RunOptions) reconcile.Report {
		t.Helper()
		o.State = state
		report, err := elsewhere.Runner().Run(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	report := run(reconcile.RunOptions{DryRun: true})
	wantConsumed(t, report, "2.000")
	if len(elsewhere.Documents()) > 0 {
		t.Errorf("a dry run wrote %v", elsewhere.Documents())
	}
	wantConsumed(t, run(reconcile.RunOptions{}), "2.000")
	view, err := elsewhere.Budgets().View(context.Background(), b)
	if err != nil || !view.Recorded || view.Declaration.PublishedAt.IsZero() {
		t.Errorf("recorded: %v, %+v", err, view)
	}
	if _, err := elsewhere.Budgets().Delete(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	report = run(reconcile.RunOptions{})
	if len(report.Budgets) != 1 || report.Budgets[0].Outcome != outcome.Failed || !strings.Contains(report.Budgets[0].Error.Message, "was destroyed") {
		t.Errorf("a state that is older than the destruction: %+v", report.Budgets)
	}
}

// TestStatusOfADestroyedBudgetIsForgotten removes a status that a run wrote while
// the budget was being destroyed.
func TestStatusOfADestroyedBudgetIsForgotten(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare()
	d.Declare(func(b *budget.Declaration) { b.Name = "stays" })
	d.Cluster.Hook = faults.Before(func(method string) {
		if method == "Observe" {
			d.Cluster.Hook = nil
			if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
				t.Error(err)
			}
		}
	})
	d.Run()
	d.Run()
	if _, there := d.Documents()["statuses/budgets/team-a"]; there {
		t.Error("its status is still there")
	}
	if _, there := d.Documents()["statuses/budgets/stays"]; !there {
		t.Error("another one's is gone")
	}
}

func TestOrphanedFreezeIsLifted(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Freeze))
	d.Declare(enforcing(budget.Freeze), func(b *budget.Declaration) { b.Name = "other" })
	if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	d.Cluster.Frozen[b.UID] = budget.FreezeRule{Budget: b.Name, BudgetUID: b.UID}
	d.Cluster.Frozen["someone-elses"] = budget.FreezeRule{Budget: "x", BudgetUID: "someone-elses"}
	report := d.Run()
	if _, there := d.Cluster.Frozen[b.UID]; there || len(d.Cluster.Frozen) != 1 {
		t.Errorf("frozen: %v", d.Cluster.Frozen)
	}
	if !strings.Contains(strings.Join(report.Warnings.Texts(), "\n"), "team-a is destroyed") {
		t.Errorf("warnings: %v", report.Warnings)
	}
}

// TestInvalidBudgetsAreRefused changes nothing for a declaration that can't be
// used.
func TestInvalidBudgetsAreRefused(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	good := d.Declare()
	before := d.Documents()
	for name, c := range map[string]struct {
		spoil func(*budget.Declaration)
		says  string
	}{
		"unknown window":  {func(b *budget.Declaration) { b.Window = "fortnight" }, "window"},
		"unknown zone":    {func(b *budget.Declaration) { b.Window, b.Period, b.TimeZone = "", budget.Month, "Mars/Olympus" }, "time_zone"},
		"empty selector":  {func(b *budget.Declaration) { b.Selector = budget.Selector{} }, "selector"},
		"zero quota":      {func(b *budget.Declaration) { b.GPUHours = "0" }, "gpu_hours"},
		"negative quota":  {func(b *budget.Declaration) { b.GPUHours = "-1" }, "gpu_hours"},
		"too many digits": {func(b *budget.Declaration) { b.GPUHours = "1.2345" }, "gpu_hours"},
		"invalid operator": {func(b *budget.Declaration) {
			b.Selector.MatchExpressions = []budget.Expression{{Key: "a", Operator: "Like"}}
		}, "match_expressions"},
		"unknown action":    {func(b *budget.Declaration) { b.Enforce.Action = "scold" }, "action"},
		"impossible weight": {func(b *budget.Declaration) { b.ResourceWeights = map[string]string{"nvidia.com/gpu": "1/0"} }, "resource_weights"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			c.spoil(&bad)
			_, updateErr := d.Budgets().Update(context.Background(), bad)
			bad.Name = "fresh"
			_, createErr := d.Budgets().Create(context.Background(), bad)
			for _, err := range []error{updateErr, createErr} {
				if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "nothing was changed") {
					t.Errorf("got %v, want it to name %s", err, c.says)
				}
			}
		})
	}
	if diff := cmp.Diff(before, d.Documents()); diff != "" {
		t.Errorf("the store changed\n%s", diff)
	}
}
