package reconcile_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// TestRefusedAfterLost loses the answer to a launch that took effect, and has
// the cloud refuse its repetition: the refusal says nothing of the first call.
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
	for _, op := range operations() {
		if op.actions[0] != "RunInstances" {
			continue
		}
		for _, first := range lost {
			for _, then := range refused {
				first, then := first, then
				first.Action, then.Action = "RunInstances", "RunInstances"
				t.Run(fmt.Sprintf("%s/%s x%d, then %s %s x%d", op.name, first.Kind, first.Count, then.Kind, then.Code, then.Count), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					d := op.prepare(w)
					for _, fault := range []cvmsim.Fault{first, then} { // the first that fits is spent first
						if _, err := w.sim.Server.AddFault(fault); err != nil {
							t.Fatal(err)
						}
					}
					ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
					defer cancel()
					_ = op.do(ctx, w.hastyEngine(), d)
					w.sim.Server.ClearFaults()
					w.step(2 * time.Minute)
					w.recovered(op, d, 0)
				})
			}
		}
	}
}
