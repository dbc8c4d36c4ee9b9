package jobs_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

// queued is a fixture with one job of each type that needs no cloud. The job drop deletes a stock
// pool that was requested before.
type queued struct {
	*fixture
	run, grant, pool, drop string

	dropped string // the UID of the stock pool to delete
}

const oldKey = "ml/old"

func newQueued(t *testing.T) *queued {
	t.Helper()
	d := newFixture(t)
	old := d.submit(aPool(func(p *request.StockPool) { p.Name = "old" }), "old").ID
	d.Run()
	return &queued{
		d, d.submit(aRun(), "run").ID, d.submit(aGrant(), "grant").ID, d.submit(aPool(), "pool").ID, d.submit(aDelete("ml/old"), "drop").ID,
		d.is(old, request.Succeeded).EffectID,
	}
}

// once checks that each job was done exactly once.
func (d *queued) once() {
	d.t.Helper()
	for _, id := range []string{d.run, d.grant, d.pool, d.drop} {
		if job := d.is(id, request.Succeeded); job.RunID == "" || len(job.Reasons) == 0 {
			d.t.Errorf("the %s job: %+v", job.Type, job)
		}
	}
	grant, pool := d.is(d.grant, request.Succeeded), d.is(d.pool, request.Succeeded)
	if list := d.grants().List; len(list) != 1 || list[0].ID != grant.EffectID || list[0].Who != "ann" {
		d.t.Errorf("the grants are %v", list)
	}
	if events := d.events(history.Grant); len(events) != 1 || !slices.Contains(grant.EventIDs, events[0].ID) {
		d.t.Errorf("the events of the grant are %v, and the job has %v", events, grant.EventIDs)
	}
	of := d.recorded().Value.Declaration
	if of.UID != pool.EffectID || of.Owner != "ann" || !of.Requested() || of.Env["TOKEN"] != "secret" {
		d.t.Errorf("the stock pool is %+v", of)
	}
	if live := d.Cluster.Deployment(key); live == nil || *live.Spec.Replicas != 2 {
		d.t.Errorf("its Deployment is %+v", live)
	}
	d.deleted()
	created := slices.DeleteFunc(d.events(history.Create), func(e history.Event) bool { return e.Object != "stock_pool/"+key })
	if len(created) != 1 || !slices.Contains(pool.EventIDs, created[0].ID) {
		d.t.Errorf("the events of its creation are %v, and the job has %v", created, pool.EventIDs)
	}
}

// deleted checks that the stock pool was deleted exactly once.
func (d *queued) deleted() {
	d.t.Helper()
	job := d.is(d.drop, request.Succeeded)
	tombstone, err := record.Repository{Store: d.Store()}.Tombstone(context.Background(), d.dropped)
	if job.EffectID != d.dropped || d.Cluster.Deployment(oldKey) != nil || err != nil || !tombstone.Exists() {
		d.t.Errorf("the deletion: %+v, tombstone %+v, %v", job, tombstone.Value, err)
	}
	if events := d.events(history.Delete); len(events) != 1 || events[0].ObjectUID != d.dropped || !slices.Contains(job.EventIDs, events[0].ID) {
		d.t.Errorf("the events of the deletion are %v, and the job has %v", events, job.EventIDs)
	}
}

// cut is a run with queued jobs that a fault cuts short, and the runs after it.
var cut = faults.Operation[*queued]{
	Name: "run", Begin: newQueued,
	Do: func(d *queued, p *faults.Process) error { return run(d.ProcessBy(p)) },
	Holds: func(d *queued, _ faults.Fault, _ error) {
		d.t.Helper()
		d.Cluster.Step(time.Minute)
		for range 3 {
			d.Run()
		}
		d.once()
	},
}

// TestAKillAtAnyEffectDoesEachJobOnce kills a run at each of its effects: its writes to the store,
// and its calls of the cluster.
func TestAKillAtAnyEffectDoesEachJobOnce(t *testing.T) {
	t.Parallel()
	cut.Play(t, faults.Kills(cut.Trace(t))...)
}

// TestAFailureAtAnyWriteDoesEachJobOnce has each kind of write fail once, before or after it takes
// effect. A call of the cluster that fails may fail the job of its stock pool: then nothing is left
// of that.
func TestAFailureAtAnyWriteDoesEachJobOnce(t *testing.T) {
	t.Parallel()
	failing := cut
	failing.Holds = func(d *queued, f faults.Fault, err error) {
		d.t.Helper()
		job, _ := d.queue().Job(context.Background(), d.pool)
		if job.State != request.Failed {
			cut.Holds(d, f, err)
			return
		}
		for range 3 {
			d.Cluster.Step(time.Minute)
			d.Run()
		}
		if d.recorded().Exists() || d.Cluster.Deployment(key) != nil || job.Error == nil {
			d.t.Errorf("its job failed (%+v), and it is there: %+v", job.Error, d.recorded().Value)
		}
		d.is(d.pool, request.Failed)
		d.is(d.grant, request.Succeeded)
		d.is(d.drop, request.Succeeded)
	}
	failing.Play(t, faults.Failing(cut.Trace(t), faults.Once, faults.Lost)...)
}

// TestAGrantReleasedAfterAKillStaysReleased: the run after a kill does not grant the hours again.
func TestAGrantReleasedAfterAKillStaysReleased(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	job := d.submit(aGrant(), "")
	p := faults.Killed("Write grants", true)
	_ = run(d.ProcessBy(p))
	if !p.Dead() || len(d.grants().List) != 1 {
		t.Fatalf("the grants after the kill are %v", d.grants().List)
	}
	d.is(job.ID, request.Running)
	if _, err := d.Budgets().Release(context.Background(), "team-a", released); err != nil {
		t.Fatal(err)
	}
	d.Run()
	d.is(job.ID, request.Succeeded)
	if list := d.grants().InForce(d.Cluster.Now()); len(list) > 0 {
		t.Errorf("hours were granted again: %v", list)
	}
}

// TestAKilledWithdrawalIsCompleted kills the run at each effect of a stock pool that the cluster
// refuses to apply. The job fails, and nothing is left of the pool.
func TestAKilledWithdrawalIsCompleted(t *testing.T) {
	t.Parallel()
	refused := faults.Operation[*queued]{
		Name: "refused", Begin: func(t *testing.T) *queued {
			d := newFixture(t)
			d.Run()
			d.Cluster.Hook = func(_ context.Context, c faults.Call, do func() error) error {
				if c.Name == "ApplyStock" || c.Name == "PreviewStock" {
					return errors.New("admission webhook denied the request: no such image")
				}
				return do()
			}
			return &queued{fixture: d, pool: d.submit(aPool(), "").ID}
		},
		Do: func(d *queued, p *faults.Process) error { return run(d.ProcessBy(p)) },
		Holds: func(d *queued, _ faults.Fault, _ error) {
			d.t.Helper()
			for range 4 {
				d.Cluster.Step(time.Minute)
				d.Run()
			}
			job := d.is(d.pool, request.Failed)
			if d.recorded().Exists() || d.Cluster.Deployment(key) != nil || job.Error == nil {
				d.t.Errorf("the job: %+v, and the record %+v", job.Error, d.recorded().Value)
			}
		},
	}
	refused.Play(t, faults.Kills(refused.Trace(t))...)
}

// holding is a spot pool with a queued hold.
type holding struct {
	*reconciletest.World
	t   *testing.T
	uid string
	id  string
}

func (h *holding) job() request.Job {
	h.t.Helper()
	job, err := h.Process(nil).Jobs().Job(context.Background(), h.id)
	if err != nil {
		h.t.Fatal(err)
	}
	return job
}

// TestAKillAtAnyEffectHoldsOnce kills the run at each effect of a hold of a spot pool.
func TestAKillAtAnyEffectHoldsOnce(t *testing.T) {
	t.Parallel()
	hold := faults.Operation[*holding]{
		Name: "hold", Begin: func(t *testing.T) *holding {
			h := &holding{World: reconciletest.NewWorld(t), t: t}
			h.uid = h.MustCreate(1, 2).UID
			job, err := h.Process(nil).Jobs().Submit(context.Background(), request.Request{
				Hold: &request.Hold{Pool: "train", Span: request.Span{Duration: "2h"}, Reason: "driver upgrade"},
			}, "ann", "hold")
			if err != nil {
				t.Fatal(err)
			}
			h.id = job.ID
			return h
		},
		Do: func(h *holding, p *faults.Process) error { return run(h.Process(p)) },
		Holds: func(h *holding, _ faults.Fault, _ error) {
			h.t.Helper()
			for range 2 {
				if err := run(h.Process(nil)); err != nil {
					h.t.Fatal(err)
				}
			}
			job := h.job()
			all, err := record.Holds(record.Repository{Store: h.Store()}).Of(context.Background(), h.uid)
			if err != nil {
				h.t.Fatal(err)
			}
			if list := all.Holds.List; job.State != request.Succeeded || len(list) != 1 || list[0].ID != job.EffectID || len(job.EventIDs) != 1 {
				h.t.Errorf("the job: %+v, and the holds %+v", job, list)
			}
		},
	}
	hold.Play(t, faults.Kills(hold.Trace(t))...)
}
