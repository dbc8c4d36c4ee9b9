package stockpools_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func (d *fixture) lose(kind store.Kind, name string) {
	d.t.Helper()
	doc, err := d.Store().Read(context.Background(), store.Key{Kind: kind, Name: name})
	if err == nil {
		err = d.Store().Delete(context.Background(), doc.Key, doc.Revision)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// pausedPool is a fixture whose stock pool the budget team-a paused: its usage stays above its
// limit for a day.
func pausedPool(t *testing.T, changes ...func(*stockpool.Declaration)) (*fixture, budget.Declaration) {
	t.Helper()
	d := newFixture(t)
	b := d.Declare(func(b *budget.Declaration) { b.Enforce.Action = budget.Pause })
	d.Run()
	d.create(changes...)
	d.is(2, decide.Ready)
	d.uses("train", 4, "uid-of-train")
	d.Cluster.Step(2 * time.Hour)
	d.is(0, decide.Paused)
	return d, b
}

// TestAPausedPoolStaysPausedIfTheRecordOfItsBudgetIsLost: until the record is back. The
// other budgets are still judged.
func TestAPausedPoolStaysPausedIfTheRecordOfItsBudgetIsLost(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*stockpool.Declaration){
		"selected": func(*stockpool.Declaration) {},
		"named":    func(p *stockpool.Declaration) { p.Budget = "team-a" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, b := pausedPool(t, change)
			d.Declare(func(b *budget.Declaration) { b.Name, b.Selector.MatchLabels = "team-b", map[string]string{"team": "b"} })
			d.lose(store.Budgets, "team-a")
			for range 2 {
				r := d.run()
				got := d.report(r)
				within := got.Of(decide.WithinBudget)
				if d.replicas() != 0 || within.Status != "Unknown" || !strings.Contains(within.Message.String(), "team-a") ||
					!strings.Contains(within.Message.String(), "its record is lost, and ") {
					t.Errorf("it has %d pods: %+v", d.replicas(), within)
				}
				if text := strings.Join(r.Warnings.Texts(), "\n"); !strings.Contains(text, "the record of budget/team-a (uid "+b.UID+") is lost") {
					t.Errorf("the run warns %q", r.Warnings)
				}
			}
			records := record.Budgets(record.Repository{Store: d.Store(), Actor: "test", Clock: d.Cluster.Now})
			if _, err := records.Save(context.Background(), record.Stored[budget.Declaration]{}, declaration.Active, b); err != nil {
				t.Fatal(err)
			}
			d.is(0, decide.Paused)
			for uid := range d.Cluster.Pods {
				d.Cluster.Remove(uid)
			}
			d.Cluster.Step(25 * time.Hour)
			d.is(2, decide.Ready)
		})
	}
}

// TestALostBudgetHoldsPoolsOfItsCluster: they don't grow, until its documents are removed.
func TestALostBudgetHoldsPoolsOfItsCluster(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gpus    int
		cluster string // of the lost budget; that of the pool if empty
		holds   bool
	}{
		"of this cluster":    {gpus: 1, holds: true},
		"of another cluster": {gpus: 1, cluster: "another"},
		"without GPUs":       {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(func(b *budget.Declaration) { b.Name, b.Selector.MatchLabels = "team-b", map[string]string{"team": "b"} })
			state := d.create(func(p *stockpool.Declaration) { p.GPU = c.gpus })
			d.is(2, decide.Ready)
			d.lose(store.Budgets, "team-b")
			status := record.BudgetStatusName("team-b")
			if c.cluster != "" {
				of, err := record.Load[declaration.BudgetStatus](context.Background(), d.Store(), store.Statuses, status)
				if err != nil {
					t.Fatal(err)
				}
				value := of.Value
				value.ClusterUID = c.cluster
				if _, err := record.Save(context.Background(), d.Store(), store.Statuses, status, of, value); err != nil {
					t.Fatal(err)
				}
			}
			more := state.Declaration
			more.Replicas = 5
			state, err := d.Process().StockPools().Update(context.Background(), more, 0)
			if err != nil {
				t.Fatal(err)
			}
			d.run()
			if held := d.replicas() == 2; held != c.holds || held != (len(state.Warnings) > 0) {
				t.Errorf("it has %d pods, and an apply warns %q", d.replicas(), state.Warnings)
			}
			d.lose(store.Statuses, status)
			d.is(5, decide.Ready)
		})
	}
}

// TestADestroyedBudgetLetsItsPoolGo: its tombstone proves that its record is not lost.
func TestADestroyedBudgetLetsItsPoolGo(t *testing.T) {
	t.Parallel()
	d, b := pausedPool(t)
	if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	d.is(2, decide.Ready)
}
