package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// operation is a row group of the fault matrix: something that changes the
// world, from a state that prepare makes.
type operation struct {
	name    string
	prepare func(w *world) spotpool.Declaration
	do      func(ctx context.Context, e *reconcile.Engine, d spotpool.Declaration) error
	// again is what a user does after it was cut short, beside running reconcile.
	again func(w *world, d spotpool.Declaration)
	// actions are the calls that it makes, beside observing.
	actions []string
	// instances is how many the pool has in the end, and launches how many were
	// ever launched.
	instances, launches int
}

func operations() []operation {
	return []operation{
		{
			name:    "create",
			prepare: func(*world) spotpool.Declaration { return pool(3, 4) },
			do: func(ctx context.Context, e *reconcile.Engine, d spotpool.Declaration) error {
				_, err := e.CreatePool(ctx, d, longWait)
				return err
			},
			again: func(w *world, d spotpool.Declaration) {
				_, err := w.engine(nil).CreatePool(context.Background(), d, longWait)
				var exists *reconcile.ExistsError
				if errors.As(err, &exists) { // it was finished, and Terraform never heard of it: it is imported
					_, err = w.engine(nil).FindPool(context.Background(), d.Region, d.Name)
				}
				if err != nil {
					w.t.Errorf("creating again: %v", err)
				}
			},
			actions: []string{"RunInstances"}, instances: 3, launches: 3,
		},
		{
			name:    "update that launches",
			prepare: func(w *world) spotpool.Declaration { return w.mustCreate(1, 4) },
			do: func(ctx context.Context, e *reconcile.Engine, d spotpool.Declaration) error {
				d.Minimum = 3
				_, err := e.UpdatePool(ctx, d, longWait)
				return err
			},
			again:   updateAgain(func(d *spotpool.Declaration) { d.Minimum = 3 }),
			actions: []string{"RunInstances"}, instances: 3, launches: 3,
		},
		{
			name:    "update that scales in",
			prepare: func(w *world) spotpool.Declaration { return w.mustCreate(3, 4) },
			do: func(ctx context.Context, e *reconcile.Engine, d spotpool.Declaration) error {
				d.Minimum, d.Maximum = 1, 1
				_, err := e.UpdatePool(ctx, d, longWait)
				return err
			},
			again:   updateAgain(func(d *spotpool.Declaration) { d.Minimum, d.Maximum = 1, 1 }),
			actions: []string{"TerminateInstances"}, instances: 1, launches: 3,
		},
		{
			name:    "delete",
			prepare: func(w *world) spotpool.Declaration { return w.mustCreate(2, 4) },
			do: func(ctx context.Context, e *reconcile.Engine, d spotpool.Declaration) error {
				return e.DeletePool(ctx, d, longWait)
			},
			again: func(w *world, d spotpool.Declaration) {
				if err := w.engine(nil).DeletePool(context.Background(), d, longWait); err != nil {
					w.t.Errorf("deleting again: %v", err)
				}
			},
			actions: []string{"TerminateInstances"}, instances: 0, launches: 2,
		},
		{
			name: "reconcile after a reclaim",
			prepare: func(w *world) spotpool.Declaration {
				d := w.mustCreate(3, 3)
				w.reclaim(2)
				return d
			},
			do: func(ctx context.Context, e *reconcile.Engine, _ spotpool.Declaration) error {
				return runOnce(ctx, e)
			},
			again:   func(*world, spotpool.Declaration) {},
			actions: []string{"RunInstances"}, instances: 3, launches: 5,
		},
	}
}

// updateAgain plans and applies the same change anew, as the next terraform
// apply would.
func updateAgain(change func(*spotpool.Declaration)) func(*world, spotpool.Declaration) {
	return func(w *world, d spotpool.Declaration) {
		state, err := w.engine(nil).ViewPool(context.Background(), d)
		if err != nil {
			w.t.Errorf("refreshing: %v", err)
			return
		}
		change(&state.Declaration)
		if _, err := w.engine(nil).UpdatePool(context.Background(), state.Declaration, longWait); err != nil {
			w.t.Errorf("updating again: %v", err)
		}
	}
}

func runOnce(ctx context.Context, e *reconcile.Engine) error {
	report, err := e.Run(ctx, reconcile.RunOptions{Wait: true, WaitTimeout: longWait})
	if err != nil {
		return err
	}
	for _, p := range report.SpotPools {
		if p.Error != nil {
			return fmt.Errorf("%s: %s", p.Outcome, p.Error.Message)
		}
	}
	return nil
}

func (w *world) reclaim(n int) {
	w.t.Helper()
	if _, err := w.sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: "train", Count: n}); err != nil {
		w.t.Fatal(err)
	}
}

// recovered checks the matrix's promise: after the next clean run the pool is
// where it should be, with nothing launched twice and nothing left behind.
func (w *world) recovered(op operation, d spotpool.Declaration, extra int) {
	w.t.Helper()
	op.again(w, d)
	w.cleanRuns()
	w.verify(op.instances)
	if n := w.launched(); n > op.launches+extra {
		w.t.Errorf("%d instances were launched in all, want at most %d", n, op.launches+extra)
	}
}

// TestKilled kills each operation right before and right after each of its
// effects: calls of the cloud, writes, deletes and locks of the store.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := op.prepare(w)
			observer := &mortal{}
			if err := op.do(context.Background(), w.engine(observer), d); err != nil {
				t.Fatalf("without a kill: %v", err)
			}
			w.recovered(op, d, 0)
			// How often it looks while instances settle varies; the last
			// effects are counted from the end.
			for n := 1; n <= observer.count; n++ {
				for _, after := range []bool{false, true} {
					name := fmt.Sprintf("%s %d %s", map[bool]string{false: "before", true: "after"}[after], n, observer.trace[n-1])
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						w := newWorld(t)
						d := op.prepare(w)
						_ = op.do(context.Background(), w.engine(&mortal{killAt: n, after: after}), d)
						w.recovered(op, d, 0)
					})
				}
			}
		})
	}
}

// TestFaulty lets the cloud fail in each of the simulator's ways at each call.
func TestFaulty(t *testing.T) {
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
	for _, op := range operations() {
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
						suffer(t, op, extra, fault)
					})
				}
			}
		}
	}
}

// suffer does an operation in a world of its own while calls fail, and checks the
// matrix's promise. Of the faults that fit a call, the first is spent first.
func suffer(t *testing.T, op operation, extra int, faults ...cvmsim.Fault) {
	t.Helper()
	w := newWorld(t)
	d := op.prepare(w)
	w.fail(faults...)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	_ = op.do(ctx, w.hastyEngine(), d)
	w.sim.Server.ClearFaults()
	w.step(2 * time.Minute) // cool-downs end, failed launches leave
	w.recovered(op, d, extra)
}

// fail has calls of the cloud fail from now on.
func (w *world) fail(faults ...cvmsim.Fault) {
	w.t.Helper()
	for _, fault := range faults {
		if _, err := w.sim.Server.AddFault(fault); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) step(d time.Duration) {
	w.t.Helper()
	if _, err := w.sim.Server.StepClock(d); err != nil {
		w.t.Fatal(err)
	}
}
