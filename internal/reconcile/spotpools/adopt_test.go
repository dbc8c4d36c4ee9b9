package spotpools_test

import (
	"context"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

func TestAdoptingItsOwnInstanceChangesNothing(t *testing.T) {
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

// TestAnAdoptionGoesOnBesideRuns has a whole run between each two steps of an
// adoption. It sees the instance as soon as it is tagged, and must leave it to the
// adoption to write that down.
func TestAnAdoptionGoesOnBesideRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(1, 3)
	ids, err := w.Sim.Server.Seed(cvmsim.SeedRequest{AvailabilityZone: reconciletest.ZoneA, InstanceType: reconciletest.GPUType, VpcID: d.VPCID})
	if err != nil {
		t.Fatal(err)
	}
	beside := &faults.Process{Before: func(faults.Call) {
		if err := runOnce(context.Background(), w.Process(nil)); err != nil {
			t.Errorf("a run beside the adoption: %v", err)
		}
	}}
	if err := w.Pools(beside).Adopt(context.Background(), d.Region, d.Name, ids, false); err != nil {
		t.Errorf("adopting: %v", err)
	}
	w.CleanRuns()
	w.Verify(2)
}
