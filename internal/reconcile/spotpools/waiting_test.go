package spotpools_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// waitingRun starts a run that launches two of three machines again and waits for
// them: their launch hangs. It looks after each pause.
func waitingRun(t *testing.T, pause, atMost time.Duration) (w *world, d spotpool.Declaration, report func() reconcile.Report) {
	t.Helper()
	w = newWorld(t)
	d = w.MustCreate(3, 3)
	w.Reclaim(2)
	w.fail(cvmsim.Fault{Kind: cvmsim.FaultLaunchHangs, Count: -1})
	reports := make(chan reconcile.Report, 1)
	p := w.Process(nil)
	p.PollInterval = pause
	go func() {
		r, err := p.Runner().Run(context.Background(), reconcile.RunOptions{Wait: true, WaitTimeout: atMost})
		if err != nil {
			t.Errorf("reconcile: %v", err)
		}
		reports <- r
	}()
	for len(w.Own()) < 3 {
		time.Sleep(time.Millisecond)
	}
	return w, d, func() reconcile.Report { return <-reports }
}

// A run that waits for its launches uses the current declaration: if maximum was lowered
// meanwhile, it launches no more for the old minimum.
func TestWaitingRunGoesByTheDeclarationOfNow(t *testing.T) {
	t.Parallel()
	w, lowered, report := waitingRun(t, 5*time.Millisecond, 5*time.Second)
	lowered.Minimum, lowered.Maximum = 1, 1
	if _, err := w.Pools(nil).Update(context.Background(), lowered, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	before := w.Launched()
	w.Reclaim(1)
	report()
	if n := w.Launched(); n > before {
		t.Errorf("%d more were launched after maximum was lowered to 1: %s", n-before, reconciletest.Describe(w.Own()))
	}
}

// Nor does it launch for a pool whose destruction was begun, or is over.
func TestWaitingRunLeavesADestroyedPoolAlone(t *testing.T) {
	t.Parallel()
	w, d, report := waitingRun(t, 3*time.Second, time.Minute) // so that all is over before it looks again
	before := w.Launched()
	deleted := make(chan error, 1)
	go func() {
		_, err := w.Pools(nil).Delete(context.Background(), d, 20*time.Second)
		deleted <- err
	}()
	for record, _, err := w.Pools(nil).Recorded(context.Background(), reconciletest.Region, "train"); err == nil && record.Phase != declaration.Deleting; {
		record, _, err = w.Pools(nil).Recorded(context.Background(), reconciletest.Region, "train")
	}
	for _, i := range w.Own() { // a hanging instance cannot be terminated
		if err := w.Sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: []string{i.InstanceID}, State: "GONE"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	r := report()
	if n := w.Launched(); n > before {
		t.Errorf("%d more were launched for a pool that was destroyed: %s", n-before, reconciletest.Describe(w.Own()))
	}
	if len(r.SpotPools) != 1 || r.SpotPools[0].Outcome == outcome.Done && !r.SpotPools[0].Deleted {
		t.Errorf("the run says of the destroyed pool: %+v", r.SpotPools)
	}
	if docs, err := w.Store().List(context.Background(), store.Journals); err != nil || len(docs) > 0 {
		t.Errorf("the store has %d journals of pools that are no more: %v", len(docs), err)
	}
}
