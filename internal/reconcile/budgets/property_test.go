package budgets_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

// TestUsageIsWithinItsErrorBound has pods start, finish and vanish at random, the history of the watch get
// lost, and runs be missed, interrupted or dry. Reported usage is always true within its own error bound. It
// never falls, and the next observation of an unchanged cluster reports the same.
func TestUsageIsWithinItsErrorBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := newFixture(t)
		d.Declare(func(b *budget.Declaration) { b.GPUHours, b.Window = "100000", "30d" })
		d.Run()
		w := &truth{d: d, held: map[string]int64{}}
		before := int64(0)
		for range rapid.IntRange(4, 16).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0, 1, 2:
				w.start(rapid.Int64Range(1, 4).Draw(rt, "gpus"))
			case 3:
				w.end(rt, func(uid string) { d.Cluster.Finish(uid); w.finished = append(w.finished, uid) })
			case 4, 5:
				w.end(rt, d.Cluster.Remove)
			case 6:
				d.Cluster.Forget()
				w.collect()
			case 7:
				killed := &faults.Process{Fault: faults.Fault{At: rapid.IntRange(1, 20).Draw(rt, "kill"), After: rapid.Bool().Draw(rt, "after")}}
				_, _ = d.ProcessBy(killed).Runner().Run(context.Background(), reconcile.RunOptions{})
			case 8:
				d.DryRun()
			default:
				w.check(rt, d.Run(), &before)
			}
			w.step(time.Duration(rapid.IntRange(0, 900).Draw(rt, "seconds")) * time.Second)
		}
		w.check(rt, d.Run(), &before)
		again := d.Run().Budgets[0].ConsumedMilliGPUSeconds
		if again != before {
			rt.Fatalf("the same look again says %d, and said %d", again, before)
		}
	})
}

// truth is what the pods of a fixture really used.
type truth struct {
	d     *fixture
	held  map[string]int64 // GPUs by uid, of the pods that hold them
	total int64            // milli-GPU-seconds
	// finished are pods that ended by themselves and were not deleted yet.
	finished []string
}

// collect deletes what is finished, as a garbage collector does.
func (w *truth) collect() {
	for _, uid := range w.finished {
		w.d.Cluster.Remove(uid)
	}
	w.finished = nil
}

// start begins a pod, if the cluster's 16 GPUs have room for it.
func (w *truth) start(gpus int64) {
	all := gpus
	for _, n := range w.held {
		all += n
	}
	if all <= 16 {
		w.held[w.d.Cluster.Start("ml", "pod", gpus)] = gpus
	}
}

func (w *truth) end(rt *rapid.T, how func(uid string)) {
	if len(w.held) == 0 {
		return
	}
	uid := rapid.SampledFrom(slices.Sorted(maps.Keys(w.held))).Draw(rt, "pod")
	how(uid)
	delete(w.held, uid)
}

func (w *truth) step(d time.Duration) {
	for _, gpus := range w.held {
		w.total += gpus * d.Milliseconds()
	}
	w.d.Cluster.Step(d)
}

// check compares a report with the truth.
func (w *truth) check(rt *rapid.T, r reconcile.Report, before *int64) {
	b := r.Budgets[0]
	bound := int64(0)
	if b.ErrorBoundGPUHours != "0.000" {
		printed, err := budget.ParseHours(b.ErrorBoundGPUHours)
		if err != nil {
			rt.Fatal(err)
		}
		bound = printed + budget.Hour/1000 // it is printed in thousandths
	}
	if diff := max(b.ConsumedMilliGPUSeconds-w.total, w.total-b.ConsumedMilliGPUSeconds); diff > bound {
		rt.Fatalf("%d milli-GPU-seconds are reported, and %d were used: %d apart, and the bound is %d", b.ConsumedMilliGPUSeconds, w.total, diff, bound)
	}
	if b.ConsumedMilliGPUSeconds < *before {
		rt.Fatalf("usage fell from %d to %d", *before, b.ConsumedMilliGPUSeconds)
	}
	*before = b.ConsumedMilliGPUSeconds
}
