package spotpools_test

import (
	"context"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// operation is a row group of the fault matrix: something that changes the
// world, from a state that prepare makes.
type operation struct {
	name    string
	prepare func(w *world) spotpool.Declaration
	do      func(ctx context.Context, e reconcile.World, d spotpool.Declaration) error
	// again is what a user does after it was cut short, in addition to running reconcile.
	again func(w *world, d spotpool.Declaration)
	// actions are the calls that it makes, in addition to observing.
	actions []string
	// instances is how many the pool has in the end. working is how many of them work, if that
	// differs. launches is how many were ever launched.
	instances, working, launches int
	// current says that no instance may be drifted in the end.
	current bool
	// gone says that success means that nothing is left. short says that success may be short.
	// batch says that it starts with one instance, and runs continue.
	gone, short, batch bool
	// costly says that it is killed only after its effects, and not before them.
	costly bool
}

func operations() []operation {
	others := slices.Concat(interrupted(), withoutSpareCapacity(), nodeOperations(), tokenOperations())
	for n := range others {
		others[n].costly = true
	}
	return append(plainOperations(), others...)
}

// plainOperations are what users do every day.
func plainOperations() []operation {
	return []operation{
		{
			name:    "create",
			prepare: func(*world) spotpool.Declaration { return reconciletest.Pool(3, 4) },
			do:      create, again: createAgain,
			actions: []string{"RunInstances"}, instances: 3, launches: 3,
		},
		{
			name:    "update that launches",
			prepare: func(w *world) spotpool.Declaration { return w.MustCreate(1, 4) },
			do:      update(size(3, 4)), again: updateAgain(size(3, 4)),
			actions: []string{"RunInstances"}, instances: 3, launches: 3,
		},
		{
			name:    "update that scales in",
			prepare: func(w *world) spotpool.Declaration { return w.MustCreate(3, 4) },
			do:      update(size(1, 1)), again: updateAgain(size(1, 1)),
			actions: []string{"TerminateInstances"}, instances: 1, launches: 3,
		},
		{
			name:    "delete",
			prepare: func(w *world) spotpool.Declaration { return w.MustCreate(2, 4) },
			do:      destroy, again: destroyAgain, gone: true,
			actions: []string{"TerminateInstances"}, instances: 0, launches: 2,
		},
		{
			name: "reconcile after a reclaim",
			prepare: func(w *world) spotpool.Declaration {
				d := w.MustCreate(3, 3)
				w.Reclaim(2)
				return d
			},
			do:      reconcileOnce,
			again:   func(*world, spotpool.Declaration) {},
			short:   true,
			actions: []string{"RunInstances"}, instances: 3, launches: 5,
		},
	}
}

// interrupted are operations that follow one that was cut short.
func interrupted() []operation {
	return []operation{
		{
			name:    "create after a cut create",
			prepare: func(w *world) spotpool.Declaration { return w.cutCreate() },
			do:      create, again: createAgain,
			actions: []string{"RunInstances"}, instances: 3, launches: 3,
		},
		{
			name:    "import and apply after a cut create",
			prepare: func(w *world) spotpool.Declaration { return w.cutCreate() },
			do:      importAndApply, again: importAgain,
			actions: []string{"RunInstances"}, instances: 3, launches: 3,
		},
		{
			name:    "delete after a cut update",
			prepare: func(w *world) spotpool.Declaration { return w.cutLaunch(true) },
			do:      destroy, again: destroyAgain, gone: true,
			actions: []string{"RunInstances", "TerminateInstances"}, instances: 0, launches: 3,
		},
		{
			name: "delete after a cut delete",
			prepare: func(w *world) spotpool.Declaration {
				d := w.MustCreate(2, 4)
				w.killDeletionAt(d, "Terminate", false)
				return d
			},
			do: destroy, again: destroyAgain, gone: true,
			actions: []string{"TerminateInstances"}, instances: 0, launches: 2,
		},
		{
			name: "update after a lost journal and a reclaim",
			prepare: func(w *world) spotpool.Declaration {
				d := w.MustCreate(2, 4)
				w.Reclaim(2)
				w.loseJournal()
				return d
			},
			do: func(ctx context.Context, p reconcile.World, d spotpool.Declaration) error {
				size(3, 4)(&d)
				_, err := p.SpotPools().Update(ctx, d, reconciletest.LongWait)
				return err
			},
			again: updateAgain(size(3, 4)), short: true,
			actions: []string{"RunInstances"}, instances: 3, launches: 5,
		},
	}
}

// withoutSpareCapacity are operations on pools that have no room to spare.
func withoutSpareCapacity() []operation {
	refresh := func(d *spotpool.Declaration) {
		d.ImageID = "img-b2c3d4e5"
		d.Refresh = spotpool.Refresh{Strategy: spotpool.RefreshRolling, MaxUnavailable: 1}
	}
	capped := func(d *spotpool.Declaration) {
		refresh(d)
		d.MaxHourlyCost = 5_000_000 // 5 CNY
	}
	return []operation{
		{
			name: "update that lowers maximum beside members that can't be ended",
			prepare: func(w *world) spotpool.Declaration {
				d := w.MustCreate(4, 4)
				d = w.mustUpdate(d, size(2, 4))
				w.setState("STOPPING", 2)
				return d
			},
			do: update(size(2, 2)), again: updateAgain(size(2, 2)),
			actions: []string{"TerminateInstances"}, instances: 4, working: 2, launches: 4,
		},
		{
			name: "refresh of a pool that uses its quota up",
			prepare: func(w *world) spotpool.Declaration {
				d := w.MustCreate(2, 2)
				w.market(reconciletest.ZoneA, 100, 32) // the strangers use half of it
				w.market(reconciletest.ZoneB, 100, 0)
				return d
			},
			do: update(refresh), again: updateAgain(refresh), batch: true, current: true,
			actions: []string{"TerminateInstances", "RunInstances"}, instances: 2, launches: 4,
		},
		{
			name: "refresh of a pool above its quota",
			prepare: func(w *world) spotpool.Declaration {
				d := w.MustCreate(2, 4)
				w.market(reconciletest.ZoneA, 100, 16)
				w.market(reconciletest.ZoneB, 100, 0)
				return d
			},
			do: update(refresh), again: updateAgain(refresh), batch: true,
			actions: []string{"TerminateInstances"}, instances: 2, launches: 2,
		},
		{
			name: "refresh of a pool above its cost cap",
			prepare: func(w *world) spotpool.Declaration {
				d := w.MustCreate(2, 4)
				w.price(reconciletest.ZoneA, "5.50")
				w.price(reconciletest.ZoneB, "5.50")
				return d
			},
			do: update(capped), again: updateAgain(capped), batch: true,
			actions: []string{"TerminateInstances"}, instances: 2, launches: 2,
		},
	}
}

// kept checks what an operation said of its end: what says that it is reached or
// gone, is.
func (w *world) kept(op operation, d spotpool.Declaration, err error) {
	w.t.Helper()
	switch {
	case err != nil:
	case op.gone:
		w.gone(d)
	case op.short:
	case w.working() < op.atLeast():
		w.t.Errorf("it said that it was done, and %d machines work, want %d: %s", w.working(), op.atLeast(), reconciletest.Describe(w.Own()))
	}
}

// atLeast is how many machines work once the operation is done.
func (op operation) atLeast() int {
	switch {
	case op.working > 0:
		return op.working
	case op.batch:
		return op.instances - 1
	}
	return op.instances
}

// recovered checks the matrix's promise: after the next clean run the pool is
// where it should be, with nothing launched twice and nothing left behind.
func (w *world) recovered(op operation, d spotpool.Declaration, extra int) {
	w.t.Helper()
	op.again(w, d)
	w.outwaitLoss()
	w.rest(op)
	w.Verify(op.instances)
	if w.Cluster != nil {
		w.VerifyNodes()
	}
	if op.working > 0 && w.working() != op.working {
		w.t.Errorf("%d machines work, want %d: %s", w.working(), op.working, reconciletest.Describe(w.Own()))
	}
	if n := w.Launched(); n > op.launches+extra {
		w.t.Errorf("%d instances were launched in all, want at most %d", n, op.launches+extra)
	}
}

// rest runs until the pool is in sync.
func (w *world) rest(op operation) {
	w.t.Helper()
	for round := 0; ; round++ {
		report := w.CleanRuns()
		if len(report.SpotPools) == 0 {
			return
		}
		p := report.SpotPools[0]
		if p.Outcome == outcome.Skipped {
			w.t.Fatalf("clean runs pass the pool over: %s", p.Error.Message)
		}
		if w.Cluster != nil && w.LeftNodes()+len(w.Cluster.Tokens()) > 0 && round < 20 {
			w.Step(30 * time.Second)
			continue
		}
		if (!op.current || p.Drifted == 0) && (p.Outcome != outcome.Short || op.working > 0) {
			return
		}
		if round == 20 {
			w.t.Errorf("after many clean runs %d are drifted, and it is %s: %q", p.Drifted, p.Outcome, p.Short)
			return
		}
		w.Step(30 * time.Second)
	}
}
