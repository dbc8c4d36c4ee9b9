package spotpools_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// TestAKillAtAnyEffectLosesNothing kills each operation right after each of its effects: calls
// of Tencent Cloud and the cluster, writes, deletes and locks of the store. In a soak
// it is right before and right after each effect, including reads.
func TestAKillAtAnyEffectLosesNothing(t *testing.T) {
	t.Parallel()
	var list []faults.Operation[scene]
	costly := map[string]bool{}
	for _, op := range operations() {
		costly[op.name] = op.costly
		list = append(list, op.cut())
	}
	faults.PlayAll(t, list, func(o faults.Operation[scene], trace []string) []faults.Fault {
		kills := faults.Kills(trace)
		if costly[o.Name] { // before a call is right after another
			kills = slices.DeleteFunc(faults.Telling(kills), func(f faults.Fault) bool { return !f.After })
		}
		return kills
	})
}

// scene is a world with the pool to which an operation happens.
type scene struct {
	*world
	d spotpool.Declaration
}

// cut is the operation as faults of its own process cut it short.
func (op operation) cut() faults.Operation[scene] {
	return faults.Operation[scene]{
		Name:  op.name,
		Begin: func(t *testing.T) scene { t.Helper(); w := newWorld(t); return scene{w, op.prepare(w)} },
		Do: func(s scene, p *faults.Process) error {
			ctx := context.Background()
			if p.Fault.Times > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
			} else if p.Fault.On == "Launch" { // only what was written down before knows of it
				s.listLate()
			}
			return op.do(ctx, s.Process(p), s.d)
		},
		Holds: func(s scene, _ faults.Fault, err error) {
			s.t.Helper()
			s.kept(op, s.d, err)
			// How often it observes while instances settle varies. An operation that ends
			// before its kill was not killed.
			s.recovered(op, s.d, 0)
		},
	}
}

// TestAFaultOfAnyCallLosesNothing fails calls of each operation in each of the simulator's
// ways. Each pair of operation, way, call and position is played at least once, and
// in a soak all of them.
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
	ops, seen := plainOperations(), map[string]bool{}
	for _, c := range spread(t, []int{len(ops), len(kinds), 3, 2}) {
		op, fault := ops[c[0]], kinds[c[1]]
		fault.Action, fault.After = append(op.actions, "DescribeInstances", "DescribeZoneInstanceConfigInfos")[c[2]], c[3]
		extra := 0
		switch fault.Kind {
		case cvmsim.FaultSoldOut:
			fault.Action = "RunInstances"
		case cvmsim.FaultLaunchFailed:
			fault.Action, extra = "RunInstances", 2*3 // what failed is launched again
		}
		name := fmt.Sprintf("%s/%s %s x%d after %d", op.name, fault.Action, fault.Kind, fault.Count, fault.After)
		if seen[name] || fault.Action == "RunInstances" && op.actions[0] != fault.Action {
			continue
		}
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suffer(t, op, extra, 0, fault)
		})
	}
}

// TestAFaultOfTheClusterLosesNothing fails calls of the cluster, before they took effect and
// after, once and for the whole operation. Each pair of operation, call and way is played at
// least once, and in a soak all of them.
func TestAFaultOfTheClusterLosesNothing(t *testing.T) {
	t.Parallel()
	ops := nodeOperations()
	calls := []string{"UID", "Nodes", "GPUPods", "NodePods", "MarkNode", "UnmarkNode", "CordonNode", "UncordonNode", "DeleteNode", "Evict"}
	ways := []faults.Fault{faults.Once, faults.Always, faults.Lost}
	for _, c := range spread(t, []int{len(ops), len(calls), len(ways)}) {
		op, f := ops[c[0]].cut(), ways[c[2]]
		f.On = calls[c[1]]
		t.Run(op.Name, func(t *testing.T) { t.Parallel(); op.Play(t, f) })
	}
}

// TestFaultsInARowLoseNothing lets calls of each kind fail one after another, in each
// operation and each way: each pair of these choices at least once. Which operation meets
// which way is left to a soak.
func TestFaultsInARowLoseNothing(t *testing.T) {
	t.Parallel()
	ops, kinds := operations(), destroyFaults()
	delays := []time.Duration{0, 45 * time.Second}
	var apart [][2]int
	if !soaktest.On() {
		apart = append(apart, [2]int{0, 1})
	}
	for _, c := range sample(t, pairwise([]int{len(ops), len(kinds), len(destroyActions), 4, 6, len(delays)}, apart...)) {
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
		t.Run(fmt.Sprintf("%s/%s %s %s x%d after %d listed after %s", op.name, fault.Action, fault.Kind, fault.Code, fault.Count, fault.After, delay),
			func(t *testing.T) {
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
	w.kept(op, d, op.do(ctx, w.HastyProcess(), d))
	w.Sim.Server.ClearFaults()
	w.Step(2 * time.Minute) // cooldowns end, failed launches leave
	w.recovered(op, d, extra)
}
