package spotpools_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// destroyed is a pool in some state before its destroy.
type destroyed struct {
	name    string
	prepare func(w *world) spotpool.Declaration
}

func beforeDestroys() []destroyed {
	return []destroyed{
		{"two running", func(w *world) spotpool.Declaration { return w.MustCreate(2, 4) }},
		{"a launch whose answer was lost", func(w *world) spotpool.Declaration { return w.cutLaunch(true) }},
		{"a launch that was only written down", func(w *world) spotpool.Declaration { return w.cutLaunch(false) }},
		{"machines that no listing shows", func(w *world) spotpool.Declaration {
			w.configure(cvmsim.Settings{ListingDelay: new(cvmsim.Duration(time.Minute))})
			d := w.MustCreate(1, 4)
			return w.grow(d, 3)
		}},
		{"machines that start for long", func(w *world) spotpool.Declaration {
			d := w.MustCreate(1, 4)
			w.configure(cvmsim.Settings{LaunchDelay: new(cvmsim.Duration(2 * time.Minute))})
			return w.grow(d, 3)
		}},
		{"a destroy that was cut short", func(w *world) spotpool.Declaration {
			d := w.MustCreate(2, 4)
			w.killDeletionAt(d, "Terminate", false)
			return d
		}},
		{"to be let go", func(w *world) spotpool.Declaration {
			d := w.MustCreate(2, 4)
			d.OnDestroy = spotpool.DestroyRetain
			state, err := w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait)
			if err != nil {
				w.t.Fatal(err)
			}
			return state.Declaration
		}},
	}
}

// destroyFaults are the ways in which a call may fail.
func destroyFaults() []cvmsim.Fault {
	short := cvmsim.Duration(500 * time.Millisecond)
	return []cvmsim.Fault{
		{Kind: cvmsim.FaultThrottle}, {Kind: cvmsim.FaultHTTP502}, {Kind: cvmsim.FaultHTTP502After}, {Kind: cvmsim.FaultBadJSON},
		{Kind: cvmsim.FaultResetBefore}, {Kind: cvmsim.FaultResetAfter},
		{Kind: cvmsim.FaultTimeout, Delay: short}, {Kind: cvmsim.FaultTimeoutAfter, Delay: short}, {Kind: cvmsim.FaultSlow, Delay: short / 5},
		{Kind: cvmsim.FaultSlowAcceptance, Delay: cvmsim.Duration(70 * time.Second)}, {Kind: cvmsim.FaultSlowAnswer, Delay: cvmsim.Duration(70 * time.Second)},
		{Kind: cvmsim.FaultError, Code: "InternalError"}, {Kind: cvmsim.FaultError, Code: "MutexOperation.TaskRunning"},
		{Kind: cvmsim.FaultError, Code: "UnauthorizedOperation"}, {Kind: cvmsim.FaultError, Code: "UnsupportedOperation.InstanceStatePending"},
		{Kind: cvmsim.FaultSoldOut}, {Kind: cvmsim.FaultLaunchFailed},
	}
}

// destroyActions are the calls that a destroy makes.
var destroyActions = []string{
	"DescribeInstances", "TerminateInstances", "RunInstances", "GetCallerIdentity",
	"DescribeZoneInstanceConfigInfos", "DescribeAccountQuota", "UnTagResources",
}

// lasting reports whether a fault says that a retry is useless. Then a destroy may fail though
// the fault was over before its timeout.
func lasting(f cvmsim.Fault) bool {
	return f.Code == "UnauthorizedOperation" || f.Code == "UnsupportedOperation.InstanceStatePending"
}

// TestDestroyNeverLies destroys pools while calls fail. A destroy that says that it
// is complete has left nothing, and the next one, without faults, always is.
func TestDestroyNeverLies(t *testing.T) {
	t.Parallel()
	before, kinds := beforeDestroys(), destroyFaults()
	sizes := []int{len(before), len(kinds), len(destroyActions), 4, 6}
	cases := soaktest.Sample(pairwise(sizes))
	if soaktest.On() {
		cases = nil
		for n, c := range product(sizes[1:]) {
			cases = append(cases, append([]int{n % len(before)}, c...))
		}
	}
	for _, c := range cases {
		start, fault := before[c[0]], kinds[c[1]]
		fault.Action, fault.After, fault.Count = destroyActions[c[2]], c[3], 1+c[4]
		if fault.Kind == cvmsim.FaultSoldOut || fault.Kind == cvmsim.FaultLaunchFailed {
			fault.Action = "RunInstances"
		}
		t.Run(fmt.Sprintf("%s/%s %s %s x%d after %d", start.name, fault.Action, fault.Kind, fault.Code, fault.Count, fault.After), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := start.prepare(w)
			w.fail(fault)
			_, err := w.HastyProcess().SpotPools().Delete(context.Background(), d, reconciletest.LongWait)
			over := len(w.Sim.Server.Faults()) == 0
			if err == nil {
				w.gone(d)
			} else if over && !lasting(fault) {
				t.Errorf("the fault was over in time, and the destroy failed: %v", err)
			}
			w.Sim.Server.ClearFaults()
			if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
				t.Fatalf("without a fault: %v", err)
			}
			w.gone(d)
			w.VerifyForeign()
		})
	}
}

// TestDestroyThatSeesNothing has every observation fail: the destroy fails, says so, and
// leaves the record to the next one.
func TestDestroyThatSeesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(2, 4)
	w.killDeletionAt(d, "Write tombstones", true)
	w.fail(cvmsim.Fault{Kind: cvmsim.FaultHTTP502, Action: "DescribeInstances", Count: -1})
	if _, err := w.HastyProcess().SpotPools().Delete(context.Background(), d, time.Second); err == nil {
		t.Fatal("a destroy that saw nothing says that it is done")
	}
	if n := len(w.Own()); n != 2 {
		t.Errorf("%d machines run, want both", n)
	}
	report, err := w.HastyProcess().Runner().Run(context.Background(), reconcile.RunOptions{Wait: true, WaitTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.SpotPools) != 1 || report.SpotPools[0].Deleted || report.SpotPools[0].Outcome != outcome.Failed || report.SpotPools[0].Observed {
		t.Errorf("a run that could not look reports %+v", report.SpotPools)
	}
	w.Sim.Server.ClearFaults()
	w.CleanRuns()
	w.gone(d)
}

// TestMachinesOfATombstone finds instances with the uid of a destroyed pool. A run reports
// them, a refresh keeps them, and the pool can be recorded again.
func TestMachinesOfATombstone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(1, 2)
	if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	ids, err := w.Sim.Server.Seed(cvmsim.SeedRequest{
		AvailabilityZone: reconciletest.ZoneA, InstanceType: reconciletest.GPUType, Pool: d.Name, UID: d.UID, Seq: "1", VpcID: d.VPCID,
	})
	if err != nil {
		t.Fatal(err)
	}
	report := w.CleanRuns()
	if len(report.Warnings) != 1 || !contains(report.Warnings[0].String(), ids[0], d.UID, "terraform import") {
		t.Errorf("the run warns %q, want it to name %s", report.Warnings, ids[0])
	}
	state, err := w.Pools(nil).View(context.Background(), d)
	if err != nil || state.Destroyed || len(state.AllWarnings()) == 0 {
		t.Errorf("a refresh takes it for destroyed (%t, %q, %v)", state.Destroyed, state.Warnings, err)
	}
	var exists *record.ExistsError
	if _, err := w.Pools(nil).Create(context.Background(), reconciletest.Pool(1, 2), reconciletest.LongWait); !errors.As(err, &exists) {
		t.Errorf("creating one of the same name: %v", err)
	}
	found, err := w.Pools(nil).Find(context.Background(), d.Region, d.Name)
	if err != nil || found.UID != d.UID {
		t.Fatalf("importing it: %+v, %v", found, err)
	}
	state, err = w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait)
	if err != nil {
		t.Fatalf("applying it: %v", err)
	}
	w.Verify(1)
	if report := w.CleanRuns(); len(report.Warnings) > 0 {
		t.Errorf("afterwards a run warns %q", report.Warnings)
	}
	if _, err := w.Pools(nil).Delete(context.Background(), state.Declaration, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	w.gone(d)
	if _, err := w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait); err == nil {
		t.Error("a stale state brings back a pool of which nothing is left")
	}
}
