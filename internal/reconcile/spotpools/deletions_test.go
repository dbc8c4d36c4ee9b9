package spotpools_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestAKilledDeletionHasItsTombstoneInTheEnd finishes by a run what a kill between the
// record and the tombstone left behind: the tombstone must be there in the end.
func TestAKilledDeletionHasItsTombstoneInTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(1, 2)
	w.killDeletionAt(d, "Write tombstones", false)
	w.CleanRuns()
	w.Verify(0)
	if _, err := w.Store().Read(context.Background(), store.Key{Kind: store.Tombstones, Name: d.UID}); err != nil {
		t.Errorf("the tombstone: %v", err)
	}
}

// TestABegunDeletionIsInTheHistory as soon as it was begun, and once, wherever it was killed.
func TestABegunDeletionIsInTheHistory(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"Write tombstones", "Terminate"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.MustCreate(1, 2)
			w.killDeletionAt(d, step, false)
			begun := func() (n int) {
				for _, e := range w.told() {
					if e.Kind == history.Delete {
						n++
					}
				}
				return n
			}
			if step == "Terminate" && begun() != 1 {
				t.Errorf("a deletion under way was begun %d times", begun())
			}
			w.CleanRuns()
			if begun() != 1 {
				t.Errorf("in the end it was begun %d times", begun())
			}
		})
	}
}

// TestARefreshOfAKilledDeletionPlansNoLaunch plans no launch for a pool that is on
// its way out.
func TestARefreshOfAKilledDeletionPlansNoLaunch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(2, 2)
	w.killDeletionAt(d, "Write tombstones", true)
	w.Reclaim(1)
	state, err := w.Pools(nil).View(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Plan.Decisions) > 0 || len(state.AllWarnings()) == 0 {
		t.Errorf("decisions %v, warnings %v", state.Plan.Decisions, state.Warnings)
	}
}

// TestARefusedEndHoldsNoOtherUp has Tencent Cloud refuse the termination of one instance for
// ever: the others still terminate, and the run names the one that did not.
func TestARefusedEndHoldsNoOtherUp(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"OperationDenied", "UnauthorizedOperation", "UnsupportedOperation", "FailedOperation", "InvalidInstance.NotSupported"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.MustCreate(4, 4)
			d = w.mustUpdate(d, size(2, 4))
			state, err := w.Pools(nil).View(context.Background(), d)
			if err != nil {
				t.Fatal(err)
			}
			refused := state.Plan.Members[0].ID
			w.fail(cvmsim.Fault{Kind: cvmsim.FaultError, Code: code, Action: "TerminateInstances", InstanceID: refused, Count: -1})
			_ = update(size(2, 2))(context.Background(), w.Process(nil), d)
			for range 3 {
				_ = runOnce(context.Background(), w.Process(nil))
			}
			own := w.Own()
			if len(own) != 2 || w.working() != 2 {
				t.Errorf("%d are left, want 2 that work: %s", len(own), reconciletest.Describe(own))
			}
			d.Generation++
			_, err = w.Pools(nil).Delete(context.Background(), d, time.Minute)
			left := w.Own()
			if err == nil || len(left) != 1 || left[0].InstanceID != refused || !contains(err.Error(), refused) {
				t.Errorf("the destroy says %v, and left are %s", err, reconciletest.Describe(left))
			}
		})
	}
}
