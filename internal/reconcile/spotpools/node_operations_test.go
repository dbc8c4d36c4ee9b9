package spotpools_test

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// nodePool is a pool whose machines are nodes.
func nodePool(minimum, maximum int) spotpool.Declaration {
	d := reconciletest.Pool(minimum, maximum)
	d.Nodes = &spotpool.Nodes{}
	return d.WithDefaults()
}

// mustJoin creates a pool whose machines are nodes with pods on them, and waits until
// they are marked as the pool's.
func (w *world) mustJoin(minimum, maximum int) spotpool.Declaration {
	w.t.Helper()
	w.Joining(2)
	d := w.MustCreateAs(nodePool(minimum, maximum))
	for range 200 {
		w.CleanRuns()
		if w.marked(d) == minimum {
			return d
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.t.Fatalf("%d of %d nodes are marked", w.marked(d), minimum)
	return d
}

// marked counts the nodes with the pool's mark.
func (w *world) marked(d spotpool.Declaration) int {
	n := 0
	for _, i := range w.Own() {
		if m := w.Cluster.Machine("node-" + i.InstanceID); m != nil && m.Pool == d.UID {
			n++
		}
	}
	return n
}

// nodeOperations are those on pools whose machines are nodes.
func nodeOperations() []operation {
	back := func(d *spotpool.Declaration) { d.Minimum, d.Maximum = 3, 4 }
	return []operation{
		{
			name:    "scale-in of nodes",
			prepare: func(w *world) spotpool.Declaration { return w.mustJoin(3, 4) },
			do:      update(size(1, 1)), again: updateAgain(size(1, 1)),
			instances: 1, launches: 3, costly: true,
		},
		{
			name:    "destroy of nodes",
			prepare: func(w *world) spotpool.Declaration { return w.mustJoin(2, 4) },
			do:      destroy, again: destroyAgain, gone: true,
			instances: 0, launches: 2, costly: true,
		},
		{
			name: "scale-in of nodes that a disruption budget delays, undone",
			prepare: func(w *world) spotpool.Declaration {
				d := w.mustJoin(3, 4)
				for _, i := range w.Own() {
					w.Cluster.Blocked["work-"+i.InstanceID+"-0"] = true
				}
				return d
			},
			do: func(ctx context.Context, p reconcile.World, d spotpool.Declaration) error {
				d.Minimum, d.Maximum = 1, 1
				state, err := p.SpotPools().Update(ctx, d, 50*time.Millisecond)
				if err != nil {
					return err
				}
				back(&state.Declaration)
				_, err = p.SpotPools().Update(ctx, state.Declaration, reconciletest.LongWait)
				return err
			},
			again:     updateAgain(back),
			instances: 3, launches: 3, costly: true,
		},
		{
			name: "reconcile after a node was reclaimed",
			prepare: func(w *world) spotpool.Declaration {
				d := w.mustJoin(2, 3)
				w.Reclaim(1)
				return d
			},
			do: reconcileOnce, again: func(*world, spotpool.Declaration) {}, short: true,
			instances: 2, launches: 3, costly: true,
		},
		{
			name: "reconcile after a notice",
			prepare: func(w *world) spotpool.Declaration {
				d := w.mustJoin(2, 3)
				w.giveNotice(w.Own()[0].InstanceID)
				return d
			},
			do: reconcileOnce, again: func(w *world, _ spotpool.Declaration) { w.Step(noticeAhead) }, short: true,
			instances: 2, launches: 3, costly: true,
		},
		{
			name: "reconcile after a node failed",
			prepare: func(w *world) spotpool.Declaration {
				d := w.mustJoin(3, 4)
				w.failNode(w.Own()[0].InstanceID)
				w.CleanRuns()
				w.Step(11 * time.Minute)
				return d
			},
			do: reconcileOnce, again: func(*world, spotpool.Declaration) {}, short: true,
			instances: 3, launches: 4, costly: true,
		},
	}
}

// noticeAhead is how long before a reclaim its notice comes here: longer than in reality, since
// a test's runs take time.
const noticeAhead = 6 * time.Minute

// giveNotice announces the reclaim of an instance, on its node, too.
func (w *world) giveNotice(id string) {
	w.t.Helper()
	if _, err := w.Sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: []string{id}, Notice: cvmsim.Duration(noticeAhead)}); err != nil {
		w.t.Fatal(err)
	}
	now, err := w.Sim.Server.StepClock(0)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Cluster.Change("node-"+id, func(m *reconciletest.Machine) { m.TakenAt = now.Add(noticeAhead) })
}

// failNode has the kubelet of a machine fall silent for good.
func (w *world) failNode(id string) {
	now := w.Cluster.Now()
	w.Cluster.Change("node-"+id, func(m *reconciletest.Machine) { m.Ready, m.ReadySince = node.ReadyUnknown, now })
}
