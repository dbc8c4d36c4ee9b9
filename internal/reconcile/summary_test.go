package reconcile_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func mustLook(t *testing.T, d *reconciletest.Fixture) reconcile.StatusReport {
	t.Helper()
	status, err := d.Runner().Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// Runs that fail in a row are counted, from when the first of them began.
func TestStatusCountsFailedRuns(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare()
	d.Run()
	d.Cluster.Step(time.Minute)
	d.Cluster.Failing["UID"] = &refusal{}
	var first, last time.Time
	for n := range 3 {
		d.Cluster.Step(time.Minute)
		last = d.Cluster.Now().UTC()
		if n == 0 {
			first = last
		}
		if _, err := d.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	status := mustLook(t, d)
	failing := status.Budgets[0].Failing
	want := &declaration.Failing{Since: first, Runs: 3, LastAt: last, Error: history.Error{
		Class: "authorization", Message: "the cluster cannot be reached: forbidden", Remedy: "Use valid credentials with this permission.",
	}, Reason: reason.ClusterUnreachable(reason.Unexplained("forbidden"))}
	if diff := cmp.Diff(want, failing); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if status.Totals.Budgets != (reconcile.BudgetTotals{Failing: 1}) || !status.Trouble() || status.Failing != nil {
		t.Errorf("together: %+v, %+v", status.Totals, status.Failing)
	}
	delete(d.Cluster.Failing, "UID")
	d.Run()
	if status := mustLook(t, d); status.Budgets[0].Failing != nil || status.Trouble() || len(status.LastRun.Failing) != 0 {
		t.Errorf("after a run that did not fail: %+v", status.LastRun)
	}
}

// refusal is an error whose class is known, and no more.
type refusal struct{}

func (*refusal) Error() string                { return "forbidden" }
func (*refusal) ErrorClass() errorclass.Class { return errorclass.Authorization }

// TestStatusReportsRunsThatCouldNotBegin: a run that could not begin is counted as a whole, and
// states of objects are kept. The next run that begins ends it.
func TestStatusReportsRunsThatCouldNotBegin(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare()
	d.Cluster.Failing["UID"] = errors.New("gone")
	if _, err := d.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d.Cluster.Step(time.Minute)
		d.Runner().FailedRun(context.Background(), reconcile.RunOptions{}, errors.New("no credentials"))
	}
	status := mustLook(t, d)
	if f := status.Failing; f == nil || f.Runs != 2 || f.Error.Message != "no credentials" {
		t.Errorf("as a whole: %+v", f)
	}
	if f := status.Budgets[0].Failing; f == nil || f.Runs != 1 {
		t.Errorf("the budget: %+v", f)
	}
	delete(d.Cluster.Failing, "UID")
	d.Run()
	if status := mustLook(t, d); status.Failing != nil || status.Budgets[0].Failing != nil {
		t.Errorf("after a run: %+v", status.LastRun)
	}
}

// TestStatusReportsARunInProgress by the record of its lock.
func TestStatusReportsARunInProgress(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare()
	if status := mustLook(t, d); status.UnderWay != nil {
		t.Errorf("before: %+v", status.UnderWay)
	}
	lock, err := d.Store().Lock(context.Background(), "run", 0)
	if err != nil {
		t.Fatal(err)
	}
	if status := mustLook(t, d); status.UnderWay == nil || status.UnderWay.PID == 0 {
		t.Errorf("meanwhile: %+v", status.UnderWay)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if status := mustLook(t, d); status.UnderWay != nil {
		t.Errorf("afterwards: %+v", status.UnderWay)
	}
}

func TestStatusTellsThatRunsStopped(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare()
	for range 6 {
		d.Cluster.Step(5 * time.Minute)
		d.Run()
	}
	last := d.Cluster.Now().UTC()
	d.Cluster.Step(14 * time.Minute)
	if status := mustLook(t, d); status.Overdue != nil {
		t.Errorf("in time: %+v", status.Overdue)
	}
	d.Cluster.Step(2 * time.Minute)
	want := &declaration.Overdue{Since: last.Add(5 * time.Minute), UsualSeconds: 300}
	if diff := cmp.Diff(want, mustLook(t, d).Overdue); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The day is written at most once a quarter hour, and not where nothing changed.
func TestLastDayIsWrittenRarely(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare()
	written := map[store.Revision]bool{}
	run := func() {
		d.Cluster.Step(time.Minute)
		d.Run()
		doc, err := d.Store().Read(context.Background(), store.Key{Kind: store.Statuses, Name: "last_day"})
		if err != nil {
			t.Fatal(err)
		}
		written[doc.Revision] = true
	}
	for range 40 { // nothing is used
		run()
	}
	if len(written) != 1 {
		t.Errorf("it was written %d times while nothing changed", len(written))
	}
	d.Cluster.Start("ml", "a", 2)
	for range 60 { // four quarter hours
		run()
	}
	if len(written) < 4 || len(written) > 6 {
		t.Errorf("it was written %d times in an hour of use", len(written)-1)
	}
	status := mustLook(t, d)
	values, of := status.LastDay.Of("budget/team-a", status.At)
	if n := len(values); n < 6 || values[0] != 0 || values[n-1] < 30 || of[0] != 100 {
		t.Errorf("the day: %v of %v", values, of)
	}
}

// TestAFailureIsOneEvent when it begins, and when its reason changes or the history lacks it.
func TestAFailureIsOneEvent(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare()
	full := faults.Fault{On: "Write " + string(store.History), Times: 100, Err: errors.New("the disk is full")}
	for _, of := range []struct {
		why   string
		fault faults.Fault
	}{{"gone", full}, {"gone", faults.Fault{}}, {"gone", faults.Fault{}}, {"away", faults.Fault{}}, {"away", full}, {}, {"away", faults.Fault{}}} {
		d.Cluster.Step(time.Minute)
		delete(d.Cluster.Failing, "UID")
		if of.why != "" {
			d.Cluster.Failing["UID"] = errors.New(of.why)
		}
		if _, err := d.ProcessBy(&faults.Process{Fault: of.fault}).Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		d.Cluster.Step(time.Minute)
		d.Runner().FailedRun(context.Background(), reconcile.RunOptions{}, errors.New("no credentials"))
	}
	answer, err := (&eventlog.Log{Store: d.Store(), Now: d.Cluster.Now}).Ask(context.Background(),
		history.Query{Kinds: []history.Kind{history.Failed, history.RunFailed}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range answer.Events {
		got = append(got, e.Error.Message)
	}
	want := []string{
		"the cluster cannot be reached: gone", "the cluster cannot be reached: away", "the cluster cannot be reached: away", "no credentials",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failures in the history (-want +got):\n%s", diff)
	}
}
