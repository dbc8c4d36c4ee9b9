package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/jobs"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

var released = exception.Release{Who: "bob", Why: "not needed"}

// TestTwoQueuesWithOneKeyMakeOneJob submits the same request from several processes at once.
func TestTwoQueuesWithOneKeyMakeOneJob(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	var all sync.WaitGroup
	ids := make([]string, 8)
	for n := range ids {
		all.Go(func() {
			job, err := d.queue().Submit(context.Background(), aGrant(), "ann", "k1")
			if err != nil {
				t.Errorf("submission %d: %v", n, err)
			}
			ids[n] = job.ID
		})
	}
	all.Wait()
	if list := d.listed(); len(list) != 1 || len(slices.Compact(ids)) != 1 || ids[0] != list[0] {
		t.Errorf("the jobs are %v, and the submissions returned %v", list, ids)
	}
	other := aGrant()
	other.Grant.GPUHours = "51"
	if _, err := d.queue().Submit(context.Background(), other, "ann", "k1"); !errors.Is(err, request.ErrKeyReused) {
		t.Errorf("another request with the key: %v", err)
	}
	if job, err := d.queue().Submit(context.Background(), other, "bob", "k1"); err != nil || job.ID == ids[0] {
		t.Errorf("another requester with the key: %+v, %v", job, err)
	}
}

// TestARepeatedSubmissionReturnsTheJobAsItIs: a client that repeats a request after its job was done
// gets that job, although its stock pool exists by then.
func TestARepeatedSubmissionReturnsTheJobAsItIs(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	job := d.submit(aPool(), "k1")
	if job.Request.StockPool.Env["TOKEN"] != request.Hidden {
		t.Errorf("the job shows its environment: %v", job.Request.StockPool.Env)
	}
	d.Run()
	again := d.submit(aPool(), "k1")
	if again.ID != job.ID || again.State != request.Succeeded {
		t.Errorf("the repeated submission: %+v", again)
	}
}

// TestAKilledSubmissionIsRepeatedOnce kills a submission at its write; the client repeats it.
func TestAKilledSubmissionIsRepeatedOnce(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		d := newFixture(t)
		p := faults.Killed("Write jobs", after)
		if _, err := d.ProcessBy(p).Jobs().Submit(context.Background(), aGrant(), "ann", "k1"); err == nil || !p.Dead() {
			t.Fatalf("a killed submission: %v", err)
		}
		job := d.submit(aGrant(), "k1")
		d.Run()
		d.is(job.ID, request.Succeeded)
		if list := d.grants().List; len(list) != 1 {
			t.Errorf("killed after=%t, the grants are %v", after, list)
		}
	}
}

// TestARunAndACancelRace: a job is either canceled and not done, or done and not canceled.
func TestARunAndACancelRace(t *testing.T) {
	t.Parallel()
	for range 10 {
		d := newFixture(t)
		job := d.submit(aGrant(), "")
		var all sync.WaitGroup
		var canceled error
		all.Go(func() { d.Run() })
		all.Go(func() { _, canceled = d.queue().Cancel(context.Background(), job.ID) })
		all.Wait()
		d.Run()
		var state *request.StateError
		switch {
		case canceled == nil:
			d.is(job.ID, request.Canceled)
		case errors.As(canceled, &state):
			d.is(job.ID, request.Succeeded)
		default:
			t.Fatal(canceled)
		}
		if done := len(d.grants().List) == 1; done != (canceled != nil) {
			t.Errorf("canceled: %v; the grants are %v", canceled, d.grants().List)
		}
	}
}

// TestACancelBetweenListAndClaimWins: the run's claim is refused by the store.
func TestACancelBetweenListAndClaimWins(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	job := d.submit(aGrant(), "")
	p := &faults.Process{}
	var once sync.Once
	p.Before = func(c faults.Call) {
		if c.Name != "Write jobs" {
			return
		}
		once.Do(func() {
			if _, err := d.queue().Cancel(context.Background(), job.ID); err != nil {
				t.Error(err)
			}
		})
	}
	if err := run(d.ProcessBy(p)); err != nil {
		t.Fatal(err)
	}
	d.is(job.ID, request.Canceled)
	if len(d.grants().List) > 0 {
		t.Errorf("a canceled job was done: %v", d.grants().List)
	}
	if _, err := d.queue().Cancel(context.Background(), "none"); !errors.As(err, new(*request.NotFoundError)) {
		t.Errorf("canceling an unknown job: %v", err)
	}
}

// TestRefusedSubmissionsLeaveNothing refuses what Terraform manages, and unknown objects.
func TestRefusedSubmissionsLeaveNothing(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	ctx := context.Background()
	managed := stockpool.Declaration{
		Name: "g1", Namespace: "ml", SpecName: "g1.1", Image: "nginx:1.27", Memory: "1Gi", GPU: 1, Replicas: 1,
	}.WithDefaults()
	if _, err := d.Process().StockPools().Create(ctx, managed, 0); err != nil {
		t.Fatal(err)
	}
	unknown := aGrant()
	unknown.Grant.Budget = "team-b"
	for name, c := range map[string]struct {
		request request.Request
		as      any
	}{
		"managed by Terraform": {aPool(), new(*request.ManagedError)},
		"deletion of it":       {aDelete(key), new(*request.ManagedError)},
		"unknown deletion":     {aDelete("ml/none"), new(*record.AbsentError)},
		"invalid deletion":     {aDelete("g1"), new(*request.InvalidError)},
		"unknown budget":       {unknown, new(*record.AbsentError)},
		"undeclared budget": {
			aPool(func(p *request.StockPool) { p.Name, p.Budget = "g2", "team-b" }), new(*record.UndeclaredError),
		},
		"unknown pool": {
			request.Request{Hold: &request.Hold{Pool: "train", Span: request.Span{Duration: "1h"}, Reason: "driver"}}, new(*record.AbsentError),
		},
		"invalid":        {request.Request{}, new(*request.InvalidError)},
		"no such option": {aPool(func(p *request.StockPool) { p.Memory = "much" }), new(*request.InvalidError)},
	} {
		if _, err := d.queue().Submit(ctx, c.request, "ann", ""); !errors.As(err, c.as) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list := d.listed(); len(list) > 0 {
		t.Errorf("refused requests are queued: %v", list)
	}
}

// TestLimitsOfANamespace count what the API manages, at submission and when a job is done.
func TestLimitsOfANamespace(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	ctx := context.Background()
	q := d.queue()
	q.Limits = func(namespace string) request.Limits {
		if namespace != "ml" {
			return request.Limits{}
		}
		return request.Limits{GPUs: 5}
	}
	submit := func(name string, replicas int) (request.Job, error) {
		return q.Submit(ctx, aPool(func(p *request.StockPool) { p.Name, p.Replicas = name, replicas }), "ann", "")
	}
	if _, err := submit("g0", 6); !errors.As(err, new(*request.LimitError)) {
		t.Errorf("6 of 5 GPUs: %v", err)
	}
	first, err := submit("g1", 3)
	if err != nil {
		t.Fatal(err)
	}
	second, err := submit("g2", 3) // together they exceed it, which only the run sees
	if err != nil {
		t.Fatal(err)
	}
	d.Run()
	jobs := map[request.State]int{d.is(first.ID, d.state(first.ID)).State: 1}
	jobs[d.state(second.ID)]++
	if jobs[request.Succeeded] != 1 || jobs[request.Failed] != 1 {
		t.Fatalf("the jobs are %v", jobs)
	}
	for _, id := range []string{first.ID, second.ID} {
		if job := d.is(id, d.state(id)); job.State == request.Failed && !strings.Contains(job.Error.Message,
			"allows 5 GPUs for requested stock pools: 3 pods with 3 GPUs exist, and this request adds 3 pods with 3 GPUs") {
			t.Errorf("its error is %q", job.Error.Message)
		}
	}
	if _, err := submit("g3", 3); !errors.As(err, new(*request.LimitError)) {
		t.Errorf("3 more of 5 GPUs: %v", err)
	}
	if _, err := submit("g3", 2); err != nil {
		t.Errorf("2 more of 5 GPUs: %v", err)
	}
}

func (d *fixture) state(id string) request.State {
	d.t.Helper()
	job, err := d.queue().Job(context.Background(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	return job.State
}

// TestJobsExpire: queued ones after a day, and finished ones are deleted after a week.
func TestJobsExpire(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	job := d.submit(aGrant(), "")
	d.Cluster.Step(request.QueuedLifetime)
	d.Run()
	d.is(job.ID, request.Expired)
	if len(d.grants().List) > 0 {
		t.Error("an expired job was done")
	}
	d.Cluster.Step(request.FinishedLifetime - time.Minute)
	d.Run()
	d.is(job.ID, request.Expired)
	d.Cluster.Step(time.Minute)
	d.Run()
	if list := d.listed(); len(list) > 0 {
		t.Errorf("the jobs are %v", list)
	}
}

// TestAPoolOfTheAPIExpires: a run deletes it the usual way, with a tombstone and an event.
func TestAPoolOfTheAPIExpires(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	job := d.submit(aPool(), "")
	d.Run()
	job = d.is(job.ID, request.Succeeded)
	status, err := d.Runner().Status(context.Background())
	if err != nil || len(status.StockPools) != 1 || status.StockPools[0].Owner != "ann" || status.StockPools[0].ManagedBy != stockpool.ManagedByAPI {
		t.Fatalf("the status: %+v, %v", status.StockPools, err)
	}
	d.Cluster.Step(47 * time.Hour)
	d.Run()
	if !d.recorded().Exists() {
		t.Fatal("it was deleted before its expiry")
	}
	d.Cluster.Step(time.Hour)
	if r := d.DryRun(); r.StockPools[0].Outcome != "planned" || !d.recorded().Exists() {
		t.Errorf("the dry run: %+v", r.StockPools)
	}
	for range 2 {
		d.Run()
	}
	tombstone, err := record.Repository{Store: d.Store()}.Tombstone(context.Background(), job.EffectID)
	if d.recorded().Exists() || d.Cluster.Deployment(key) != nil || err != nil || !tombstone.Exists() {
		t.Errorf("after its expiry: %+v, tombstone %+v, %v", d.recorded().Value, tombstone.Value, err)
	}
	events := d.events("delete")
	if len(events) != 1 || !strings.Contains(strings.Join(events[0].Reasons.Texts(), " "), "requested by ann") {
		t.Errorf("its events are %+v", events)
	}
}

// outage is an error that fails no job.
type outage struct{}

func (outage) Error() string                { return "try again" }
func (outage) ErrorClass() errorclass.Class { return errorclass.Transient }

// TestAPoolExpiresBeforeItIsApplied: the run that deletes it does not observe its pods.
func TestAPoolExpiresBeforeItIsApplied(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	job := d.submit(aPool(func(p *request.StockPool) { p.Duration = "1h" }), "")
	d.Cluster.Failing["CreateStock"] = outage{}
	d.Run()
	d.is(job.ID, request.Running)
	d.Cluster.Step(time.Hour)
	delete(d.Cluster.Failing, "CreateStock")
	if r := d.Run(); len(r.StockPools) != 1 || !r.StockPools[0].Deleted || r.StockPools[0].Status != nil {
		t.Errorf("the run deleted %+v", r.StockPools)
	}
	d.is(job.ID, request.Running)
	if d.recorded().Exists() {
		t.Error("it was not deleted at its expiry")
	}
}

// TestADeletionLeavesWhatTerraformAdopted: between the submission and the run, Terraform imports the
// stock pool.
func TestADeletionLeavesWhatTerraformAdopted(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	ctx := context.Background()
	d.submit(aPool(), "")
	d.Run()
	job := d.submit(aDelete(key), "")
	imported, err := d.Process().StockPools().Find(ctx, "ml", "g1")
	if err != nil {
		t.Fatal(err)
	}
	imported.ManagedBy, imported.Owner, imported.ExpiresAt = "", "", time.Time{}
	if _, err := d.Process().StockPools().Update(ctx, imported, 0); err != nil {
		t.Fatal(err)
	}
	d.Run()
	job = d.is(job.ID, request.Failed)
	if r := d.recorded(); r.Value.Phase != "active" || d.Cluster.Deployment(key) == nil ||
		!strings.Contains(job.Error.Message, "gpupool_stock_pool, name g1") ||
		len(job.Reasons) != 1 || job.Reasons[0].Code != "managed_by_terraform" {
		t.Errorf("the job: %+v, and the record %+v", job, r.Value)
	}
}

// TestAKeyIsOfOneDeletion: after the stock pool was requested again, the earlier key of its deletion is
// of another request.
func TestAKeyIsOfOneDeletion(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.submit(aPool(), "")
	d.Run()
	first := d.submit(aDelete(key), "drop")
	if again := d.submit(aDelete(key), "drop"); again.ID != first.ID {
		t.Errorf("a repeated deletion is the job %s, not %s", again.ID, first.ID)
	}
	for range 3 {
		d.Run()
		d.Cluster.Step(time.Minute)
	}
	d.is(first.ID, request.Succeeded)
	d.submit(aPool(), "")
	d.Run()
	if _, err := d.queue().Submit(context.Background(), aDelete(key), "ann", "drop"); !errors.Is(err, request.ErrKeyReused) {
		t.Errorf("the key of the earlier deletion: %v", err)
	}
}

// TestAnIdleRunWithJobsWritesLittle: jobs that are done cost a run no writes.
func TestAnIdleRunWithJobsWritesLittle(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	for n := range 20 {
		d.submit(aRun(), fmt.Sprint(n))
	}
	d.submit(aPool(), "")
	for range 3 {
		d.Run()
		d.Cluster.Step(time.Hour)
	}
	p := &faults.Process{}
	var writes []string
	p.Before = func(c faults.Call) {
		if strings.HasPrefix(c.Name, "Write ") || strings.HasPrefix(c.Name, "Delete ") {
			writes = append(writes, c.Name)
		}
	}
	if err := run(d.ProcessBy(p)); err != nil || len(writes) > 5 {
		t.Errorf("an idle run wrote %q: %v", writes, err)
	}
}

// TestTerraformTakesOverAPoolOfTheAPI: an update by Terraform clears its owner and expiry.
func TestTerraformTakesOverAPoolOfTheAPI(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	ctx := context.Background()
	d.submit(aPool(), "")
	d.Run()
	imported, err := d.Process().StockPools().Find(ctx, "ml", "g1")
	if err != nil {
		t.Fatal(err)
	}
	imported.ManagedBy, imported.Owner, imported.ExpiresAt = "", "", time.Time{}
	state, err := d.Process().StockPools().Update(ctx, imported, 0)
	if err != nil || state.Declaration.Requested() {
		t.Fatalf("the update: %+v, %v", state.Declaration, err)
	}
	d.Cluster.Step(100 * 24 * time.Hour)
	d.Run()
	if r := d.recorded(); !r.Exists() || r.Value.Phase != "active" {
		t.Errorf("the record is %+v", r.Value)
	}
}

// TestDryAndPartialRunsClaimNothing: a dry run lists the jobs, and a run of some names leaves them.
func TestDryAndPartialRunsClaimNothing(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	job := d.submit(aGrant(), "")
	if r := d.DryRun(); len(r.Jobs) != 1 || r.Jobs[0].ID != job.ID {
		t.Errorf("the dry run has the jobs %+v", r.Jobs)
	}
	if _, err := d.Runner().Run(context.Background(), reconcile.RunOptions{Names: []string{"team-a"}}); err != nil {
		t.Fatal(err)
	}
	d.is(job.ID, request.Queued)
	if r := d.Run(); len(r.Jobs) != 1 || r.Jobs[0].State != request.Succeeded {
		t.Errorf("the run has the jobs %+v", r.Jobs)
	}
}

// TestAFullStoreLeavesJobsQueued: neither a submission nor a run loses or repeats anything.
func TestAFullStoreLeavesJobsQueued(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	full := errors.New("no space left on device")
	p := d.Process()
	p.Store = storetest.Wrap(d.Store(), &storetest.Faults{Before: func(op storetest.Op) error {
		if op.Method == "Write" {
			return full
		}
		return nil
	}})
	if _, err := p.Jobs().Submit(context.Background(), aGrant(), "ann", "k1"); !errors.Is(err, full) {
		t.Errorf("a submission to a full store: %v", err)
	}
	job := d.submit(aGrant(), "k1")
	report, _ := p.Runner().Run(context.Background(), reconcile.RunOptions{})
	if text := strings.Join(report.Warnings.Texts(), "\n"); !strings.Contains(text, "job/"+job.ID) {
		t.Errorf("the warnings are %q", text)
	}
	d.is(job.ID, request.Queued)
	d.Run()
	d.is(job.ID, request.Succeeded)
}

// TestAFullQueueRefuses further requests, and repeats of queued ones are still accepted.
func TestAFullQueueRefuses(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	ctx := context.Background()
	first := d.submit(aRun(), "k")
	doc, err := d.Store().Read(ctx, store.Key{Kind: store.Jobs, Name: first.ID})
	if err != nil {
		t.Fatal(err)
	}
	q := jobs.Queue{Repository: record.Repository{Store: copied{d.Store(), doc}, Clock: d.Cluster.Now}}
	for requester, cause := range map[string]string{"bob": "1000 jobs are queued", "ann": "1000 of your jobs are kept"} {
		if _, err := q.Submit(ctx, aRun(), requester, "other"); !errors.As(err, new(*request.FullError)) || !strings.Contains(err.Error(), cause) {
			t.Errorf("a request to a full queue by %s: %v", requester, err)
		}
	}
	if job, err := q.Submit(ctx, aRun(), "ann", "k"); err != nil || job.ID != first.ID {
		t.Errorf("a repeated request: %+v, %v", job, err)
	}
}

// copied lists as many copies of a job as a queue may have.
type copied struct {
	store.Store
	doc store.Document
}

func (c copied) List(context.Context, store.Kind) ([]store.Document, error) {
	list := make([]store.Document, jobs.MaxQueued)
	for n := range list {
		list[n] = c.doc
	}
	return list, nil
}

// TestADamagedJobStopsNoOther: it is reported, and the others are done.
func TestADamagedJobStopsNoOther(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	ctx := context.Background()
	job := d.submit(aGrant(), "")
	if _, err := d.Store().Write(ctx, store.Key{Kind: store.Jobs, Name: "damaged"}, []byte("{"), ""); err != nil {
		t.Fatal(err)
	}
	report := d.Run()
	d.is(job.ID, request.Succeeded)
	if text := fmt.Sprint(report.Warnings); !strings.Contains(text, "jobs/damaged") || !strings.Contains(text, "submit its request again") {
		t.Errorf("the warnings are %s", text)
	}
	all, unreadable, err := d.queue().Jobs(ctx)
	if len(all) != 1 || len(unreadable) != 1 || err != nil {
		t.Errorf("%v, %v, %v", all, unreadable, err)
	}
}
