package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// budgetStory is something that changes a desk, from what prepare makes of it.
type budgetStory struct {
	name    string
	prepare func(d *desk) budget.Declaration
	do      func(ctx context.Context, e *reconcile.Engine, b budget.Declaration) error
	// again is what a user does after it was cut short, beside running reconcile.
	again func(d *desk, b budget.Declaration)
	// verify checks what must hold after the next clean runs.
	verify func(d *desk, report reconcile.Report)
}

func budgetStories() []budgetStory {
	declare := func(action budget.Action) func(d *desk) budget.Declaration {
		return func(d *desk) budget.Declaration {
			b := d.declare(enforcing(action), func(b *budget.Declaration) { b.GPUHours = "6" })
			ends := d.cluster.start("ml", "ends", 4)
			d.cluster.start("ml", "b", 4, ownedBy("Job", "train"))
			d.cluster.step(30 * time.Minute)
			d.run()
			d.cluster.remove(ends)
			born := d.cluster.start("ml", "short", 2)
			d.cluster.step(30 * time.Minute)
			d.cluster.remove(born)
			return b
		}
	}
	run := func(ctx context.Context, e *reconcile.Engine, _ budget.Declaration) error {
		_, err := e.Run(ctx, reconcile.RunOptions{})
		return err
	}
	nothing := func(*desk, budget.Declaration) {}
	remove := func(ctx context.Context, e *reconcile.Engine, b budget.Declaration) error {
		_, err := e.Budgets().Delete(ctx, b)
		return err
	}
	removeAgain := func(d *desk, b budget.Declaration) {
		if err := remove(context.Background(), d.engine(), b); err != nil {
			d.t.Errorf("deleting again: %v", err)
		}
	}
	usage := func(d *desk, report reconcile.Report) {
		d.t.Helper()
		// 4 for half an hour, 4 for an hour, 2 for half an hour.
		wantConsumed(d.t, report, "7.000")
		if len(report.Budgets[0].Warnings) > 0 || report.Budgets[0].EstimatedGPUHours != "0.000" {
			d.t.Errorf("warnings %v, %s estimated", report.Budgets[0].Warnings, report.Budgets[0].EstimatedGPUHours)
		}
		if len(report.Warnings) > 0 {
			d.t.Errorf("warnings %v", report.Warnings)
		}
	}
	return []budgetStory{
		{"a run that evicts", declare(budget.Evict), run, nothing, func(d *desk, report reconcile.Report) {
			usage(d, report)
			if len(d.cluster.frozen) != 1 || len(d.cluster.evicted) != 1 || len(d.cluster.pods) != 0 {
				d.t.Errorf("frozen %v, evicted %v, left %v", d.cluster.frozen, d.cluster.evicted, d.cluster.pods)
			}
		}},
		{"a run that pauses", declare(budget.Pause), run, nothing, func(d *desk, report reconcile.Report) {
			usage(d, report)
			if len(d.cluster.stopped()) != 1 || len(d.cluster.pods) != 0 || !slices.Equal(report.Budgets[0].Enforced, []budget.Action{budget.Pause}) {
				d.t.Errorf("paused %v, left %v, told %v", d.cluster.stopped(), d.cluster.pods, report.Budgets[0].Enforced)
			}
			if got := d.holds(); !slices.Equal(got, []string{"paused train 3"}) {
				d.t.Errorf("the store holds %v", got)
			}
		}},
		{"a run that resumes", func(d *desk) budget.Declaration {
			b := declare(budget.Pause)(d)
			d.run()
			b.GPUHours = "100"
			if _, err := d.engine().Budgets().Update(context.Background(), b); err != nil {
				d.t.Fatal(err)
			}
			b.Generation++
			return b
		}, run, nothing, func(d *desk, report reconcile.Report) {
			usage(d, report)
			if w := d.cluster.workloads["uid-of-train"]; w.stopped || w.replicas != 3 || len(d.holds()) > 0 || len(report.Budgets[0].Enforced) > 0 {
				d.t.Errorf("it is %+v, the store holds %v, told %v", w, d.holds(), report.Budgets[0].Enforced)
			}
		}},
		{
			"a deletion of a budget that paused", func(d *desk) budget.Declaration {
				b := declare(budget.Pause)(d)
				d.run()
				return b
			},
			remove, removeAgain,
			func(d *desk, report reconcile.Report) {
				if w := d.cluster.workloads["uid-of-train"]; w.stopped || w.replicas != 3 || len(d.holds()) > 0 || len(report.Budgets) > 0 {
					d.t.Errorf("it is %+v, the store holds %v, declared %v", w, d.holds(), report.Budgets)
				}
			},
		},
		{
			"a deletion", func(d *desk) budget.Declaration {
				b := declare(budget.Evict)(d)
				d.run()
				return b
			},
			remove, removeAgain,
			func(d *desk, report reconcile.Report) {
				if len(d.cluster.frozen) > 0 || len(report.Budgets) > 0 {
					d.t.Errorf("frozen %v, declared %v", d.cluster.frozen, report.Budgets)
				}
				for key := range d.documents() {
					if strings.HasPrefix(key, "budgets/") || strings.HasPrefix(key, "statuses/budgets/") {
						d.t.Errorf("%s is left", key)
					}
				}
			},
		},
	}
}

// TestBudgetsKilled kills each story right before and right after each of its
// effects: calls of the cluster, writes, deletes and locks of the store.
func TestBudgetsKilled(t *testing.T) {
	t.Parallel()
	for _, story := range budgetStories() {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			b := story.prepare(d)
			observer := &mortal{}
			if err := story.do(context.Background(), d.mortalEngine(observer), b); err != nil {
				t.Fatalf("without a kill: %v", err)
			}
			story.verify(d, d.run())
			for n := 1; n <= observer.count; n++ {
				for _, after := range []bool{false, true} {
					for _, gone := range []bool{false, true} {
						name := fmt.Sprintf("%s %d %s", map[bool]string{false: "before", true: "after"}[after], n, observer.trace[n-1])
						t.Run(name+map[bool]string{true: ", then by a run"}[gone], func(t *testing.T) {
							t.Parallel()
							d := newDesk(t)
							b := story.prepare(d)
							_ = story.do(context.Background(), d.mortalEngine(&mortal{killAt: n, after: after}), b)
							if !gone {
								story.again(d, b)
								d.run()
								story.verify(d, d.run())
								return
							}
							// Where the kill came before the record said so, nobody knows
							// that a deletion was meant.
							d.run()
							report := d.run()
							if !strings.HasPrefix(story.name, "a deletion") || n > 3 {
								story.verify(d, report)
							}
						})
					}
				}
			}
		})
	}
}

// TestInterruptedRun takes no new action once it is told to stop, and says which
// budgets are left to the next run.
func TestInterruptedRun(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Observe", "Freeze"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
			d.cluster.start("ml", "a", 8)
			d.cluster.step(time.Hour)
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			d.cluster.during = func(m string) {
				if m == method {
					stop()
				}
			}
			if method == "Observe" {
				d.cluster.failing["Observe"] = context.Canceled
			}
			report, err := d.engine().Run(ctx, reconcile.RunOptions{})
			if err != nil || report.Budgets[0].Outcome != outcome.Skipped || len(d.cluster.evicted) > 0 {
				t.Errorf("got %v, %+v, evicted %v", err, report.Budgets, d.cluster.evicted)
			}
			if method == "Freeze" {
				wantTold(t, report, "done alert", "done freeze", "skipped evict a")
			}
			d.cluster.during = nil
			delete(d.cluster.failing, "Observe")
			d.run()
			if len(d.cluster.evicted) != 1 {
				t.Errorf("the next run did not go on: %v", d.cluster.acts)
			}
		})
	}
}
