package spotpools_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// told is the world's history.
func (w *world) told() []history.Event {
	w.t.Helper()
	answer, err := (&eventlog.Log{Store: w.Store(), Now: time.Now}).Ask(context.Background(), history.Query{})
	if err != nil || len(answer.Lost) > 0 {
		w.t.Fatalf("the history: %v, lost %v", err, answer.Lost)
	}
	return answer.Events
}

// idsOf returns the ids of instances in events of a kind, in order, with repetitions.
func idsOf(events []history.Event, kind history.Kind) []string {
	var ids []string
	for _, e := range events {
		if e.Kind == kind {
			ids = append(ids, e.InstanceIDs...)
		}
	}
	slices.Sort(ids)
	return ids
}

// did are the instances of the calls of an action that took effect.
func (w *world) did(action string) []string {
	ids := map[string]bool{}
	var list []string
	for _, c := range w.Sim.Server.Calls() {
		if c.Action != action || !c.TookEffect {
			continue
		}
		for _, id := range c.InstanceIDs {
			if !ids[id] {
				list = append(list, id)
			}
			ids[id] = true
		}
	}
	slices.Sort(list)
	return list
}

func (w *world) tells(kind history.Kind, want []string) {
	w.t.Helper()
	if got := idsOf(w.told(), kind); !slices.Equal(got, want) {
		w.t.Errorf("%s has %v, and the API has %v", kind, got, want)
	}
}

// TestHistoryHasEachEventOnce has a pool lose an instance, grow, shrink and be destroyed.
// The run that repairs it is killed right after each of its effects, doubled and missed. The
// events are compared with the simulator's own record.
func TestHistoryHasEachEventOnce(t *testing.T) {
	t.Parallel()
	heal := func(w *world, m *faults.Process) {
		_, _ = w.Runner(m).Run(context.Background(), reconcile.RunOptions{})
	}
	// live tells the whole story, and returns the effects of the run that heals.
	live := func(t *testing.T, m *faults.Process, doubled bool) {
		w := newWorld(t)
		d := w.MustCreate(2, 4)
		w.CleanRuns()
		before := w.Own()
		w.Reclaim(1)
		w.Step(3 * time.Minute)
		if doubled {
			done := make(chan struct{})
			go func() { defer close(done); heal(w, nil) }()
			heal(w, m)
			<-done
		} else {
			heal(w, m)
		}
		w.CleanRuns()
		after := w.Own()
		var reclaimed []string
		for _, i := range before {
			if !slices.ContainsFunc(after, func(o cvmsim.Instance) bool { return o.InstanceID == i.InstanceID }) {
				reclaimed = append(reclaimed, i.InstanceID)
			}
		}
		record, _, err := w.Pools(nil).Recorded(context.Background(), d.Region, d.Name)
		if err != nil {
			t.Fatal(err)
		}
		d = w.mustUpdate(record.Declaration, func(d *spotpool.Declaration) { d.Minimum, d.Maximum = 1, 1 })
		if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
			t.Fatal(err)
		}
		w.tells(history.Launch, w.did("RunInstances"))
		w.tells(history.Begin, w.did("RunInstances"))
		w.tells(history.Lost, reclaimed)
		w.tells(history.End, w.did("TerminateInstances"))
		kinds := map[history.Kind]int{}
		for _, e := range w.told() {
			kinds[e.Kind]++
			if e.Actor == "" || e.Object != d.Object() && e.Object != history.Run {
				t.Errorf("an event without an object: %+v", e)
			}
		}
		if kinds[history.Create] != 1 || kinds[history.Update] != 1 || kinds[history.Destroy] != 1 || kinds[history.Terminate] == 0 {
			t.Errorf("told: %v", kinds)
		}
	}
	observer := &faults.Process{}
	live(t, observer, false)
	t.Run("doubled", func(t *testing.T) { t.Parallel(); live(t, &faults.Process{}, true) })
	for n := 1; n <= len(observer.Trace()); n++ {
		t.Run(fmt.Sprintf("killed after %d %s", n, observer.Trace()[n-1]), func(t *testing.T) {
			t.Parallel()
			live(t, &faults.Process{Fault: faults.Fault{At: n, After: true}}, false)
		})
	}
}

// TestAPriceIsToldOncePerChange of an offering in use, however many runs see it.
func TestAPriceIsToldOncePerChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, zone := range []string{reconciletest.ZoneA, reconciletest.ZoneB} {
		w.price(zone, "2.20")
	}
	w.MustCreate(8, 10)
	heal := func() { // which asks for prices
		t.Helper()
		w.Reclaim(1)
		w.Step(3 * time.Minute)
		w.CleanRuns()
	}
	wants := func(want ...string) {
		t.Helper()
		var got []string
		for _, e := range w.told() {
			if e.Kind == history.Price {
				got = append(got, strings.Join(append([]string{e.Offering.AvailabilityZone, e.ChargeType, e.Price}, e.Reasons.Texts()...), " "))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("told: %q, want %q", got, want)
		}
	}
	heal() // the one zone cools down, and from now on both are in use
	heal()
	before := len(w.told())
	wants()
	w.price(reconciletest.ZoneA, "2.31")
	w.price(reconciletest.ZoneB, "2.32")
	heal()
	heal()
	w.CleanRuns()
	first := []string{"ap-singapore-2 SPOTPAID 2.31 it was 2.20 CNY", "ap-singapore-3 SPOTPAID 2.32 it was 2.20 CNY"}
	wants(first...)
	w.price(reconciletest.ZoneB, "2.20")
	heal()
	w.price(reconciletest.ZoneA, "2.31") // which it is
	heal()
	wants(first[0], "ap-singapore-3 SPOTPAID 2.20 it was 2.32 CNY", first[1])
	if len(w.told()) == before {
		t.Error("the runs told nothing at all")
	}
}

// TestAnIdleRunWritesNoMoreThanItsSummary checks the effects of a run that has nothing
// to do and nothing to tell.
func TestAnIdleRunWritesNoMoreThanItsSummary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.MustCreate(2, 2)
	w.CleanRuns()
	w.CleanRuns()
	observer := &faults.Process{}
	if _, err := w.Runner(observer).Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	var writes []string
	for _, name := range observer.Trace() {
		if strings.HasPrefix(name, "Write") || strings.HasPrefix(name, "Delete") {
			writes = append(writes, name)
		}
	}
	if !slices.Equal(writes, []string{"Write statuses"}) {
		t.Errorf("an idle run: %v", writes)
	}
}

// refusedError is an answer by which nothing was done.
type refusedError struct{}

func (refusedError) Error() string                { return "nodes is forbidden" }
func (refusedError) ErrorClass() errorclass.Class { return errorclass.Authorization }

// TestADeletionThatWasRefusedIsNotTold: another process deletes the Node of a former instance.
// If the response was lost, it may have been this pool.
func TestADeletionThatWasRefusedIsNotTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want int
	}{"refused": {refusedError{}, 0}, "lost": {errors.New("the connection was lost"), 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mustJoin(1, 2)
			id := w.Own()[0].InstanceID
			w.Cluster.Failing["DeleteNode"] = c.err
			w.Reclaim(1)
			for range 3 {
				w.Step(2 * time.Minute)
				w.mustRun(reconcile.RunOptions{})
			}
			if w.Cluster.Calls()["DeleteNode"] == 0 {
				t.Fatal("no run tried to delete the Node")
			}
			w.Cluster.RemoveNode("node-" + id)
			w.mustRun(reconcile.RunOptions{})
			if told := idsOf(w.told(), history.DeleteNode); len(told) != c.want {
				t.Errorf("told is the deletion of the nodes of %v", told)
			}
		})
	}
}
