package spotpools_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// TestRefusedAfterLost loses the response to a launch that took effect, and has its retry
// refused: the refusal is not about the first call. Each pair of operation, loss, refusal and
// delay meets, and in a soak all of them do.
func TestRefusedAfterLost(t *testing.T) {
	t.Parallel()
	lost := []cvmsim.Fault{
		{Kind: cvmsim.FaultTimeoutAfter, Delay: cvmsim.Duration(time.Second)},
		{Kind: cvmsim.FaultResetAfter}, {Kind: cvmsim.FaultResetAfter, Count: 2},
		{Kind: cvmsim.FaultHTTP502After}, {Kind: cvmsim.FaultBadJSON},
	}
	refused := []cvmsim.Fault{
		{Kind: cvmsim.FaultSoldOut}, {Kind: cvmsim.FaultSoldOut, Count: 3},
		{Kind: cvmsim.FaultError, Code: "InvalidParameterValue.InsufficientPrice", Count: 2},
		{Kind: cvmsim.FaultError, Code: "LimitExceeded.UserSpotQuota", Count: 2},
		{Kind: cvmsim.FaultError, Code: "InvalidParameterValue.ZoneNotSupported", Count: 2},
		{Kind: cvmsim.FaultThrottle, Count: 3},
	}
	ops := slices.DeleteFunc(plainOperations(), func(op operation) bool { return op.actions[0] != "RunInstances" })
	delays := []time.Duration{0, 45 * time.Second} // until machines show in listings
	for _, c := range spread(t, []int{len(ops), len(lost), len(refused), len(delays)}) {
		op, first, then, delay := ops[c[0]], lost[c[1]], refused[c[2]], delays[c[3]]
		first.Action, then.Action = "RunInstances", "RunInstances"
		t.Run(fmt.Sprintf("%s/%s x%d, then %s %s x%d, listed after %s", op.name, first.Kind, first.Count, then.Kind, then.Code, then.Count, delay),
			func(t *testing.T) {
				t.Parallel()
				suffer(t, op, 0, delay, first, then)
			})
	}
}

// TestLostBeforeItsEffect loses a launch on its way, and has the offering sold out
// from then on. A run that waits asks again until the machines would have shown,
// and then another offering serves.
func TestLostBeforeItsEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.MustCreate(2, 2)
	w.Reclaim(2)
	w.fail(
		cvmsim.Fault{Kind: cvmsim.FaultResetBefore, Action: "RunInstances", Count: 2},
		cvmsim.Fault{Kind: cvmsim.FaultSoldOut, AvailabilityZone: reconciletest.ZoneB, Count: -1},
	)
	process := w.Process(nil)
	process.Cloud = w.Client(30*time.Second, 2) // a call gives up after the two that are lost
	report, err := process.Runner().Run(context.Background(), reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, d := range report.Decisions {
		if d.Outcome == outcome.Failed {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("the report has %d failed decisions, want the lost launch once: %v", failed, report.Decisions)
	}
	w.Verify(2)
	if n := w.Launched(); n != 4 {
		t.Errorf("%d instances were launched in all, want 4", n)
	}
	for _, i := range w.Own() {
		if i.AvailabilityZone != reconciletest.ZoneA {
			t.Errorf("%s is in %s, which is sold out", i.InstanceID, i.AvailabilityZone)
		}
	}
}
