package budgets_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// sharing is a fixture with two budgets that pause the same workloads. The first is
// the one that is acted on first by its name.
func sharing(t *testing.T, repause map[string]bool) (d *fixture, budgets map[string]budget.Declaration) {
	t.Helper()
	d = newFixture(t)
	budgets = map[string]budget.Declaration{}
	for name, again := range repause {
		budgets[name] = d.Declare(enforcing(budget.Pause), quietly, func(b *budget.Declaration) {
			b.Name = name
			if again {
				b.Enforce.OnManualResume = budget.ResumePause
			}
		})
	}
	d.Cluster.Start("ml", "x", 8, ownedBy("Deployment", "d"))
	d.Cluster.Step(time.Hour)
	return d, budgets
}

// startedBySomeone is a person who scales what was paused, whose pod then runs.
func (d *fixture) startedBySomeone(name string, replicas int32) {
	d.Cluster.Step(time.Minute)
	d.Cluster.Scale(name, replicas)
	d.Cluster.Start("ml", fmt.Sprint(name, "-", d.Cluster.Version), 8, ownedBy("Deployment", name))
}

func (d *fixture) raise(b budget.Declaration) {
	d.t.Helper()
	b.GPUHours = "1000"
	if _, err := d.Budgets().Update(context.Background(), b); err != nil {
		d.t.Fatal(err)
	}
}

// budgetOf returns whether a report lists a budget as paused, and whether it says that its workload was
// resumed manually.
func budgetOf(r reconcile.Report, name string) (paused, started bool) {
	for _, b := range r.Budgets {
		if b.Name == name {
			requested := budget.CountEffects(b.Effects, budget.Pause, budget.Requested) > 0
			return requested || slices.Contains(b.Enforced, budget.Pause), strings.Contains(fmt.Sprint(b.Warnings), "resumed manually")
		}
	}
	return false, false
}

// TestBudgetsThatPauseTheSameHoldItInOneRun has two budgets be exceeded in one run,
// and either of them let go right then.
func TestBudgetsThatPauseTheSameHoldItInOneRun(t *testing.T) {
	t.Parallel()
	for _, released := range []string{"a", "b"} {
		for way, letGo := range map[string]func(d *fixture, b budget.Declaration){
			"its limit is raised": func(d *fixture, b budget.Declaration) { d.raise(b); d.Run() },
			"it is destroyed": func(d *fixture, b budget.Declaration) {
				if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
					d.t.Fatal(err)
				}
			},
		} {
			t.Run(released+": "+way, func(t *testing.T) {
				t.Parallel()
				d, budgets := sharing(t, map[string]bool{"a": false, "b": false})
				d.Run()
				if got := d.holds(); !slices.Equal(got, []string{"paused d 3", "paused d 3"}) {
					t.Errorf("after one run, the store holds %v", got)
				}
				letGo(d, budgets[released])
				if n := count(d.Cluster.Acts, "Resume d"); n > 0 || !slices.Equal(d.Cluster.Stopped(), []string{"d"}) {
					t.Errorf("the other is exceeded still, and it was resumed %d times; stopped is %v", n, d.Cluster.Stopped())
				}
			})
		}
	}
}

// TestABudgetThatIsExceededKeepsWhatAnotherLetsGo has the one budget's limit raised
// right when the other is exceeded for the first time: nothing starts in between.
func TestABudgetThatIsExceededKeepsWhatAnotherLetsGo(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
		d, budgets := sharing(t, map[string]bool{names[0]: false})
		d.Run()
		d.Declare(enforcing(budget.Pause), quietly, func(b *budget.Declaration) { b.Name = names[1] })
		d.raise(budgets[names[0]])
		report := d.Run()
		if n := count(d.Cluster.Acts, "Resume d"); n > 0 || !slices.Equal(d.holds(), []string{"paused d 3"}) {
			t.Errorf("%v: it was resumed %d times, and the store holds %v", names, n, d.holds())
		}
		if paused, _ := budgetOf(report, names[1]); !paused {
			t.Errorf("%v: the other does not stand as paused", names)
		}
	}
}

// TestPausedWorkloadStaysStoppedUntilReleasedByAll resumes a workload manually that two budgets paused. None,
// one or both of them pause it again. Then each of them releases it.
func TestPausedWorkloadStaysStoppedUntilReleasedByAll(t *testing.T) {
	t.Parallel()
	for _, a := range []bool{false, true} {
		for _, b := range []bool{false, true} {
			for _, released := range []string{"a", "b"} {
				t.Run(fmt.Sprintf("repause %t and %t, %s is released", a, b, released), func(t *testing.T) {
					t.Parallel()
					d, budgets := sharing(t, map[string]bool{"a": a, "b": b})
					d.Run()
					d.Run()
					d.startedBySomeone("d", 5)
					report := d.Run()
					again := a || b
					for name := range budgets {
						if paused, started := budgetOf(report, name); paused != again || started == again && !budgets[name].Enforce.PausesAgain() {
							t.Errorf("%s: it stands as paused: %t; as started by someone: %t", name, paused, started)
						}
					}
					d.raise(budgets[released])
					report = d.Run()
					other := map[string]string{"a": "b", "b": "a"}[released]
					if paused, started := budgetOf(report, other); paused != again || started == again {
						t.Errorf("then %s stands as paused: %t; as started by someone: %t", other, paused, started)
					}
					if stopped := len(d.Cluster.Stopped()) == 1; stopped != again {
						t.Errorf("stopped: %t", stopped)
					}
					if n := count(d.Cluster.Acts, "Resume d"); n > 0 {
						t.Errorf("it was resumed %d times", n)
					}
					d.raise(budgets[other])
					d.Run()
					if w := d.Cluster.Workloads["uid-of-d"]; w.Stopped || w.Replicas != 5 || len(d.holds()) > 0 {
						t.Errorf("no budget pauses it, and it is %+v; the store holds %v", w, d.holds())
					}
				})
			}
		}
	}
}

// TestWhatSomeoneStartedAndStoppedIsTheirs has a person start what was paused, and
// stop it later: the budget doesn't start it when usage falls.
func TestWhatSomeoneStartedAndStoppedIsTheirs(t *testing.T) {
	t.Parallel()
	d, budgets := sharing(t, map[string]bool{"a": false})
	d.Run()
	d.startedBySomeone("d", 5)
	d.Run()
	d.Cluster.Scale("d", 0)
	for uid := range d.Cluster.Pods {
		d.Cluster.Remove(uid)
	}
	if paused, _ := budgetOf(d.Run(), "a"); paused {
		t.Error("it stands as paused by the budget, and a person stopped it")
	}
	d.raise(budgets["a"])
	d.Run()
	if !slices.Equal(d.Cluster.Stopped(), []string{"d"}) || len(d.holds()) > 0 {
		t.Errorf("stopped is %v, the store holds %v", d.Cluster.Stopped(), d.holds())
	}
}

// TestRunOfOneBudgetKeepsMeasuresOfOthers has a run of one budget release a workload that another has paused,
// or would pause in its own next run. The other's freeze stays as well, and the labels that it needs are
// kept.
func TestRunOfOneBudgetKeepsMeasuresOfOthers(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"it holds it": false, "it would": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			// More labels than fit next to those that budgets need.
			labels := map[string]string{"team": "a", "zone": "z"}
			for n := range 30 {
				labels[fmt.Sprintf("example.com/of-%02d", n)] = strings.Repeat("x", 60)
			}
			own := func(s *gpu.Pod) { s.Labels = labels }
			w := budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "d", UID: "uid-of-d"}}
			d.Cluster.Workloads[w.UID] = &reconciletest.Workload{Workload: w, Replicas: 3, Labels: labels}
			a := d.Declare(enforcing(budget.Pause), quietly, func(b *budget.Declaration) { b.Name = "a" })
			other := func() {
				d.Declare(enforcing(budget.Pause), quietly, func(b *budget.Declaration) {
					b.Name, b.Selector = "b", budget.Selector{MatchLabels: map[string]string{"zone": "z"}}
				})
				d.Declare(enforcing(budget.Freeze), quietly, func(b *budget.Declaration) { b.Name = "c" })
			}
			d.Cluster.Start("ml", "x", 8, ownedBy("Deployment", "d"), own)
			d.Cluster.Step(time.Hour)
			run := func(names ...string) {
				t.Helper()
				report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{Names: names})
				if err != nil || len(report.Budgets) == 0 {
					t.Fatalf("a run of %v: %+v, %v", names, report, err)
				}
			}
			if late {
				run("a")
				other()
			} else {
				other()
				run("a")
				run("b", "c")
			}
			frozen := len(d.Cluster.Frozen)
			d.raise(a)
			run("a")
			if n := count(d.Cluster.Acts, "Resume d"); n > 0 || !slices.Equal(d.Cluster.Stopped(), []string{"d"}) {
				t.Errorf("it was resumed %d times", n)
			}
			if len(d.Cluster.Frozen) != frozen || !late && frozen != 1 {
				t.Errorf("%d are frozen, and %d were", len(d.Cluster.Frozen), frozen)
			}
			d.Run()
			if n := count(d.Cluster.Acts, "Resume d"); n > 0 || !slices.Equal(d.holds(), []string{"paused d 3"}) {
				t.Errorf("after a run of all it was resumed %d times, and the store holds %v", n, d.holds())
			}
		})
	}
}

// TestPausesComeBeforeEvictions has one budget pause and another one evict the same Job's pod in one run. Whatever
// their names are, the Job is paused, and its pod is not evicted: that could fail the Job for good. Another pod is.
func TestPausesComeBeforeEvictions(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
		for _, refused := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s pauses, refused %t", names[0], refused), func(t *testing.T) {
				t.Parallel()
				d := newFixture(t)
				for n, action := range []budget.Action{budget.Pause, budget.Evict} {
					d.Declare(enforcing(action), quietly, func(b *budget.Declaration) { b.Name = names[n] })
				}
				d.Cluster.Start("ml", "x", 4, ownedBy("Job", "j"))
				d.Cluster.Start("ml", "bare", 4)
				d.Cluster.Step(time.Hour)
				d.Cluster.Stuck["j"] = true // its pod takes its time
				if refused {
					d.Cluster.Failing["Pause"] = errors.New("refused")
				}
				r, err := d.Process().Runner().Run(context.Background(), reconcile.RunOptions{})
				if err != nil {
					t.Fatal(err)
				}
				paused, evicted := slices.Contains(d.Cluster.Acts, "Pause j"), slices.Contains(d.Cluster.Acts, "Evict x")
				if paused == refused || evicted != refused || !slices.Contains(d.Cluster.Acts, "Evict bare") {
					t.Errorf("it did %q", d.Cluster.Acts)
				}
				said := slices.ContainsFunc(r.Decisions, func(o outcome.Result) bool {
					return o.Error != nil && strings.Contains(fmt.Sprint(o.Error), "the budget "+names[0]+" pauses its workload in this run")
				})
				if said == refused {
					t.Errorf("the decisions are %+v", r.Decisions)
				}
			})
		}
	}
}
