package stockpools_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const key = "ml/pool-g1"

// pool is a stock pool of two pods of team a, changed as asked.
func pool(changes ...func(*stockpool.Declaration)) stockpool.Declaration {
	d := stockpool.Declaration{
		Name: "pool-g1", Namespace: "ml", SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 2,
		Labels: map[string]string{"team": "a"}, AllocatedSelector: "session",
	}
	for _, change := range changes {
		change(&d)
	}
	return d.WithDefaults()
}

// fixture is a cluster and a store with stock pools, and perhaps budgets.
type fixture struct {
	*reconciletest.Fixture
	t *testing.T
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{Fixture: reconciletest.NewFixture(t), t: t}
}

func (d *fixture) create(changes ...func(*stockpool.Declaration)) stockpools.State {
	d.t.Helper()
	state, err := d.Process().StockPools().Create(context.Background(), pool(changes...), 0)
	if err != nil {
		d.t.Fatalf("creating the stock pool: %v", err)
	}
	return state
}

// report returns the run's report of the one pool, which must not have failed.
func (d *fixture) report(r reconcile.Report) stockpools.Report {
	d.t.Helper()
	if len(r.StockPools) != 1 {
		d.t.Fatalf("the report is of %d stock pools: %v", len(r.StockPools), r.Warnings)
	}
	if e := r.StockPools[0].Error; e != nil {
		d.t.Fatalf("the stock pool %s: %s", r.StockPools[0].Outcome, e.Message)
	}
	return r.StockPools[0]
}

// replicas is how many pods the Deployment asks for; -1 where there is none.
func (d *fixture) replicas() int {
	of := d.Cluster.Deployment(key)
	if of == nil {
		return -1
	}
	return int(*of.Spec.Replicas)
}

// is checks that the pool has so many pods and this phase, after a run that finds
// nothing more to do.
func (d *fixture) is(replicas int, phase decide.Phase) {
	d.t.Helper()
	d.Cluster.Step(time.Minute)
	d.Run()
	r := d.Run()
	got := d.report(r)
	if d.replicas() != replicas || got.Phase != phase {
		d.t.Errorf("it asks for %d pods and is %s, want %d and %s: %+v", d.replicas(), got.Phase, replicas, phase, got.Status)
	}
	for _, decision := range r.Decisions {
		if strings.HasPrefix(decision.Object(), "stock_pool/") {
			d.t.Errorf("a second run finds something to do: %s", decision.Summary())
		}
	}
}

func (d *fixture) reported(kind history.Kind) int {
	d.t.Helper()
	m := &eventlog.Log{Store: d.Store(), Now: d.Cluster.Now}
	answer, err := m.Ask(context.Background(), history.Query{
		Of: func(object string) bool { return object == "stock_pool/"+key }, Since: d.Cluster.Now().Add(-48 * time.Hour), Until: d.Cluster.Now().Add(time.Hour),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return len(slices.DeleteFunc(answer.Events, func(e history.Event) bool { return e.Kind != kind }))
}

func (d *fixture) records() record.Lifecycle[stockpool.Declaration] {
	return record.StockPools(record.Repository{Store: d.Store(), Actor: "test", Clock: d.Cluster.Now})
}

func (d *fixture) recorded() record.Stored[stockpool.Declaration] {
	d.t.Helper()
	r, err := d.records().Load(context.Background(), key)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func (d *fixture) damage(kind store.Kind, name string) {
	d.t.Helper()
	doc, err := d.Store().Read(context.Background(), store.Key{Kind: kind, Name: name})
	if err == nil {
		_, err = d.Store().Write(context.Background(), doc.Key, []byte("{"), doc.Revision)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *fixture) journal() stockpool.Journal {
	d.t.Helper()
	j, err := record.Load[declaration.StockJournal](context.Background(), d.Store(), store.StockJournals, d.recorded().Value.Declaration.UID)
	if err != nil {
		d.t.Fatal(err)
	}
	return j.Value
}

func (d *fixture) phase(phase declaration.Phase) {
	d.t.Helper()
	r := d.recorded()
	if _, err := d.records().Save(context.Background(), r, phase, r.Value.Declaration); err != nil {
		d.t.Fatal(err)
	}
}
