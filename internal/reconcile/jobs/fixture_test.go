package jobs_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/jobs"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

const key = "ml/g1"

func aRun() request.Request { return request.Request{Run: &request.Run{}} }

func aGrant() request.Request {
	return request.Request{Grant: &request.Grant{Budget: "team-a", GPUHours: "50", Span: request.Span{Duration: "4h"}, Reason: "release"}}
}

func aPool(changes ...func(*request.StockPool)) request.Request {
	p := &request.StockPool{
		Name: "g1", Namespace: "ml", SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 2,
		Env: map[string]string{"TOKEN": "secret"}, Span: request.Span{Duration: "2d"},
	}
	for _, change := range changes {
		change(p)
	}
	return request.Request{StockPool: p}
}

func aDelete(pool string) request.Request {
	return request.Request{Delete: &request.Delete{StockPool: pool}}
}

// fixture is a cluster, and a store with the budget team-a.
type fixture struct {
	*reconciletest.Fixture
	t      *testing.T
	budget budget.Declaration
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	d := &fixture{Fixture: reconciletest.NewFixture(t), t: t}
	d.budget = d.Declare()
	return d
}

func (d *fixture) queue() jobs.Queue { return d.Process().Jobs() }

func (d *fixture) submit(r request.Request, idempotencyKey string) request.Job {
	d.t.Helper()
	job, err := d.queue().Submit(context.Background(), r, "ann", idempotencyKey)
	if err != nil {
		d.t.Fatalf("submitting a request: %v", err)
	}
	return job
}

// is checks the state of a job, and returns it.
func (d *fixture) is(id string, state request.State) request.Job {
	d.t.Helper()
	job, err := d.queue().Job(context.Background(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	if job.State != state {
		d.t.Errorf("the %s job is %s, want %s: %q, %+v", job.Type, job.State, state, job.Reasons.Texts(), job.Error)
	}
	return job
}

func (d *fixture) recorded() record.Stored[stockpool.Declaration] {
	d.t.Helper()
	r, err := record.StockPools(record.Repository{Store: d.Store()}).Load(context.Background(), key)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func (d *fixture) grants() budget.Grants {
	d.t.Helper()
	all, err := record.Grants(record.Repository{Store: d.Store()}).Of(context.Background(), d.budget.UID)
	if err != nil {
		d.t.Fatal(err)
	}
	return all.Grants
}

// events are those of a kind in the history.
func (d *fixture) events(kind history.Kind) []history.Event {
	d.t.Helper()
	m := &eventlog.Log{Store: d.Store(), Now: d.Cluster.Now}
	answer, err := m.Ask(context.Background(), history.Query{
		Kinds: []history.Kind{kind}, Since: d.Cluster.Now().Add(-60 * 24 * time.Hour), Until: d.Cluster.Now().Add(time.Hour),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return answer.Events
}

// listed are the IDs of all jobs, in order.
func (d *fixture) listed() []string {
	d.t.Helper()
	all, unreadable, err := d.queue().Jobs(context.Background())
	if err != nil || len(unreadable) > 0 {
		d.t.Fatal(err, unreadable)
	}
	ids := make([]string, len(all))
	for n, job := range all {
		ids[n] = job.ID
	}
	return slices.Sorted(slices.Values(ids))
}

func run(p reconcile.World) error {
	_, err := p.Runner().Run(context.Background(), reconcile.RunOptions{})
	return err
}
