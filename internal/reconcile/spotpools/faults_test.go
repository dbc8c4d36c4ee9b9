package spotpools_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// TestAKillAtAnyEffectLosesNothing kills each operation right before and right after
// each of its effects: calls of the cloud, writes, deletes and locks of the store.
func TestAKillAtAnyEffectLosesNothing(t *testing.T) {
	t.Parallel()
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := op.prepare(w)
			observer := &reconciletest.Mortal{}
			if err := op.do(context.Background(), w.Engine(observer), d); err != nil {
				t.Fatalf("without a kill: %v", err)
			}
			w.kept(op, d, nil)
			w.recovered(op, d, 0)
			moments := []bool{false, true}
			if op.costly { // right after one effect is right before the next
				moments = moments[1:]
			}
			// How often it looks while instances settle varies: what comes to its end
			// before it is killed was killed by nobody.
			for n := 1; n <= observer.Count; n++ {
				for _, after := range moments {
					name := fmt.Sprintf("%s %d %s", map[bool]string{false: "before", true: "after"}[after], n, observer.Trace[n-1])
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						w := newWorld(t)
						d := op.prepare(w)
						w.kept(op, d, op.do(context.Background(), w.Engine(&reconciletest.Mortal{KillAt: n, After: after}), d))
						w.recovered(op, d, 0)
					})
				}
			}
		})
	}
}

// TestAFaultOfAnyCallLosesNothing lets the cloud fail in each of the simulator's
// ways at each call.
func TestAFaultOfAnyCallLosesNothing(t *testing.T) {
	t.Parallel()
	kinds := []cvmsim.Fault{
		{Kind: cvmsim.FaultThrottle}, {Kind: cvmsim.FaultThrottle, Count: 10},
		{Kind: cvmsim.FaultHTTP502}, {Kind: cvmsim.FaultHTTP502, Count: 3},
		{Kind: cvmsim.FaultHTTP502After, Count: 3}, {Kind: cvmsim.FaultBadJSON, Count: 3},
		{Kind: cvmsim.FaultResetBefore, Count: 3}, {Kind: cvmsim.FaultResetAfter, Count: 3},
		{Kind: cvmsim.FaultTimeoutAfter, Count: 2, Delay: cvmsim.Duration(time.Second)},
		{Kind: cvmsim.FaultSlow, Delay: cvmsim.Duration(100 * time.Millisecond)},
		{Kind: cvmsim.FaultError, Code: "InternalError", Count: 3},
		{Kind: cvmsim.FaultSoldOut}, {Kind: cvmsim.FaultSoldOut, Count: 3},
		{Kind: cvmsim.FaultLaunchFailed}, {Kind: cvmsim.FaultLaunchFailed, Count: 2},
	}
	for _, op := range plainOperations() {
		for _, fault := range kinds {
			for _, action := range append(op.actions, "DescribeInstances", "DescribeZoneInstanceConfigInfos") {
				onlyLaunch := fault.Kind == cvmsim.FaultSoldOut || fault.Kind == cvmsim.FaultLaunchFailed
				if onlyLaunch && action != "RunInstances" {
					continue
				}
				for after := range 2 {
					fault := fault
					fault.Action, fault.After = action, after
					t.Run(fmt.Sprintf("%s/%s %s x%d after %d", op.name, action, fault.Kind, fault.Count, after), func(t *testing.T) {
						t.Parallel()
						extra := 0
						if fault.Kind == cvmsim.FaultLaunchFailed {
							extra = 2 * 3 // what failed is launched again
						}
						suffer(t, op, extra, 0, fault)
					})
				}
			}
		}
	}
}

// TestFaultsInARowLoseNothing lets calls of each kind fail one after another, in each
// operation and each way: each pair of these choices at least once.
func TestFaultsInARowLoseNothing(t *testing.T) {
	t.Parallel()
	ops, kinds := operations(), destroyFaults()
	delays := []time.Duration{0, 45 * time.Second}
	for _, c := range pairwise([]int{len(ops), len(kinds), len(destroyActions), 4, 6, len(delays)}) {
		op, fault, delay := ops[c[0]], kinds[c[1]], delays[c[5]]
		fault.Action, fault.After, fault.Count = destroyActions[c[2]], c[3], 1+c[4]
		extra := 0
		switch fault.Kind {
		case cvmsim.FaultSoldOut:
			fault.Action = "RunInstances"
		case cvmsim.FaultLaunchFailed:
			fault.Action, extra = "RunInstances", 3*fault.Count
		case cvmsim.FaultSlowAcceptance: // and what is accepted late shows later still
			fault.Action, fault.After, delay = "RunInstances", 0, delays[1]
		}
		t.Run(fmt.Sprintf("%s/%s %s %s x%d after %d listed after %s", op.name, fault.Action, fault.Kind, fault.Code, fault.Count, fault.After, delay), func(t *testing.T) {
			t.Parallel()
			suffer(t, op, extra, delay, fault)
		})
	}
}

// suffer does an operation in a world of its own while calls fail, and checks the
// matrix's promise. New instances show in listings that late. Of the faults that fit a
// call, the first is spent first.
func suffer(t *testing.T, op operation, extra int, listingDelay time.Duration, faults ...cvmsim.Fault) {
	t.Helper()
	w := newWorld(t)
	d := op.prepare(w)
	w.configure(cvmsim.Settings{ListingDelay: new(cvmsim.Duration(listingDelay))})
	w.fail(faults...)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	w.kept(op, d, op.do(ctx, w.HastyEngine(), d))
	w.Sim.Server.ClearFaults()
	w.Step(2 * time.Minute) // cool-downs end, failed launches leave
	w.recovered(op, d, extra)
}
