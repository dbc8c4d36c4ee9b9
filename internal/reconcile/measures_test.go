package reconcile_test

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
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// TestJudgementClosesTheGateOfItsRun finds a budget exceeded in a run that can't
// act on it: its pools launch nothing in that run all the same, nor by what it
// leaves in the store.
func TestJudgementClosesTheGateOfItsRun(t *testing.T) {
	t.Parallel()
	for name, prevent := range map[string]func(g *gated) (undo func()){
		"its lock is held": func(g *gated) func() {
			lock, err := g.store().Lock(context.Background(), "budget/team-a", 0)
			if err != nil {
				g.t.Fatal(err)
			}
			return func() { _ = lock.Release() }
		},
		"no fresh look": func(g *gated) func() {
			g.cluster.failing["LivePods"] = errors.New("list pods: timeout")
			return func() { delete(g.cluster.failing, "LivePods") }
		},
		"no list of what is in force": func(g *gated) func() {
			g.cluster.failing["Freezes"] = errors.New("list bindings: timeout")
			return func() { delete(g.cluster.failing, "Freezes") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGated(t)
			b := g.budget
			b.Enforce.Action, b.Enforce.GracePeriod = budget.Evict, "0s"
			if _, err := g.engine().Budgets().Update(context.Background(), b); err != nil {
				t.Fatal(err)
			}
			g.run(reconcile.RunOptions{})
			g.cluster.start("ml", "a", 8)
			g.cluster.step(40 * time.Minute)
			g.lose()
			undo := prevent(g)
			e := g.engine()
			e.LockTimeout = 0
			report, err := e.Run(context.Background(), reconcile.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if r := report.Budgets[0]; r.Outcome == outcome.Done || r.Error == nil || r.UsageReport == nil || !*r.Exceeded {
				t.Errorf("the budget is %s: %+v, %+v", r.Outcome, r.Error, r.UsageReport)
			}
			if p := report.SpotPools[0]; p.Outcome != outcome.Short || !strings.Contains(strings.Join(p.Short, "\n"), "used up") {
				t.Errorf("the pool is %s: %v, %+v", p.Outcome, p.Short, p.Error)
			}
			g.verify(0)
			if gate, err := g.engine().Pools().Gate(context.Background(), g.pool); err != nil || !gate.Closed {
				t.Errorf("the gate afterwards: %+v, %v", gate, err)
			}
			undo()
			if report := g.run(reconcile.RunOptions{}); !slices.Contains(told(report), "done freeze") {
				t.Errorf("the next run: %v", told(report))
			}
		})
	}
}

// TestFreezeOfAKilledRunIsLifted has a run killed between its freeze and its
// status, and the budget enforce nothing then, or be destroyed.
func TestFreezeOfAKilledRunIsLifted(t *testing.T) {
	t.Parallel()
	killed := func(t *testing.T) (*desk, budget.Declaration) {
		d := newDesk(t)
		b := d.declare(enforcing(budget.Freeze), func(b *budget.Declaration) { b.Thresholds = []int{100} })
		d.cluster.start("ml", "a", 8)
		d.cluster.step(time.Hour)
		d.cluster.frozen[b.UID] = budget.FreezeRule{Budget: b.Name, BudgetUID: b.UID, Selector: b.Selector}
		b.Enforce.Action = budget.AlertOnly
		if _, err := d.engine().Budgets().Update(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		b.Generation++
		return d, b
	}
	d, _ := killed(t)
	wantTold(t, d.run(), "done alert", "done unfreeze")
	d, b := killed(t)
	if _, err := d.engine().Budgets().Delete(context.Background(), b); err != nil || len(d.cluster.frozen) > 0 {
		t.Errorf("destroyed: %v, frozen %v", err, d.cluster.frozen)
	}
	d, b = killed(t)
	d.cluster.failing["Unfreeze"] = forbidden{}
	if _, err := d.engine().Budgets().Delete(context.Background(), b); err != nil {
		t.Errorf("without the right to lift what it never did: %v", err)
	}
}

// TestFreezeThatLandsAfterTheEndIsLifted has the freeze of a destroyed budget
// land late, where no budget is left, or one that alerts alone.
func TestFreezeThatLandsAfterTheEndIsLifted(t *testing.T) {
	t.Parallel()
	for _, alerts := range []bool{false, true} {
		d := newDesk(t)
		b := d.declare(enforcing(budget.Freeze))
		if _, err := d.engine().Budgets().Delete(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		if alerts {
			d.declare(func(b *budget.Declaration) { b.Name = "alerts" })
		}
		d.cluster.frozen[b.UID] = budget.FreezeRule{Budget: b.Name, BudgetUID: b.UID}
		report := d.run()
		if len(d.cluster.frozen) > 0 || !strings.Contains(fmt.Sprint(report.Warnings), "it was lifted") {
			t.Errorf("with alerts alone %t: frozen %v, warnings %v", alerts, d.cluster.frozen, report.Warnings)
		}
		if report = d.run(); len(report.Warnings) > 0 {
			t.Errorf("and then %v", report.Warnings)
		}
	}
}

// TestMeasuresOfAStrangerAreTold warns of a freeze that no budget of this store
// is known to have made, and leaves it.
func TestMeasuresOfAStrangerAreTold(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.cluster.frozen["uid-of-nobody"] = budget.FreezeRule{Budget: "theirs", BudgetUID: "uid-of-nobody"}
	report := d.run()
	if len(d.cluster.frozen) != 1 || !strings.Contains(fmt.Sprint(report.Warnings), "a budget with the uid uid-of-nobody") {
		t.Errorf("frozen %v, warnings %v", d.cluster.frozen, report.Warnings)
	}
}

// TestWhatWeighsNothingIsNotEvicted spares pods that count for nothing in the
// budget, whether a run has seen them before or not.
func TestWhatWeighsNothingIsNotEvicted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Thresholds, b.ModelWeights = []int{100}, map[string]string{"Tesla-T4": "0"}
	})
	t4 := func(s *gpu.Sighting) { s.Node.Model = "Tesla-T4" }
	d.cluster.start("ml", "v100", 8)
	d.cluster.start("ml", "t4", 1, t4)
	d.cluster.step(time.Hour)
	d.cluster.during = func(method string) {
		if method == "LivePods" {
			d.cluster.during = nil
			d.cluster.start("ml", "fresh-t4", 1, t4)
			d.cluster.start("ml", "fresh-v100", 1)
		}
	}
	wantTold(t, d.run(), "done alert", "done freeze", "done evict fresh-v100", "done evict v100")
	wantTold(t, d.run())
}

// TestAFailingEvictionKeepsNobodyElse has the eviction of one pod fail each time,
// as where two disruption budgets cover it: the next in order goes in its place.
// Where all fail, not all are tried.
func TestAFailingEvictionKeepsNobodyElse(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Thresholds, b.Enforce.MaxEvictionsPerRun = []int{100}, 1
	})
	d.cluster.start("ml", "open", 1)
	stuck := d.cluster.start("ml", "stuck", 1)
	d.cluster.pods[stuck].Live.Priority = -1
	d.cluster.step(4 * time.Hour)
	d.cluster.broken = map[string]error{"stuck": errors.New("it has more than one disruption budget")}
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantTold(t, report, "done alert", "done freeze", "failed evict stuck", "done evict open")
	if b := report.Budgets[0]; b.Outcome != outcome.Failed || !strings.Contains(b.Error.Message, "more than one") {
		t.Errorf("the budget is %s: %+v", b.Outcome, b.Error)
	}
	for n := range 30 {
		d.cluster.start("ml", fmt.Sprint("more-", n), 1)
	}
	d.cluster.failing["Evict"] = forbidden{}
	if report, err = d.engine().Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := len(told(report)); n != 11 {
		t.Errorf("%d evictions were tried", n)
	}
}

// TestAPauseFollowsItsSelector takes a namespace out of a budget that goes on
// being exceeded: what is paused there is resumed, and the rest stays.
func TestAPauseFollowsItsSelector(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare(enforcing(budget.Pause), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.cluster.start("ml", "a", 8, ownedBy("Job", "train"))
	d.cluster.start("web", "w", 8, ownedBy("Job", "serve"))
	d.cluster.step(time.Hour)
	wantTold(t, d.run(), "done alert", "done suspend train", "done suspend serve")
	b.Selector = budget.Selector{Namespaces: []string{"ml"}}
	if _, err := d.engine().Budgets().Update(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	wantTold(t, d.run(), "done resume serve")
	wantTold(t, d.run())
	if got := d.cluster.stopped(); !slices.Equal(got, []string{"train"}) {
		t.Errorf("paused are %v", got)
	}
}

// TestNobodyTakesYearsToEnd has pods that ask for ten years to end: one that the
// budget evicts, and one that someone else deleted.
func TestNobodyTakesYearsToEnd(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Thresholds, b.Enforce.MaxGracePeriod = []int{100}, "2m"
	})
	years := func(s *gpu.Sighting) { s.Live.Grace = 315360000 }
	d.cluster.start("ml", "slow", 8, years)
	deleted := d.cluster.start("ml", "deleted", 8, years)
	d.cluster.pods[deleted].Live.Deletion = d.cluster.now.Add(87600 * time.Hour)
	d.cluster.step(time.Hour)
	wantTold(t, d.run(), "done alert", "done freeze", "done evict slow", "done shorten deleted")
	if !slices.Equal(d.cluster.graces, []int64{120, 120}) {
		t.Errorf("they got %v s to end", d.cluster.graces)
	}
	wantTold(t, d.run())
	d.cluster.step(3 * time.Minute)
	for range 2 {
		report := d.run()
		wantTold(t, report)
		if !strings.Contains(fmt.Sprint(report.Budgets[0].Warnings), "1 pod is ending, and still holds GPUs: ml/deleted (was to end at") {
			t.Errorf("warnings %v", report.Budgets[0].Warnings)
		}
	}
}
