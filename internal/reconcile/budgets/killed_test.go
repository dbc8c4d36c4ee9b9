package budgets_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
)

// budgetStory is something that changes a fixture, from what prepare makes of it.
type budgetStory struct {
	name    string
	deletes bool
	prepare func(d *fixture) budget.Declaration
	do      func(ctx context.Context, e reconcile.World, b budget.Declaration) error
	// again is what a user does after the interruption, in addition to running reconcile.
	again func(d *fixture, b budget.Declaration)
	// verify checks what must hold after the next clean runs.
	verify func(d *fixture, report reconcile.Report)
}

func budgetStories() []budgetStory {
	declare := func(action budget.Action) func(d *fixture) budget.Declaration {
		return func(d *fixture) budget.Declaration {
			b := d.Declare(enforcing(action), func(b *budget.Declaration) { b.GPUHours = "6" })
			ends := d.Cluster.Start("ml", "ends", 4)
			d.Cluster.Start("ml", "b", 4, ownedBy("Job", "train"))
			d.Cluster.Step(30 * time.Minute)
			d.Run()
			d.Cluster.Remove(ends)
			born := d.Cluster.Start("ml", "short", 2)
			d.Cluster.Step(30 * time.Minute)
			d.Cluster.Remove(born)
			return b
		}
	}
	run := func(ctx context.Context, p reconcile.World, _ budget.Declaration) error {
		_, err := p.Runner().Run(ctx, reconcile.RunOptions{})
		return err
	}
	nothing := func(*fixture, budget.Declaration) {}
	remove := func(ctx context.Context, p reconcile.World, b budget.Declaration) error {
		_, err := p.Budgets().Delete(ctx, b)
		return err
	}
	removeAgain := func(d *fixture, b budget.Declaration) {
		if err := remove(context.Background(), d.Process(), b); err != nil {
			d.t.Errorf("deleting again: %v", err)
		}
	}
	usage := func(d *fixture, report reconcile.Report) {
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
		{"a run that evicts", false, declare(budget.Evict), run, nothing, func(d *fixture, report reconcile.Report) {
			usage(d, report)
			if len(d.Cluster.Frozen) != 1 || len(d.Cluster.Evicted) != 1 || len(d.Cluster.Pods) != 0 {
				d.t.Errorf("frozen %v, evicted %v, left %v", d.Cluster.Frozen, d.Cluster.Evicted, d.Cluster.Pods)
			}
			d.tells(map[history.Kind]int{history.Create: 1, history.Exceeded: 1, history.Freeze: 1, history.Frozen: 1, history.Evict: 1, history.Evicted: 1})
		}},
		{"a run that pauses", false, declare(budget.Pause), run, nothing, func(d *fixture, report reconcile.Report) {
			usage(d, report)
			if len(d.Cluster.Stopped()) != 1 || len(d.Cluster.Pods) != 0 || !slices.Equal(report.Budgets[0].Enforced, []budget.Action{budget.Pause}) {
				d.t.Errorf("paused %v, left %v, told %v", d.Cluster.Stopped(), d.Cluster.Pods, report.Budgets[0].Enforced)
			}
			if got := d.holds(); !slices.Equal(got, []string{"paused train 3"}) {
				d.t.Errorf("the store holds %v", got)
			}
			d.tells(map[history.Kind]int{history.Create: 1, history.Exceeded: 1, history.Pause: 1, history.Paused: 1})
		}},
		{"a run that resumes", false, func(d *fixture) budget.Declaration {
			b := declare(budget.Pause)(d)
			d.Run()
			b.GPUHours = "100"
			if _, err := d.Budgets().Update(context.Background(), b); err != nil {
				d.t.Fatal(err)
			}
			b.Generation++
			return b
		}, run, nothing, func(d *fixture, report reconcile.Report) {
			usage(d, report)
			if w := d.Cluster.Workloads["uid-of-train"]; w.Stopped || w.Replicas != 3 || len(d.holds()) > 0 || len(report.Budgets[0].Enforced) > 0 {
				d.t.Errorf("it is %+v, the store holds %v, told %v", w, d.holds(), report.Budgets[0].Enforced)
			}
			d.tells(map[history.Kind]int{history.Create: 1, history.Update: 1, history.Exceeded: 1, history.Recovered: 1, history.Pause: 1, history.Resume: 1})
		}},
		{
			"a deletion of a budget that paused", true, func(d *fixture) budget.Declaration {
				b := declare(budget.Pause)(d)
				d.Run()
				return b
			},
			remove, removeAgain,
			func(d *fixture, report reconcile.Report) {
				if w := d.Cluster.Workloads["uid-of-train"]; w.Stopped || w.Replicas != 3 || len(d.holds()) > 0 || len(report.Budgets) > 0 {
					d.t.Errorf("it is %+v, the store holds %v, declared %v", w, d.holds(), report.Budgets)
				}
			},
		},
		{
			"a deletion", true, func(d *fixture) budget.Declaration {
				b := declare(budget.Evict)(d)
				d.Run()
				return b
			},
			remove, removeAgain,
			func(d *fixture, report reconcile.Report) {
				if len(d.Cluster.Frozen) > 0 || len(report.Budgets) > 0 {
					d.t.Errorf("frozen %v, declared %v", d.Cluster.Frozen, report.Budgets)
				}
				for key := range d.Documents() {
					if strings.HasPrefix(key, "budgets/") || strings.HasPrefix(key, "statuses/budgets/") {
						d.t.Errorf("%s is left", key)
					}
				}
			},
		},
	}
}

// tells counts the events in the history of the budget, without its thresholds, and checks that none is
// reported twice.
func (d *fixture) tells(want map[history.Kind]int) {
	d.t.Helper()
	answer, err := (&eventlog.Log{Store: d.Store(), Now: d.Cluster.Now}).Ask(context.Background(), history.Query{})
	if err != nil {
		d.t.Fatal(err)
	}
	got := map[history.Kind]int{}
	for _, e := range answer.Events {
		if e.Kind != history.Threshold && e.Kind != history.Failed {
			got[e.Kind]++
		}
	}
	if !maps.Equal(got, want) {
		d.t.Errorf("the history has %v, want %v", got, want)
	}
}

// TestAKillAtAnyEffectLosesNothing kills each story right after each of its effects that
// leaves something behind: calls of the cluster, writes, deletes and locks of the store.
// In a soak it is right before and right after each effect, reads included.
func TestAKillAtAnyEffectLosesNothing(t *testing.T) {
	t.Parallel()
	var list []faults.Operation[scene]
	for _, story := range budgetStories() {
		list = append(list, story.cut())
		if story.deletes || soaktest.On() { // else a run is what a user does
			list = append(list, story.leftToRuns())
		}
	}
	faults.PlayAll(t, list, func(_ faults.Operation[scene], trace []string) []faults.Fault { return faults.Kills(trace) })
}

// scene is a fixture with a budget to which a story happens.
type scene struct {
	*fixture
	b budget.Declaration
}

// cut is the story as faults cut it short; then the user does it again.
func (s budgetStory) cut() faults.Operation[scene] {
	return faults.Operation[scene]{
		Name:  s.name,
		Begin: func(t *testing.T) scene { t.Helper(); d := newFixture(t); return scene{d, s.prepare(d)} },
		Do:    func(of scene, p *faults.Process) error { return s.do(of.t.Context(), of.ProcessBy(p), of.b) },
		Holds: func(of scene, f faults.Fault, _ error) {
			if f != (faults.Fault{}) {
				s.again(of.fixture, of.b)
				of.Run()
			}
			s.verify(of.fixture, of.Run())
		},
	}
}

// leftToRuns is the interrupted story, followed only by runs. If the kill came before the record was written,
// the intended deletion is unknown.
func (s budgetStory) leftToRuns() faults.Operation[scene] {
	o := s.cut()
	o.Name += ", then by a run"
	o.Holds = func(of scene, _ faults.Fault, _ error) {
		meant := !s.deletes || of.leaves(of.t, of.b.Name)
		of.Run()
		if report := of.Run(); meant {
			s.verify(of.fixture, report)
		}
	}
	return o
}

// TestAnIdleRunOfABudgetWritesNoHistory checks the effects of a run that has nothing
// to do and nothing to tell: they are those of a gpupool without a history. All of it is
// within one quarter hour: the first run of the next notes how far the budget is used.
func TestAnIdleRunOfABudgetWritesNoHistory(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	now := d.Cluster.Now()
	d.Cluster.Step(now.Truncate(15 * time.Minute).Add(15 * time.Minute).Sub(now))
	d.Declare(enforcing(budget.Evict))
	d.Cluster.Start("ml", "runs", 1)
	for range 3 {
		d.Cluster.Step(time.Minute)
		d.Run()
	}
	d.Cluster.Step(time.Minute)
	observer := &faults.Process{}
	if _, err := d.ProcessBy(observer).Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"Lock", "UID", "Observe", "Write ledger", "Freezes", "FreezePolicy", "Unrecognized", "Write statuses", "Write statuses"}
	if !slices.Equal(observer.Trace(), want) {
		t.Errorf("an idle run: %v, want %v", observer.Trace(), want)
	}
}

// leaves tells whether a budget is on its way out, or gone, as a status shows it.
func (d *fixture) leaves(t *testing.T, name string) bool {
	t.Helper()
	status, err := d.Runner().Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range status.Budgets {
		if b.Name == name {
			return b.Phase == declaration.Deleting
		}
	}
	return true
}

// TestInterruptedRunStartsNoNewActions begins no new action after the interrupt, and names the budgets that
// are left to the next run.
func TestInterruptedRunStartsNoNewActions(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Observe", "Freeze"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
			d.Cluster.Start("ml", "a", 8)
			d.Cluster.Step(time.Hour)
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			d.Cluster.Hook = faults.Before(func(m string) {
				if m == method {
					stop()
				}
			})
			if method == "Observe" {
				d.Cluster.Failing["Observe"] = context.Canceled
			}
			report, err := d.Runner().Run(ctx, reconcile.RunOptions{})
			if err != nil || report.Budgets[0].Outcome != outcome.Skipped || len(d.Cluster.Evicted) > 0 {
				t.Errorf("got %v, %+v, evicted %v", err, report.Budgets, d.Cluster.Evicted)
			}
			if method == "Freeze" {
				wantTold(t, report, "done alert", "done freeze", "skipped evict a")
			}
			d.Cluster.Hook = nil
			delete(d.Cluster.Failing, "Observe")
			d.Run()
			if len(d.Cluster.Evicted) != 1 {
				t.Errorf("the next run did not go on: %v", d.Cluster.Acts)
			}
		})
	}
}
