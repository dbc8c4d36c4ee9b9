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
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

// TestFreezeOfAKilledRunIsLifted has a run killed between its freeze and its
// status, and the budget enforce nothing then, or be destroyed.
func TestFreezeOfAKilledRunIsLifted(t *testing.T) {
	t.Parallel()
	killed := func(t *testing.T) (*fixture, budget.Declaration) {
		d := newFixture(t)
		b := d.Declare(enforcing(budget.Freeze), func(b *budget.Declaration) { b.Thresholds = []int{100} })
		d.Cluster.Start("ml", "a", 8)
		d.Cluster.Step(time.Hour)
		d.Cluster.Frozen[b.UID] = budget.FreezeRule{Budget: b.Name, BudgetUID: b.UID, Selector: b.Selector}
		b.Enforce.Action = budget.AlertOnly
		if _, err := d.Budgets().Update(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		b.Generation++
		return d, b
	}
	d, _ := killed(t)
	wantTold(t, d.Run(), "done alert", "done unfreeze")
	d, b := killed(t)
	if _, err := d.Budgets().Delete(context.Background(), b); err != nil || len(d.Cluster.Frozen) > 0 {
		t.Errorf("destroyed: %v, frozen %v", err, d.Cluster.Frozen)
	}
	d, b = killed(t)
	d.Cluster.Failing["Unfreeze"] = forbidden{}
	if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
		t.Errorf("without the right to lift what it never did: %v", err)
	}
}

// TestLateFreezeIsLifted has the freeze of a destroyed budget applied late, with no budget left, or with one
// that only alerts.
func TestLateFreezeIsLifted(t *testing.T) {
	t.Parallel()
	for _, alerts := range []bool{false, true} {
		d := newFixture(t)
		b := d.Declare(enforcing(budget.Freeze))
		if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		if alerts {
			d.Declare(func(b *budget.Declaration) { b.Name = "alerts" })
		}
		d.Cluster.Frozen[b.UID] = budget.FreezeRule{Budget: b.Name, BudgetUID: b.UID}
		report := d.Run()
		if len(d.Cluster.Frozen) > 0 || !strings.Contains(fmt.Sprint(report.Warnings), "it was lifted") {
			t.Errorf("with alerts alone %t: frozen %v, warnings %v", alerts, d.Cluster.Frozen, report.Warnings)
		}
		if report = d.Run(); len(report.Warnings) > 0 {
			t.Errorf("and then %v", report.Warnings)
		}
	}
}

// TestMeasuresOfAStrangerAreTold warns of a freeze that no budget of this store
// is known to have made, and leaves it.
func TestMeasuresOfAStrangerAreTold(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	d.Cluster.Frozen["uid-of-another"] = budget.FreezeRule{Budget: "theirs", BudgetUID: "uid-of-another"}
	report := d.Run()
	if len(d.Cluster.Frozen) != 1 || !strings.Contains(fmt.Sprint(report.Warnings), "budget UID uid-of-another") {
		t.Errorf("frozen %v, warnings %v", d.Cluster.Frozen, report.Warnings)
	}
}

// TestWhatWeighsNothingIsNotEvicted spares pods that count for nothing in the
// budget, whether a run has seen them before or not.
func TestWhatWeighsNothingIsNotEvicted(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Thresholds, b.ModelWeights = []int{100}, map[string]string{"Tesla-T4": "0"}
	})
	t4 := func(s *gpu.Pod) { s.Node.Model = "Tesla-T4" }
	d.Cluster.Start("ml", "v100", 8)
	d.Cluster.Start("ml", "t4", 1, t4)
	d.Cluster.Step(time.Hour)
	d.Cluster.Hook = faults.Before(func(method string) {
		if method == "LivePods" {
			d.Cluster.Hook = nil
			d.Cluster.Start("ml", "fresh-t4", 1, t4)
			d.Cluster.Start("ml", "fresh-v100", 1)
		}
	})
	wantTold(t, d.Run(), "done alert", "done freeze", "done evict fresh-v100", "done evict v100")
	wantTold(t, d.Run())
}

// TestAFailingEvictionKeepsNobodyElse has the eviction of one pod fail each time,
// as where two disruption budgets cover it: the next in order goes in its place.
// Where all fail, not all are tried.
func TestAFailingEvictionKeepsNobodyElse(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Thresholds, b.Enforce.MaxEvictionsPerRun = []int{100}, 1
	})
	d.Cluster.Start("ml", "open", 1)
	stuck := d.Cluster.Start("ml", "stuck", 1)
	d.Cluster.Pods[stuck].Priority = -1
	d.Cluster.Step(4 * time.Hour)
	d.Cluster.Broken = map[string]error{"stuck": errors.New("it has more than one disruption budget")}
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantTold(t, report, "done alert", "done freeze", "failed evict stuck", "done evict open")
	if b := report.Budgets[0]; b.Outcome != outcome.Failed || !strings.Contains(b.Error.Message, "more than one") {
		t.Errorf("the budget is %s: %+v", b.Outcome, b.Error)
	}
	for n := range 30 {
		d.Cluster.Start("ml", fmt.Sprint("more-", n), 1)
	}
	d.Cluster.Failing["Evict"] = forbidden{}
	if report, err = d.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := len(reconciletest.Told(report)); n < 2 || n > 20 {
		t.Errorf("%d evictions were tried", n)
	}
}

// TestAPauseFollowsItsSelector takes a namespace out of a budget that goes on
// being exceeded: what is paused there is resumed, and the rest stays.
func TestAPauseFollowsItsSelector(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Pause), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.Cluster.Start("ml", "a", 8, ownedBy("Job", "train"))
	d.Cluster.Start("web", "w", 8, ownedBy("Job", "serve"))
	d.Cluster.Step(time.Hour)
	wantTold(t, d.Run(), "done alert", "done suspend train", "done suspend serve")
	b.Selector = budget.Selector{Namespaces: []string{"ml"}}
	if _, err := d.Budgets().Update(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	wantTold(t, d.Run(), "done resume serve")
	wantTold(t, d.Run())
	if got := d.Cluster.Stopped(); !slices.Equal(got, []string{"train"}) {
		t.Errorf("paused are %v", got)
	}
}

// TestLongGracePeriodsAreShortened has pods that ask for ten years to terminate: one that the budget evicts,
// and one that another process deleted.
func TestLongGracePeriodsAreShortened(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Thresholds, b.Enforce.MaxGracePeriod = []int{100}, "2m"
	})
	years := func(s *gpu.Pod) { s.TerminationGrace = 315360000 }
	d.Cluster.Start("ml", "slow", 8, years)
	deleted := d.Cluster.Start("ml", "deleted", 8, years)
	d.Cluster.Pods[deleted].Deletion = ledger.TimeOf(d.Cluster.Now().Add(87600 * time.Hour))
	d.Cluster.Step(time.Hour)
	wantTold(t, d.Run(), "done alert", "done freeze", "done evict slow", "done shorten deleted")
	if !slices.Equal(d.Cluster.Graces, []int64{120, 120}) {
		t.Errorf("they got %v s to end", d.Cluster.Graces)
	}
	wantTold(t, d.Run())
	d.Cluster.Step(3 * time.Minute)
	for range 2 {
		report := d.Run()
		wantTold(t, report)
		if !strings.Contains(fmt.Sprint(report.Budgets[0].Warnings), "1 pod is terminating, and still holds GPUs: ml/deleted (due at") {
			t.Errorf("warnings %v", report.Budgets[0].Warnings)
		}
	}
}
