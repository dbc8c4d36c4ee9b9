package stockpools_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// uses has a workload's pod hold so many GPUs from now on.
func (d *fixture) uses(name string, gpus int64, uid string) string {
	return d.Cluster.Start("ml", name, gpus, func(p *gpu.Pod) {
		p.Owner = &ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: uid}
	})
}

func (d *fixture) budget(action budget.Action) {
	d.Declare(func(b *budget.Declaration) { b.Enforce.Action = action })
}

// TestPoolRespectsThePauseOfItsBudget: the budget leaves the pool's Deployment to
// it, and pauses others; the pool comes back once usage falls.
func TestPoolRespectsThePauseOfItsBudget(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.Pause)
	d.Run()
	state := d.create()
	d.is(2, decide.Ready)
	own := d.uses("pool-g1", 4, state.Declaration.DeploymentUID)
	other := d.uses("train", 4, "uid-of-train")
	d.Cluster.Step(2 * time.Hour)
	d.Run()
	r := d.Run()
	if got := d.report(r); got.Phase != decide.Paused || d.replicas() != 0 || got.Of(decide.WithinBudget).Status != "False" {
		t.Errorf("its budget is used up, and it has %d pods: %+v", d.replicas(), got.Status)
	}
	if slices.ContainsFunc(d.Cluster.Acts, func(act string) bool { return strings.HasPrefix(act, "Pause pool-g1") }) ||
		!slices.Contains(d.Cluster.Acts, "Pause train") {
		t.Errorf("the budget did %q", d.Cluster.Acts)
	}
	for _, w := range r.Warnings {
		t.Errorf("it warns: %s", w)
	}
	d.Cluster.Remove(own)
	if d.Cluster.Pods[other] != nil {
		d.Cluster.Remove(other)
	}
	d.is(0, decide.Paused)
	d.Cluster.Step(25 * time.Hour)
	d.is(2, decide.Ready)
	for kind, want := range map[history.Kind]int{history.Pause: 1, history.Resume: 1, history.GateClosed: 1, history.GateOpened: 1, history.Revert: 0} {
		if got := d.reported(kind); got != want {
			t.Errorf("the history has %d events of %s, want %d", got, kind, want)
		}
	}
}

// TestAPoolIsPausedInTheRunThatJudgesItsBudget: as other workloads are, whatever part of a
// second has passed.
func TestAPoolIsPausedInTheRunThatJudgesItsBudget(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.Pause)
	d.Run()
	d.create()
	d.is(2, decide.Ready)
	d.uses("train", 4, "uid-of-train")
	d.Cluster.Step(2*time.Hour + 500*time.Millisecond)
	d.Run()
	if d.replicas() != 0 || !slices.Contains(d.Cluster.Acts, "Pause train") {
		t.Errorf("it has %d pods, and the budget did %q", d.replicas(), d.Cluster.Acts)
	}
}

// TestAnExceededBudgetKeepsThePoolFromGrowing, whatever is declared, and ends nothing.
func TestAnExceededBudgetKeepsThePoolFromGrowing(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.AlertOnly)
	d.Run()
	state := d.create(func(d *stockpool.Declaration) { d.Budget = "team-a" })
	d.uses("train", 4, "uid-of-train")
	d.Cluster.Step(2 * time.Hour)
	d.Run()
	more := state.Declaration
	more.Replicas = 5
	if _, err := d.Process().StockPools().Update(context.Background(), more, 0); err != nil {
		t.Fatal(err)
	}
	d.is(2, decide.Degraded)
	viewed, err := d.Process().StockPools().View(context.Background(), state.Declaration)
	if err != nil || !slices.ContainsFunc(viewed.Warnings.Texts(), func(text string) bool {
		return strings.Contains(text, "it cannot grow: budget/team-a is used up")
	}) {
		t.Errorf("a refresh warns %q: %v", viewed.Warnings, err)
	}
}

// TestUndeclaredBudgetIsReportedAtPlan: it may come by the same apply, so it is
// refused by nothing.
func TestUndeclaredBudgetIsReportedAtPlan(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	named := pool(func(d *stockpool.Declaration) { d.Budget = "team-a" })
	var undeclared *record.UndeclaredError
	if err := d.Process().StockPools().Refusal(context.Background(), named); !errors.As(err, &undeclared) || strings.Contains(err.Error(), "use the store") {
		t.Errorf("a plan reports %v", err)
	}
	d.budget(budget.AlertOnly)
	typo := pool(func(d *stockpool.Declaration) { d.Budget = "team-x" })
	if err := d.Process().StockPools().Refusal(context.Background(), typo); err == nil ||
		!strings.Contains(err.Error(), `has no budget "team-x": did you mean "team-a"? It has team-a`) {
		t.Errorf("of a name that is misspelled, a plan reports %v", err)
	}
	if err := d.Process().StockPools().Refusal(context.Background(), named); err != nil {
		t.Errorf("of a budget that is declared, a plan reports %v", err)
	}
	created := d.create(func(d *stockpool.Declaration) { d.Budget = "team-x" })
	text := strings.Join(created.Warnings.Texts(), "\n")
	if !strings.Contains(text, record.DeclaredTogether) {
		t.Errorf("a creation warns %q", text)
	}
	within := d.report(d.Run()).Of(decide.WithinBudget)
	if within.Status != "Unknown" || !strings.Contains(within.Message.String(), `budget/team-x is not declared: `) ||
		!strings.Contains(within.Message.String(), `did you mean "team-a"?`) {
		t.Errorf("of a name that is misspelled, a run says %+v", within)
	}
}

// TestLabelExemptsNoWorkload: a Deployment that only has the label of stock pools is paused like
// any other.
func TestLabelExemptsNoWorkload(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.Pause)
	d.create()
	d.Cluster.WorkloadOf(budget.Workload{
		Namespace: "ml", Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "sly", UID: "uid-of-sly"},
	}).Labels = pool().PodLabels()
	d.uses("sly", 4, "uid-of-sly")
	d.Cluster.Step(2 * time.Hour)
	d.Run()
	if !slices.Contains(d.Cluster.Acts, "Pause sly") {
		t.Errorf("the budget did %q", d.Cluster.Acts)
	}
}

// TestANewPoolWaitsForItsBudget: a budget that was never evaluated may be exceeded.
func TestANewPoolWaitsForItsBudget(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.Pause)
	if state := d.create(); len(state.Warnings) == 0 || d.replicas() != 0 {
		t.Errorf("it has %d pods, and warns %q", d.replicas(), state.Warnings)
	}
	d.is(2, decide.Ready)
}

// TestUnmanagedDeploymentIsPaused: a budget pauses a Deployment whose stock pool is being created,
// is being deleted or has no record.
func TestUnmanagedDeploymentIsPaused(t *testing.T) {
	t.Parallel()
	phases := map[string]func(*fixture){
		"creating": func(d *fixture) { d.phase(declaration.Creating) },
		"deleting": func(d *fixture) { d.phase(declaration.Deleting) },
		"forgotten": func(d *fixture) {
			if err := d.records().Remove(context.Background(), d.recorded()); err != nil {
				t.Error(err)
			}
		},
		"deleting, with a journal that can't be read": func(d *fixture) {
			d.phase(declaration.Deleting)
			d.damage(store.StockJournals, d.recorded().Value.Declaration.UID)
		},
	}
	for name, becomes := range phases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.budget(budget.Pause)
			d.Run()
			state := d.create()
			d.is(2, decide.Ready)
			becomes(d)
			d.uses("pool-g1", 4, state.Declaration.DeploymentUID)
			d.Cluster.Step(2 * time.Hour)
			d.Run()
			if !slices.Contains(d.Cluster.Acts, "Pause pool-g1") {
				t.Errorf("the budget did %q", d.Cluster.Acts)
			}
		})
	}
}

// TestUnreadableBudgetPausesNoStockPool: a budget does not take the place of a run on a
// guess. Where only the record is unreadable, other workloads are paused all the same.
func TestUnreadableBudgetPausesNoStockPool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(*fixture, string)
		others bool
	}{
		"its record":  {func(d *fixture, _ string) { d.damage(store.StockPools, key) }, true},
		"its journal": {func(d *fixture, uid string) { d.damage(store.StockJournals, uid) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.budget(budget.Pause)
			d.Run()
			state := d.create()
			d.is(2, decide.Ready)
			c.damage(d, state.Declaration.UID)
			d.uses("pool-g1", 4, state.Declaration.DeploymentUID)
			d.uses("train", 4, "uid-of-train")
			d.Cluster.Step(2 * time.Hour)
			if _, err := d.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
				t.Fatal(err)
			}
			if slices.Contains(d.Cluster.Acts, "Pause pool-g1") || slices.Contains(d.Cluster.Acts, "Pause train") != c.others {
				t.Errorf("the budget did %q", d.Cluster.Acts)
			}
		})
	}
}

// TestABudgetDeclaredMeanwhileIsNotJudgedYet: it may come by the apply that creates the pool.
func TestABudgetDeclaredMeanwhileIsNotJudgedYet(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Cluster.Hook = faults.Before(func(string) {
		d.Cluster.Hook = nil
		d.budget(budget.AlertOnly)
	})
	created := d.create(func(d *stockpool.Declaration) { d.Budget = "team-a" })
	text := strings.Join(created.Warnings.Texts(), "\n")
	if !strings.Contains(text, "it has no status in the store") || strings.Contains(text, "not declared") ||
		strings.Contains(text, record.DeclaredTogether) {
		t.Errorf("a creation warns %q", text)
	}
}
