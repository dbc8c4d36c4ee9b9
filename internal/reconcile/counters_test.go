package reconcile_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

// replacing is a pool that lost an instance, and a queued job.
type replacing struct {
	*reconciletest.World
	t *testing.T
}

func newReplacing(t *testing.T) replacing {
	t.Helper()
	w := replacing{reconciletest.NewWorld(t), t}
	w.MustCreate(2, 3)
	w.CleanRuns()
	w.Reclaim(1)
	if _, err := w.Process(nil).Jobs().Submit(context.Background(), request.Request{Run: &request.Run{}}, "ann", ""); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w replacing) counters() declaration.Counters {
	w.t.Helper()
	status, err := w.Runner(nil).Status(context.Background())
	if err != nil || status.LastRun == nil {
		w.t.Fatalf("the last run is %v: %v", status.LastRun, err)
	}
	return status.LastRun.Counters
}

// counted checks that each launch, loss and job is counted once, and that runs that find nothing to do
// change no counter of events.
func (w replacing) counted() {
	w.t.Helper()
	before := w.counters()
	for range 2 {
		w.CleanRuns()
	}
	after := w.counters()
	want := map[string]int64{"launch/SPOTPAID": int64(w.Launched()), "lost": 1, "job/succeeded": 1}
	if diff := cmp.Diff(want, after.Events); diff != "" {
		w.t.Errorf("counted events (-want +got):\n%s", diff)
	}
	for name, n := range before.Events {
		if after.Events[name] < n {
			w.t.Errorf("%s fell from %d to %d", name, n, after.Events[name])
		}
	}
	if after.Runs <= before.Runs || after.CountedAt.Before(before.CountedAt) {
		w.t.Errorf("the counters before are %+v, and after %+v", before, after)
	}
}

// TestAKillAtAnyEffectCountsOnce kills a run after each of its effects. The next runs count each event
// once: those of the killed run, and those of the apply before it.
func TestAKillAtAnyEffectCountsOnce(t *testing.T) {
	t.Parallel()
	cut := faults.Operation[replacing]{
		Name: "run", Begin: newReplacing,
		Do: func(w replacing, p *faults.Process) error {
			_, err := w.Runner(p).Run(context.Background(), reconcile.RunOptions{})
			return err
		},
		Holds: func(w replacing, _ faults.Fault, _ error) {
			w.t.Helper()
			w.CleanRuns()
			w.counted()
		},
	}
	cut.Play(t, faults.Kills(cut.Trace(t))...)
}

// TestCountersOutliveTheHistory drops the history. The counters stay, and count on.
func TestCountersOutliveTheHistory(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare()
	submit := func() {
		t.Helper()
		if _, err := d.Process().Jobs().Submit(context.Background(), request.Request{Run: &request.Run{}}, "ann", ""); err != nil {
			t.Fatal(err)
		}
		d.Run()
	}
	for n := range 5 {
		submit()
		counters := mustLook(t, d).LastRun.Counters
		if got := counters.Events["job/succeeded"]; got != int64(n+1) {
			t.Errorf("%d jobs are counted, want %d", got, n+1)
		}
		if len(counters.Days) > 10 {
			t.Errorf("%d days are kept", len(counters.Days))
		}
		d.Cluster.Step(9 * 24 * time.Hour) // its documents are deleted
	}
}

// TestPartialRunsLeaveTheLastRun: calls and decisions of the last run are those of the last run of all.
func TestPartialRunsLeaveTheLastRun(t *testing.T) {
	t.Parallel()
	w := replacing{reconciletest.NewWorld(t), t}
	w.MustCreate(2, 3)
	w.CleanRuns()
	w.Reclaim(1)
	if _, err := w.Runner(nil).Run(context.Background(), reconcile.RunOptions{Names: declaration.Names{"train"}}); err != nil {
		t.Fatal(err)
	}
	status, err := w.Runner(nil).Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if last := status.LastRun; len(last.Outcomes) != last.Decisions || last.Calls["DescribeInstances"] == 0 || last.Counters.Decisions["launch/done"] != 1 {
		t.Errorf("the last run is %+v", last)
	}
}
