package spotpools_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

// TestNodesAreObservedRightBeforeTheEnd: a run is killed after a drain is done. Until the next
// one, new pods run on the node, or the Node is created again and cordoned. The instance is not
// terminated before that is drained, too.
func TestNodesAreObservedRightBeforeTheEnd(t *testing.T) {
	t.Parallel()
	comes := func(m *reconciletest.Machine) {
		m.Pods = []node.Pod{{Namespace: "ml", Name: "late", UID: "late", Controller: "ReplicaSet", Grace: 30}}
	}
	for name, change := range map[string]func(*world, string){
		"pods came": func(w *world, name string) { w.Cluster.Change(name, comes) },
		"the Node was made again": func(w *world, name string) {
			id := w.Cluster.Machine(name).ProviderID
			w.Cluster.RemoveNode(name)
			w.Cluster.Join(name[len("node-"):], comes, func(m *reconciletest.Machine) { m.ProviderID, m.Cordoned = id, true })
		},
		"its pods can't be observed": func(w *world, _ string) { w.Cluster.Failing["NodePods"] = errors.New("pods is forbidden") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.mustJoin(1, 2)
			w.Cluster.Blocked["late"] = true
			d.Minimum, d.Maximum = 0, 0
			process := faults.Killed("Terminate", false)
			_, _ = w.Pools(process).Update(context.Background(), d, reconciletest.LongWait)
			if !process.Dead() {
				t.Fatal("the update never came to its end")
			}
			change(w, "node-"+w.Own()[0].InstanceID)
			for range 3 {
				w.mustRun(reconcile.RunOptions{})
			}
			w.Verify(1)
			clear(w.Cluster.Blocked)
			clear(w.Cluster.Failing)
			w.CleanRuns()
			w.Verify(0)
			if unemptied := w.Cluster.Unemptied; len(unemptied) > 0 {
				t.Error(unemptied)
			}
		})
	}
}

// TestADestroyDoesNotWaitForANotice: an interruption notice of a node does not block the
// destroy of its pool once it is drained.
func TestADestroyDoesNotWaitForANotice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(1, 2)
	now, err := w.Sim.Server.StepClock(0)
	if err != nil {
		t.Fatal(err)
	}
	w.Cluster.Change("node-"+w.Own()[0].InstanceID, func(m *reconciletest.Machine) { m.TakenAt = now.Add(2 * time.Minute) })
	// Its Node is deleted after two observations a minute apart.
	if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
		w.Step(2 * time.Minute)
		if _, err = w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
			t.Fatal(err)
		}
	}
	w.gone(d)
}
