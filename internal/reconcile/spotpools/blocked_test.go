package spotpools_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// block has a disruption budget keep the pods of all machines of the pool.
func (w *world) block() {
	for _, i := range w.Own() {
		w.Cluster.Blocked["work-"+i.InstanceID+"-0"], w.Cluster.Blocked["work-"+i.InstanceID+"-1"] = true, true
	}
}

// mustApply applies a change, and returns what is declared then.
func (w *world) mustApply(d spotpool.Declaration, wait time.Duration) (spotpool.Declaration, []string) {
	w.t.Helper()
	state, err := w.Pools(nil).Update(context.Background(), d, wait)
	if err != nil {
		w.t.Fatal(err)
	}
	return state.Declaration, state.AllWarnings().Texts()
}

func (w *world) cordoned() (names []string) {
	for name, m := range w.Cluster.Machines {
		if m.Cordoned {
			names = append(names, name)
		}
	}
	return names
}

// shouldFailWith fails the test where an error lacks one of these texts.
func shouldFailWith(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("it succeeds")
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error lacks %q: %v", text, err)
		}
	}
}

// TestADestroyReportsWhatItWaitsFor once, to the log and to people who wait.
func TestADestroyReportsWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(1, 1)
	w.block()
	var log *lockedBuffer
	var steps []string
	err := reconciletest.Until("has been draining since", func(timeout time.Duration) error {
		log, steps = &lockedBuffer{}, nil
		p := w.Process(nil)
		p.Log = slog.New(slog.NewJSONHandler(log, nil))
		p.Progress = func(o outcome.Event) {
			if strings.HasPrefix(o.Message, "waiting for "+w.Own()[0].InstanceID) {
				steps = append(steps, o.Message)
			}
		}
		_, err := p.SpotPools().Delete(context.Background(), d, timeout)
		return err
	})
	shouldFailWith(t, err, "has been draining since")
	if len(steps) == 0 || len(slices.Compact(slices.Clone(steps))) != len(steps) {
		t.Fatalf("it reports %q", steps)
	}
	if last := steps[len(steps)-1]; !strings.Contains(last, "has been draining since") || strings.Count(log.String(), last) != 1 {
		t.Errorf("it logs\n%s", log)
	}
}

// TestADestroyOverridesThatANodeIsKept: a destroy drains again what a run has kept for an
// hour. If that is kept again, it says so, and until when, and does not wait.
func TestADestroyOverridesThatANodeIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(1, 1)
	w.block()
	nodes := *d.Nodes
	nodes.Drain = spotpool.Drain{Timeout: spotpool.Duration(5 * time.Minute), OnTimeout: node.Keep, UnmanagedPods: node.Evict}
	d.Nodes, d.Minimum, d.Maximum = &nodes, 0, 0
	d, warnings := w.mustApply(d, 2*time.Second)
	if text := strings.Join(warnings, "\n"); !strings.Contains(text, "1 node was being drained: "+w.Own()[0].InstanceID+": at ") ||
		!strings.Contains(text, " it is kept with its pods; ") || !strings.Contains(text, "left (") {
		t.Errorf("the apply warns of %q", warnings)
	}
	w.Step(6 * time.Minute)
	w.mustRun(reconcile.RunOptions{})
	if list := w.cordoned(); len(list) > 0 {
		t.Fatalf("%q are cordoned, not kept", list)
	}
	err := reconciletest.Until("it is kept", w.destroy(d))
	shouldFailWith(t, err, "1 left", "has been draining since", "left (", "it is kept with its pods")
	w.Step(6 * time.Minute)
	begun := time.Now()
	_, err = w.Pools(nil).Delete(context.Background(), d, time.Hour)
	shouldFailWith(t, err, "timed out at", "drain.on_timeout keeps it: it is not drained again before")
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %s to say so", took)
	}
	clear(w.Cluster.Blocked)
	if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil { // its Node is deleted after two observations a minute apart
		w.Step(2 * time.Minute)
		if _, err = w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
			t.Fatal(err)
		}
	}
	w.gone(d)
}

// TestADetachLeavesNoMarks: the pool that adopts the instances is to hear of their notices.
func TestADetachLeavesNoMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(2, 2)
	own := w.Own()
	d.OnDestroy = spotpool.DestroyRetain
	d, _ = w.mustApply(d, reconciletest.LongWait)
	ids := w.ownIDs()
	if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	w.gone(d)
	w.tells(history.Detach, ids)
	w.tells(history.End, nil)
	if len(own) != 2 {
		t.Errorf("the pool had %d instances", len(own))
	}
	for _, i := range own {
		if m := w.Cluster.Machine("node-" + i.InstanceID); m == nil || m.Pool != "" || m.Cordoned {
			t.Errorf("the node of %s is %+v", i.InstanceID, m)
		}
	}
}

// TestNodesThatAreGivenUpKeepNoMarks, so that a detach has none to leave, whether the apply
// or a run after it reaches the cluster's nodes.
func TestNodesThatAreGivenUpKeepNoMarks(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]bool{"by the apply": false, "by a run": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.mustJoin(2, 2)
			own := w.Own()
			if refused {
				w.Cluster.Failing["UnmarkNode"] = errors.New("forbidden")
			}
			d.Nodes, d.OnDestroy = nil, spotpool.DestroyRetain
			d, warnings := w.mustApply(d, reconciletest.LongWait)
			if warned := strings.Contains(strings.Join(warnings, "\n"), "still has the pool's mark"); warned != refused {
				t.Errorf("the apply warns of %q", warnings)
			}
			clear(w.Cluster.Failing)
			w.Step(time.Minute)
			w.mustRun(reconcile.RunOptions{})
			for _, i := range own {
				if m := w.Cluster.Machine("node-" + i.InstanceID); m == nil || m.Pool != "" || m.Cordoned {
					t.Errorf("the node of %s is %+v", i.InstanceID, m)
				}
			}
			w.Step(time.Minute)
			w.mustRun(reconcile.RunOptions{})
			w.away() // nothing is read there anymore
			if report := w.mustRun(reconcile.RunOptions{}); len(report.SpotPools[0].Warnings) > 0 {
				t.Errorf("a later run warns of %q", report.SpotPools[0].Warnings)
			}
			if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
				t.Fatal(err)
			}
			w.gone(d)
		})
	}
}

// TestADetachLeavesNoCordons: nodes were given up while their cluster was away, so that
// what the pool cordoned was not undone.
func TestADetachLeavesNoCordons(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(2, 2)
	w.block()
	d.Minimum, d.Maximum = 1, 1
	d, _ = w.mustApply(d, time.Second)
	list := w.cordoned()
	if len(list) != 1 {
		t.Fatalf("%q are cordoned", list)
	}
	w.away()
	d.Nodes, d.OnDestroy, d.Maximum = nil, spotpool.DestroyRetain, 2
	d, warnings := w.mustApply(d, time.Second)
	if !strings.Contains(strings.Join(warnings, "\n"), "cannot be cleaned up") {
		t.Errorf("the apply without nodes warns of %q", warnings)
	}
	_, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait)
	shouldFailWith(t, err, "the pool cordoned "+list[0], "connection refused", "remove the tag gpupool/uid")
	clear(w.Cluster.Failing)
	if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	w.gone(d)
	if list := w.cordoned(); len(list) > 0 {
		t.Errorf("%q are cordoned still", list)
	}
}

// TestAnApplyDoesNotWaitForANotice: an apply terminates no instance that Tencent Cloud
// reclaims.
func TestAnApplyDoesNotWaitForANotice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(1, 3)
	w.block()
	now, err := w.Sim.Server.StepClock(0)
	if err != nil {
		t.Fatal(err)
	}
	w.Cluster.Change("node-"+w.Own()[0].InstanceID, func(m *reconciletest.Machine) { m.TakenAt = now.Add(time.Minute) })
	w.mustRun(reconcile.RunOptions{Wait: true, WaitTimeout: 2 * time.Second})
	w.Step(2 * time.Minute) // it was not reclaimed, and may be still
	begun := time.Now()
	d.Cooldown = spotpool.Duration(time.Minute)
	_, warnings := w.mustApply(d, time.Hour)
	if took := time.Since(begun); took > time.Minute || len(warnings) > 0 {
		t.Errorf("it took %s, and warns of %q", took, warnings)
	}
	if len(w.cordoned()) != 1 {
		t.Errorf("%q are cordoned", w.cordoned())
	}
}
