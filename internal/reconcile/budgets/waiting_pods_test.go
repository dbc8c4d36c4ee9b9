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
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

// backlog is a fixture whose budget is exceeded, with two pods that run and four that
// wait since before the crossing.
func backlog(t *testing.T, action budget.Action, changes ...func(*budget.Declaration)) (*fixture, budget.Declaration) {
	t.Helper()
	d := newFixture(t)
	b := d.Declare(append(changes, enforcing(action), func(b *budget.Declaration) { b.Thresholds, b.Enforce.MaxEvictionsPerRun = []int{100}, 1 })...)
	d.Cluster.Forgiving = map[string]bool{"forgiving": true}
	d.Cluster.Start("ml", "runs-1", 8)
	d.Cluster.Start("ml", "runs-2", 8)
	d.Cluster.Start("ml", "waits", 4, waiting)
	d.Cluster.Start("ml", "waits-set", 4, waiting, ownedBy("StatefulSet", "set"))
	d.Cluster.Start("ml", "waits-strict", 2, waiting, ownedBy("Job", "strict"))
	d.Cluster.Start("ml", "waits-forgiving", 1, waiting, ownedBy("Job", "forgiving"))
	d.Run() // from now on, the watch reports no change of theirs
	d.Cluster.Step(time.Hour)
	return d, b
}

const told11 = "4 pods wait for 11 GPUs: ml/waits, ml/waits-forgiving, ml/waits-set, ml/waits-strict"

// TestWaitingPodsAreToldOf by each action, and in no ledger.
func TestWaitingPodsAreToldOf(t *testing.T) {
	t.Parallel()
	for _, action := range []budget.Action{budget.Freeze, budget.Pause, budget.Evict} {
		d, _ := backlog(t, action)
		dry := d.DryRun()
		_, report := d.once()
		for _, r := range []reconcile.Report{dry, report} {
			if !strings.Contains(fmt.Sprint(r.Budgets[0].Warnings), told11) {
				t.Errorf("%s: warnings %v", action, r.Budgets[0].Warnings)
			}
			wantConsumed(t, r, "16.000")
		}
	}
	d, _ := backlog(t, budget.AlertOnly)
	if report := d.Run(); d.Cluster.Calls()["LivePods"] > 0 || len(report.Budgets[0].Warnings) > 0 {
		t.Errorf("%d looks, warnings %v", d.Cluster.Calls()["LivePods"], report.Budgets[0].Warnings)
	}
}

// TestOwnersOfWaitingPodsArePaused before their pods start.
func TestOwnersOfWaitingPodsArePaused(t *testing.T) {
	t.Parallel()
	d, _ := backlog(t, budget.Pause)
	_, report := d.once()
	wantTold(t, report, "done alert", "done suspend set", "done suspend forgiving", "done suspend strict")
}

// TestWaitingPodsAreEvictedFirst, even if a run may evict few: after the freeze, and before the pods whose
// GPUs they would get. A waiting pod whose eviction would fail a Job stays.
func TestWaitingPodsAreEvictedFirst(t *testing.T) {
	t.Parallel()
	d, _ := backlog(t, budget.Evict)
	report := d.Run()
	wantTold(t, report, "done alert", "done freeze", "done evict waits", "done evict waits-forgiving", "done evict waits-set", "done evict runs-1")
	if !strings.Contains(fmt.Sprint(report.Budgets[0].Warnings), "ml/waits-strict (of the Job strict)") {
		t.Errorf("warnings %v", report.Budgets[0].Warnings)
	}
	wantTold(t, d.Run(), "done evict runs-2")
	if len(d.Cluster.List()) != 1 {
		t.Errorf("left are %v", d.Cluster.List())
	}
}

// TestPodsBoundToADeadNodeWait: their kubelets never accepted them, so that they count
// for nothing, and start once the node is back.
func TestPodsBoundToADeadNodeWait(t *testing.T) {
	t.Parallel()
	bound := func(s *gpu.Pod) { waiting(s); s.Node = gpu.Node{Name: "node-2", NotReady: true} }
	for action, want := range map[budget.Action][]string{
		budget.Freeze: {"done alert", "done freeze"},
		budget.Pause:  {"done alert", "done suspend set"},
		budget.Evict:  {"done alert", "done freeze", "done evict bound", "done evict runs"},
	} {
		d := newFixture(t)
		d.Declare(enforcing(action), func(b *budget.Declaration) { b.Thresholds = []int{100} })
		d.Cluster.Start("ml", "runs", 16)
		d.Cluster.Start("ml", "bound", 4, bound, ownedBy("StatefulSet", "set"))
		d.Run()
		d.Cluster.Step(time.Hour)
		_, report := d.once()
		wantTold(t, report, want...)
		wantConsumed(t, report, "16.000")
		if warnings := fmt.Sprint(report.Budgets[0].Warnings); !strings.Contains(warnings, "1 pod waits for 4 GPUs: ml/bound") {
			t.Errorf("%s: warnings %s", action, warnings)
		}
	}
}

// TestAPodThatIsBoundMeanwhileIsLeft to the order and the number of those that run.
func TestAPodThatIsBoundMeanwhileIsLeft(t *testing.T) {
	t.Parallel()
	d, _ := backlog(t, budget.Evict)
	d.Cluster.Hook = faults.Before(func(method string) {
		if method != "Freeze" {
			return
		}
		d.Cluster.Hook = nil
		for _, s := range d.Cluster.Pods {
			if s.Name == "waits" {
				s.Node, s.Scheduled = gpu.Node{Name: "node-1"}, ledger.Start{At: ledger.TimeOf(d.Cluster.Now()), Source: ledger.PodScheduled}
			}
		}
	})
	wantTold(t, d.Run(), "done alert", "done freeze", "skipped evict waits", "done evict waits-forgiving", "done evict waits-set", "done evict runs-1")
}

// TestAFreezeNeedsNoListOfPods has the list of what waits fail: the freeze is in
// force all the same, and the failure told.
func TestAFreezeNeedsNoListOfPods(t *testing.T) {
	t.Parallel()
	d, b := backlog(t, budget.Freeze, func(b *budget.Declaration) { b.Enforce.HonorPodProtection = new(false) })
	d.Cluster.Failing["LivePods"] = errors.New("list pods: timeout")
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != outcome.Failed || !slices.Contains(reconciletest.Told(report), "done freeze") {
		t.Errorf("%v, %+v, %v", err, report.Budgets, reconciletest.Told(report))
	}
	if !d.Cluster.Frozen[b.UID].IgnorePodProtection {
		t.Error("the freeze lets in what says of itself that it is protected")
	}
}
