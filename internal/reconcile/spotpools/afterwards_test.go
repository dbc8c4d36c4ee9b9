package spotpools_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestTagsMuchLater has tags come long after anyone would expect them: the
// instances are held all the while, and none is launched in their place.
func TestTagsMuchLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *cvmsim.Options) { o.TagDelay = 30 * time.Minute })
	w.MustCreate(2, 2)
	for range 4 {
		w.Step(12 * time.Minute)
		w.CleanRuns()
	}
	w.Verify(2)
	if n := w.Launched(); n != 2 {
		t.Errorf("%d instances were launched, want 2", n)
	}
}

// TestTombstoneOfAKilledDeletion finishes by a run what a kill between the
// record and the tombstone left behind: the tombstone must be there in the end.
func TestTombstoneOfAKilledDeletion(t *testing.T) {
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

// killDeletionAt kills a deletion right before or after its first effect of a name.
func (w *world) killDeletionAt(d spotpool.Declaration, effect string, after bool) {
	w.t.Helper()
	process := &reconciletest.Mortal{KillOn: effect, After: after}
	_ = w.Pools(process).Delete(context.Background(), d, reconciletest.LongWait)
	if !process.IsDead() {
		w.t.Fatalf("the deletion never came to %q", effect)
	}
}

// TestAdoptOwn leaves what is the pool's already as it is.
func TestAdoptOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(1, 3)
	own := w.Own()[0]
	if err := w.Pools(nil).Adopt(context.Background(), d.Region, d.Name, []string{own.InstanceID}, false); err != nil {
		t.Fatal(err)
	}
	if now := w.Own()[0]; now.Config != own.Config {
		t.Errorf("its configuration tag was %q and is %q", own.Config, now.Config)
	}
	w.VerifyForeign()
}

// TestAdoptBesideRuns has a whole run between each two steps of an adoption. It
// sees the instance as soon as it is tagged, and must leave it to the adoption to
// write that down.
func TestAdoptBesideRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(1, 3)
	ids, err := w.Sim.Server.Seed(cvmsim.SeedRequest{AvailabilityZone: reconciletest.ZoneA, InstanceType: reconciletest.GPUType, VpcID: d.VPCID})
	if err != nil {
		t.Fatal(err)
	}
	beside := &reconciletest.Mortal{Pause: func() {
		if err := runOnce(context.Background(), w.Engine(nil)); err != nil {
			t.Errorf("a run beside the adoption: %v", err)
		}
	}}
	if err := w.Pools(beside).Adopt(context.Background(), d.Region, d.Name, ids, false); err != nil {
		t.Errorf("adopting: %v", err)
	}
	w.CleanRuns()
	w.Verify(2)
}

// TestViewOfAKilledDeletion plans no launch for a pool that is on its way out.
func TestViewOfAKilledDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(2, 2)
	w.killDeletionAt(d, "Write tombstones", true)
	w.Reclaim(1)
	state, err := w.Pools(nil).View(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Plan.Decisions) > 0 || len(state.Warnings) == 0 {
		t.Errorf("decisions %v, warnings %v", state.Plan.Decisions, state.Warnings)
	}
}

// TestARefusedEndHoldsNoOtherUp has the cloud refuse the end of one machine for
// ever: the others still end, and the run says which one did not.
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
			_ = update(size(2, 2))(context.Background(), w.Engine(nil), d)
			for range 3 {
				_ = runOnce(context.Background(), w.Engine(nil))
			}
			own := w.Own()
			if len(own) != 2 || w.working() != 2 {
				t.Errorf("%d are left, want 2 that work: %s", len(own), reconciletest.Describe(own))
			}
			d.Generation++
			err = w.Pools(nil).Delete(context.Background(), d, 5*time.Second)
			left := w.Own()
			if err == nil || len(left) != 1 || left[0].InstanceID != refused || !contains(err.Error(), refused) {
				t.Errorf("the destroy says %v, and left are %s", err, reconciletest.Describe(left))
			}
		})
	}
}

// TestAForgottenCreationFails has a creation stand still for longer than any apply
// takes: runs pass it over first, and then count it as failed.
func TestAForgottenCreationFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cutCreate()
	after := func(later time.Duration) spotpools.Report {
		process := w.Engine(nil)
		process.Clock = func() time.Time { return time.Now().Add(later) }
		report, err := process.Run(context.Background(), reconcile.RunOptions{})
		if err != nil || len(report.SpotPools) != 1 {
			t.Fatalf("%+v, %v", report.SpotPools, err)
		}
		return report.SpotPools[0]
	}
	if p := after(50 * time.Minute); p.Outcome != outcome.Skipped {
		t.Errorf("after 50 minutes it is %s", p.Outcome)
	}
	if p := after(70 * time.Minute); p.Outcome != outcome.Failed || !contains(p.Error.Message, "terraform apply", "terraform import") {
		t.Errorf("after 70 minutes it is %s: %+v", p.Outcome, p.Error)
	}
}
