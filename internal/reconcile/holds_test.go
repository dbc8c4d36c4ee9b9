package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestADamagedHoldStopsItsPoolAlone neither launches nor destroys what may be on hold.
func TestADamagedHoldStopsItsPoolAlone(t *testing.T) {
	t.Parallel()
	w := newHeld(t, 2, 4)
	key := store.Key{Kind: store.Holds, Name: w.pool.UID}
	doc, err := w.Store().Read(context.Background(), key)
	if err == nil {
		_, err = w.Store().Write(context.Background(), key, []byte("{"), doc.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Reclaim(1)
	w.Step(2 * time.Minute)
	const remedy = "Restore it from a copy, or move it away and set its grants or holds again"
	if p := w.run().SpotPools[0]; p.Outcome != outcome.Failed || !strings.Contains(p.Error.Remedy, remedy) {
		t.Errorf("the pool: %s, %+v", p.Outcome, p.Error)
	}
	if _, err := w.process(nil).SpotPools().Delete(context.Background(), w.pool, reconciletest.LongWait); err == nil || !strings.Contains(err.Error(), remedy) {
		t.Errorf("destroyed: %v", err)
	}
	w.Verify(1)
}

// TestAHoldUnderAnothersNameIsDamaged: a document that was copied from another pool does not
// hold this one.
func TestAHoldUnderAnothersNameIsDamaged(t *testing.T) {
	t.Parallel()
	w := newHeld(t, 2, 4)
	other := w.pool
	other.Name, other.UID = "serve", strings.Repeat("e", 32)
	doc, err := w.Store().Read(context.Background(), store.Key{Kind: store.Holds, Name: w.pool.UID})
	if err == nil {
		_, err = w.Store().Write(context.Background(), store.Key{Kind: store.Holds, Name: other.UID}, doc.Data, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	holds := record.Holds(record.Repository{Store: w.Store()})
	if _, err := holds.Of(context.Background(), other.UID); err == nil || !strings.Contains(err.Error(), "is damaged (it is of \""+w.pool.UID) {
		t.Errorf("it is read: %v", err)
	}
	all, err := holds.All(context.Background())
	if err != nil || all[other.UID].Err == nil || all[w.pool.UID].Err != nil {
		t.Errorf("of all there are %v, %v: %v", all[other.UID].Err, all[w.pool.UID].Err, err)
	}
}

// heldWorld is a world with a pool on hold, whose clock can be moved.
type heldWorld struct {
	*reconciletest.World
	t       *testing.T
	cluster *reconciletest.Cluster
	pool    spotpool.Declaration
}

func newHeld(t *testing.T, minimum, maximum int) *heldWorld {
	t.Helper()
	w := &heldWorld{World: reconciletest.NewWorld(t), t: t, cluster: reconciletest.NewCluster()}
	w.pool = w.MustCreate(minimum, maximum)
	if _, err := w.process(nil).SpotPools().Hold(context.Background(), "train", asked(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *heldWorld) process(m *faults.Process) reconcile.World {
	p := w.World.Process(m)
	p.Clock = w.cluster.Now
	return p
}

func (w *heldWorld) run() reconcile.Report {
	w.t.Helper()
	report, err := w.process(nil).Runner().Run(context.Background(), reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// TestAHoldStopsLaunches replaces nothing before the hold has ended, and then does.
func TestAHoldStopsLaunches(t *testing.T) {
	t.Parallel()
	w := newHeld(t, 2, 4)
	w.Reclaim(1)
	w.Step(2 * time.Minute)
	p := w.run().SpotPools[0]
	if p.Hold == nil || p.Outcome != outcome.Short || !strings.Contains(strings.Join(p.Short, "\n"),
		": night shift. Until then, no instance is launched or terminated. "+
			"To end the hold:\ngpupool release ap-singapore/train") {
		t.Errorf("the pool: %s, %v, %v", p.Outcome, p.Hold, p.Short)
	}
	w.Verify(1)
	status, err := w.process(nil).Runner().Status(context.Background())
	if err != nil || status.SpotPools[0].Hold == nil || len(status.SpotPools[0].Decisions) > 0 {
		t.Errorf("status: %+v (%v)", status.SpotPools, err)
	}
	w.cluster.Step(2 * time.Hour)
	w.run()
	w.Verify(2)
}

// TestAHoldStopsScaleInAndDestroy keeps what an apply would end, and refuses to destroy
// the pool, until it is released.
func TestAHoldStopsScaleInAndDestroy(t *testing.T) {
	t.Parallel()
	w := newHeld(t, 2, 4)
	w.pool.Minimum, w.pool.Maximum = 1, 1
	state, err := w.process(nil).SpotPools().Update(context.Background(), w.pool, reconciletest.LongWait)
	if err != nil || !strings.Contains(strings.Join(state.AllWarnings().Texts(), "\n"), "1 instance above maximum 1: on hold by ann until") {
		t.Errorf("updated: %v (%v)", state.Warnings, err)
	}
	w.Verify(2)
	_, err = w.process(nil).SpotPools().Delete(context.Background(), state.Declaration, reconciletest.LongWait)
	var held *spotpool.HeldError
	if !errors.As(err, &held) || !strings.Contains(err.Error(), "on hold by ann until") || !strings.Contains(err.Error(), "gpupool release") {
		t.Errorf("destroyed: %v", err)
	}
	w.Verify(2)
	if _, err := w.process(nil).SpotPools().Release(context.Background(), "ap-singapore/train", exception.Release{Who: "ann"}); err != nil {
		t.Fatal(err)
	}
	w.cluster.Step(2 * time.Second)
	w.run()
	w.Verify(1)
	if _, err := w.process(nil).SpotPools().Delete(context.Background(), state.Declaration, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	w.Verify(0)
	if docs, err := w.Store().List(context.Background(), store.Holds); err != nil || len(docs) > 0 {
		t.Errorf("holds that are left: %v (%v)", docs, err)
	}
}

// TestAHoldStopsADeletionThatWasBegun: a pool on hold terminates nothing more, even if its
// destroy was killed before.
func TestAHoldStopsADeletionThatWasBegun(t *testing.T) {
	t.Parallel()
	w := &heldWorld{World: reconciletest.NewWorld(t), t: t, cluster: reconciletest.NewCluster()}
	w.pool = w.MustCreate(2, 2)
	m := faults.Killed("Terminate", false)
	_, _ = w.process(m).SpotPools().Delete(context.Background(), w.pool, reconciletest.LongWait)
	if !m.Dead() {
		t.Fatal("the deletion never came to its end")
	}
	if _, err := w.process(nil).SpotPools().Hold(context.Background(), "train", asked(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if p := w.run().SpotPools[0]; p.Outcome != outcome.Skipped || !strings.Contains(p.Error.Message, "on hold by ann until") {
		t.Errorf("the pool: %s, %+v", p.Outcome, p.Error)
	}
	w.Verify(2)
	w.cluster.Step(2 * time.Hour)
	w.run()
	w.Verify(0)
}

// TestALaunchThatWasKilledWaitsForTheEndOfAHold neither repeats the call on hold nor launches
// twice afterwards, whether or not Tencent Cloud had accepted it.
func TestALaunchThatWasKilledWaitsForTheEndOfAHold(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"taken": true, "never asked": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &heldWorld{World: reconciletest.NewWorld(t), t: t, cluster: reconciletest.NewCluster()}
			d := w.MustCreate(1, 4)
			d.Minimum = 3
			m := faults.Killed("Launch", taken)
			_, _ = w.process(m).SpotPools().Update(context.Background(), d, reconciletest.LongWait)
			if !m.Dead() {
				t.Fatal("the update never came to its launch")
			}
			if _, err := w.process(nil).SpotPools().Hold(context.Background(), "train", asked(2*time.Hour)); err != nil {
				t.Fatal(err)
			}
			before := w.Launched()
			w.run()
			w.run()
			if n := w.Launched(); n != before {
				t.Errorf("%d instances were launched on hold", n-before)
			}
			w.cluster.Step(2 * time.Hour)
			w.run()
			w.Verify(3)
			if n := w.Launched(); n != 3 {
				t.Errorf("%d instances were launched in all, want 3", n)
			}
		})
	}
}

// TestAKilledHoldIsWholeOrNotThere kills the commands at each of their effects: they
// leave nothing half done, and can be repeated.
func TestAKilledHoldIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(e reconcile.World) error{
		"hold": func(e reconcile.World) error {
			_, err := e.SpotPools().Hold(context.Background(), "train", asked(time.Hour))
			return err
		},
		"release": func(e reconcile.World) error {
			_, err := e.SpotPools().Release(context.Background(), "train", exception.Release{Who: "ann"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				w := newHeld(t, 1, 2)
				m := &faults.Process{Fault: faults.Fault{At: at, After: at%2 == 0}}
				_ = do(w.process(m))
				if p := w.run().SpotPools[0]; p.Outcome != outcome.Done {
					t.Fatalf("killed at %d, the run says %s: %+v", at, p.Outcome, p.Error)
				}
				if err := do(w.process(nil)); err != nil {
					t.Fatalf("killed at %d, and again: %v", at, err)
				}
				if docs, err := record.Holds(record.Repository{Store: w.Store()}).Of(context.Background(), w.pool.UID); err != nil || len(docs.Unreported) > 1 {
					t.Fatalf("killed at %d, %d events are left to be told (%v)", at, len(docs.Unreported), err)
				}
				if !m.Dead() {
					return
				}
			}
		})
	}
}
