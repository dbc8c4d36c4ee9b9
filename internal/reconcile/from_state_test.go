package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

func (g *gated) stateOf(p spotpool.Declaration, b budget.Declaration) *declaration.TerraformState {
	b.PublishedAt = time.Time{} // as a state has it
	return &declaration.TerraformState{
		Form:    declaration.FormShow,
		Pools:   []declaration.StatePool{{Address: "gpupool_spot_pool.train", Declaration: p}},
		Budgets: []declaration.StateBudget{{Address: "gpupool_budget.team_a", Declaration: b}},
	}
}

// TestDryRunIsGatedByTheBudgetsOfItsState judges a pool by a budget that no
// store has yet, as the run would.
func TestDryRunIsGatedByTheBudgetsOfItsState(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.lose()
	o := reconcile.RunOptions{DryRun: true, State: g.stateOf(g.pool, g.budget)}
	g.Dir = t.TempDir() + "/another"
	p := g.run(o).SpotPools[0]
	if p.Outcome != outcome.Planned || p.Error != nil {
		t.Errorf("the pool is %s: %+v", p.Outcome, p.Error)
	}
	g.cluster.Start("ml", "a", 8)
	g.cluster.Step(30 * time.Minute)
	p = g.run(o).SpotPools[0]
	if p.Outcome != outcome.Short || !strings.Contains(strings.Join(p.Short, "\n"), "used up") {
		t.Errorf("its budget is used up, and the pool is %s: %v, %+v", p.Outcome, p.Short, p.Error)
	}
}

// TestDryRunUsesANewerState shows what the run would do that takes the
// state's declarations over, and changes nothing.
func TestDryRunUsesANewerState(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	p, b := g.pool, g.budget
	p.Minimum, p.Generation = 2, p.Generation+1
	b.GPUHours, b.Generation = "9", b.Generation+1
	report := g.run(reconcile.RunOptions{DryRun: true, State: g.stateOf(p, b)})
	if got := report.SpotPools[0]; got.Minimum != 2 || got.Outcome != outcome.Planned {
		t.Errorf("the pool: %+v", got)
	}
	if got := report.Budgets[0].LimitGPUHours; got == nil || *got != "9.000" {
		t.Errorf("the budget: %+v", report.Budgets[0])
	}
	found, err := g.process().Budgets().Find(context.Background(), b.Name)
	if record, _, poolErr := g.process().SpotPools().Recorded(context.Background(), p.Region, p.Name); err != nil || poolErr != nil || found.GPUHours != "4" ||
		record.Declaration.Minimum != 1 {
		t.Errorf("the store: %v, %v, %+v, %+v", err, poolErr, found, record.Declaration)
	}
}

// TestBudgetsOfAStateArePublishedByTheClustersClock begins the grace period of a new limit by
// the clock that measures it, and does not restart that of an old one.
func TestBudgetsOfAStateArePublishedByTheClustersClock(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	b := g.budget
	publish := func(changes ...func(*budget.Declaration)) time.Time {
		t.Helper()
		b.Generation++
		for _, change := range changes {
			change(&b)
		}
		g.cluster.Step(20 * time.Minute)
		g.run(reconcile.RunOptions{State: g.stateOf(g.pool, b)})
		found, err := g.process().Budgets().Find(context.Background(), b.Name)
		if err != nil || found.Generation != b.Generation {
			t.Fatalf("recorded: %v, %+v", err, found)
		}
		return found.PublishedAt
	}
	if at := publish(func(b *budget.Declaration) { b.Thresholds = []int{10} }); !at.Equal(g.budget.PublishedAt) {
		t.Errorf("other thresholds are published at %s, and the limit was at %s", at, g.budget.PublishedAt)
	}
	if at := publish(func(b *budget.Declaration) { b.GPUHours = "3" }); !at.Equal(g.cluster.Now()) {
		t.Errorf("another limit is published at %s, and the cluster's clock reads %s", at, g.cluster.Now())
	}
}

// TestARecordThatCantBeReadFailsOnce is one failure, not one of the store's and
// one of the state's.
func TestARecordThatCantBeReadFailsOnce(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	p, b := g.pool, g.budget
	for _, key := range []store.Key{{Kind: store.Budgets, Name: b.Name}, {Kind: store.SpotPools, Name: p.Key()}} {
		doc, err := g.Store().Read(context.Background(), key)
		if err == nil {
			_, err = g.Store().Write(context.Background(), key, []byte("spoiled"), doc.Revision)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	report := g.run(reconcile.RunOptions{State: g.stateOf(p, b)})
	if failed, rest := report.Failures(); failed != 2 || rest != 0 {
		t.Errorf("%d failed and %d did not: %+v, %+v", failed, rest, report.Budgets, report.SpotPools)
	}
}

// TestARecordThatWasNotReadFails: an object that the first list lacked fails, even if the next
// list has it.
func TestARecordThatWasNotReadFails(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	p, b := g.pool, g.budget
	p.Minimum, p.Generation = 2, p.Generation+1
	b.GPUHours, b.Generation = "9", b.Generation+1
	met := map[store.Key]bool{}
	process := g.process()
	process.Store = storetest.Wrap(process.Store, &storetest.Faults{Before: func(op storetest.Op) error {
		if op.Method != "Read" || met[op.Key] || op.Key.Kind != store.Budgets && op.Key.Kind != store.SpotPools {
			return nil
		}
		met[op.Key] = true
		return errors.New("the server is currently unable to handle the request")
	}})
	report, err := process.Runner().Run(context.Background(), reconcile.RunOptions{State: g.stateOf(p, b)})
	if err != nil || len(met) != 2 {
		t.Fatalf("%d reads failed: %v", len(met), err)
	}
	told := 0
	for _, p := range report.SpotPools {
		if p.Outcome == outcome.Failed && strings.Contains(p.Error.Message, "unable to handle") {
			told++
		}
	}
	for _, b := range report.Budgets {
		if b.Outcome == outcome.Failed && strings.Contains(b.Error.Message, "unable to handle") {
			told++
		}
	}
	if told != 2 {
		t.Errorf("%d of 2 failures are reported: %+v, %+v", told, report.SpotPools, report.Budgets)
	}
}
