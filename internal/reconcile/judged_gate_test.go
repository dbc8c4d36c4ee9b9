package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// TestJudgementClosesTheGateOfItsRun finds a budget exceeded in a run that fails to act on it.
// Its pools launch nothing in that run, and nothing by what it leaves in the store.
func TestJudgementClosesTheGateOfItsRun(t *testing.T) {
	t.Parallel()
	for name, prevent := range map[string]func(g *gated) (undo func()){
		"its lock is held": func(g *gated) func() {
			lock, err := g.Store().Lock(context.Background(), "budget/team-a", 0)
			if err != nil {
				g.t.Fatal(err)
			}
			return func() { _ = lock.Release() }
		},
		"no fresh look": func(g *gated) func() {
			g.cluster.Failing["LivePods"] = errors.New("list pods: timeout")
			return func() { delete(g.cluster.Failing, "LivePods") }
		},
		"no list of what is in force": func(g *gated) func() {
			g.cluster.Failing["Freezes"] = errors.New("list bindings: timeout")
			return func() { delete(g.cluster.Failing, "Freezes") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGated(t)
			b := g.budget
			b.Enforce.Action, b.Enforce.GracePeriod = budget.Evict, "0s"
			if _, err := g.process().Budgets().Update(context.Background(), b); err != nil {
				t.Fatal(err)
			}
			g.run(reconcile.RunOptions{})
			g.cluster.Start("ml", "a", 8)
			g.cluster.Step(40 * time.Minute)
			g.lose()
			undo := prevent(g)
			process := g.process()
			process.LockTimeout = 0
			report, err := process.Runner().Run(context.Background(), reconcile.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if r := report.Budgets[0]; r.Outcome == outcome.Done || r.Error == nil || r.UsageReport == nil || !*r.Exceeded {
				t.Errorf("the budget is %s: %+v, %+v", r.Outcome, r.Error, r.UsageReport)
			}
			if p := report.SpotPools[0]; p.Outcome != outcome.Short || !strings.Contains(strings.Join(p.Short, "\n"), "used up") {
				t.Errorf("the pool is %s: %v, %+v", p.Outcome, p.Short, p.Error)
			}
			g.Verify(0)
			if gate, err := g.process().SpotPools().Gate(context.Background(), g.pool); err != nil || !gate.Closed {
				t.Errorf("the gate afterwards: %+v, %v", gate, err)
			}
			undo()
			if report := g.run(reconcile.RunOptions{}); !slices.Contains(reconciletest.Told(report), "done freeze") {
				t.Errorf("the next run: %v", reconciletest.Told(report))
			}
		})
	}
}

// TestLostLedgerOpensNothing loses the ledger of an exceeded budget. Its freeze stays, and its
// pools launch nothing, until its window is past the loss.
func TestLostLedgerOpensNothing(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"what ended": "/closed-", "all of it": "/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGated(t)
			b := g.budget
			b.Window, b.Enforce.Action, b.Enforce.GracePeriod, b.Thresholds = "24h", budget.Freeze, "0s", []int{100}
			if _, err := g.process().Budgets().Update(context.Background(), b); err != nil {
				t.Fatal(err)
			}
			gone := g.cluster.Start("ml", "gone", 8)
			g.run(reconcile.RunOptions{})
			g.cluster.Step(40 * time.Minute)
			g.cluster.Remove(gone)
			if diff := cmp.Diff([]string{"done alert", "done freeze"}, reconciletest.Told(g.run(reconcile.RunOptions{}))); diff != "" {
				t.Errorf("decisions (-want +got)\n%s", diff)
			}
			g.lose()
			g.cluster.Step(time.Minute)
			reconciletest.LoseLedger(t, g.Store(), text)
			for n := range 3 {
				report := g.run(reconcile.RunOptions{})
				if list := reconciletest.Told(report); len(list) > 0 {
					t.Errorf("run %d: decisions %v", n+1, list)
				}
				p := report.SpotPools[0]
				if p.Outcome != outcome.Failed || p.Error == nil || !strings.Contains(p.Error.Message, "part of the ledger is lost") {
					t.Errorf("run %d: the pool is %s: %+v", n+1, p.Outcome, p.Error)
				}
				if len(g.cluster.Frozen) != 1 {
					t.Errorf("run %d: the freeze was lifted", n+1)
				}
				g.cluster.Step(time.Minute)
			}
			g.Verify(0)
			g.cluster.Step(48 * time.Hour)
			g.run(reconcile.RunOptions{})
			if len(g.cluster.Frozen) != 0 {
				t.Error("the freeze stays after the window is past the loss")
			}
		})
	}
}
