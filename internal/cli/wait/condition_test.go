package wait

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestABudgetRecovers once a run that is to be trusted says so, and nothing is in
// force.
func TestABudgetRecovers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		percent int64
		change  func(*budgets.Description)
		missing string
	}{
		"below its limit": {85, nil, ""},
		"exceeded":        {103, nil, "exceeded: 103.000 of 100.000 GPU-hours used; it recovers at 2026-01-02T03:23:05Z without further usage"},
		"frozen still": {12, func(s *budgets.Description) { s.Enforced = []budget.Action{budget.Freeze} },
			"below its limit, but still in effect: [freeze]"},
		"too old": {12, func(s *budgets.Description) { s.Untrusted = reason.OtherVersion("its status is as of yesterday") },
			"its status is as of yesterday"},
		"not judged": {12, func(s *budgets.Description) { s.UsageReport = nil }, "no reconcile run has measured it yet"},
		"failed last": {12, func(s *budgets.Description) {
			s.Failing = &declaration.Failing{Error: history.Error{Message: "no cluster"}}
		}, "the last run failed: no cluster"},
		"can't be read": {12, func(s *budgets.Description) {
			s.Outcome, s.Error = outcome.Failed, &outcome.ErrorReport{Message: "damaged"}
		}, "unknown: damaged"},
		"on its way out":   {12, func(s *budgets.Description) { s.Phase = declaration.Deleting }, "deletion in progress"},
		"without a status": {12, func(s *budgets.Description) { s.Report = budgets.Report{Name: "team-a"} }, "no reconcile run has measured it yet"},
	} {
		s := budgets.Description{Report: clitest.BudgetUsed("team-a", tt.percent, nil), Phase: declaration.Active}
		if tt.change != nil {
			tt.change(&s)
		}
		results, err := condition{recovered: true}.judge(reconcile.StatusReport{At: clitest.At, Budgets: []budgets.Description{s}})
		if err != nil || len(results) != 1 {
			t.Fatal(err)
		}
		if r := results[0]; r.Missing != tt.missing || r.Reached != (tt.missing == "") || r.Source != "store" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, err := (condition{text: "capacity=4", capacity: true, number: 4}).judge(reconcile.StatusReport{Budgets: []budgets.Description{{}}}); err == nil {
		t.Error("a budget has a capacity")
	}
}

// TestUnobservedPoolDoesNotMeetTheCondition, not even a capacity of 0.
func TestUnobservedPoolDoesNotMeetTheCondition(t *testing.T) {
	t.Parallel()
	p := spotpools.Description{Report: spotpools.Report{Name: "train", Region: "ap-singapore"}, Phase: declaration.Active}
	results, err := condition{capacity: true}.judge(reconcile.StatusReport{At: clitest.At, SpotPools: []spotpools.Description{p}})
	if err != nil || results[0].Reached {
		t.Errorf("%v: %+v", err, results)
	}
	seen := report{}
	seen.update(time.Now(), nil)
	if seen.Reached {
		t.Error("of nothing all is reached")
	}
}

// TestAStockPoolIsWaitedFor: what is not seen, not in sync or blocked is not ready,
// and why is said.
func TestAStockPoolIsWaitedFor(t *testing.T) {
	t.Parallel()
	ready, two := condition{text: "ready", ready: true}, condition{text: "available=2", available: true, number: 2}
	of := func(phase decide.Phase, available int, change func(*stockpools.Description)) stockpools.Description {
		p := stockpools.Description{RecordPhase: declaration.Active, Report: stockpools.Report{
			Namespace: "ml", Name: "g1", Outcome: outcome.Done, Status: &decide.Status{Phase: phase, Desired: 2, Available: available},
		}}
		if change != nil {
			change(&p)
		}
		return p
	}
	for name, tt := range map[string]struct {
		wanted  condition
		pool    stockpools.Description
		missing string
	}{
		"ready":     {ready, of(decide.Ready, 2, nil), ""},
		"recovered": {condition{recovered: true}, of(decide.Ready, 2, nil), ""},
		"so many":   {two, of(decide.Progressing, 2, nil), ""},
		"too few":   {two, of(decide.Ready, 1, nil), "1 of 2 available"},
		"paused":    {ready, of(decide.Paused, 0, nil), "Paused, 0 available and 0 in use of 2"},
		"its creation goes on": {
			ready, of(decide.Ready, 2, func(p *stockpools.Description) { p.RecordPhase = declaration.Creating }), "Ready, 2 available and 0 in use of 2",
		},
		"it is on its way out": {
			two, of(decide.Ready, 2, func(p *stockpools.Description) { p.RecordPhase = declaration.Deleting }), "deletion in progress",
		},
		"it was not seen": {
			condition{text: "available=0", available: true}, of("", 0, func(p *stockpools.Description) { p.Status = nil }), "not observed",
		},
		"its name is taken": {two, of(decide.Degraded, 2, func(p *stockpools.Description) {
			p.Outcome, p.Error = outcome.Failed, &outcome.ErrorReport{Message: "taken"}
		}), "not observed: taken"},
		"no room": {ready, of(decide.Pending, 0, func(p *stockpools.Description) {
			p.Conditions = []decide.Condition{{
				Type: decide.Scheduled, Status: "False", Message: reason.OtherVersion("2 pods wait"),
				Rooms: reason.Reasons{reason.OtherVersion("the spot pool a grows")},
			}}
		}), "Pending, 0 available and 0 in use of 2; 2 pods wait; the spot pool a grows"},
	} {
		results, err := tt.wanted.judge(reconcile.StatusReport{At: clitest.At, StockPools: []stockpools.Description{tt.pool}})
		if err != nil || len(results) != 1 {
			t.Fatal(err)
		}
		if r := results[0]; r.Missing != tt.missing || r.Reached != (tt.missing == "") || r.Source != "cluster" || r.Object != "stock_pool/ml/g1" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _,
		err := (condition{text: "capacity=4", capacity: true}).judge(reconcile.StatusReport{StockPools: []stockpools.Description{of(decide.Ready, 2,
		nil)}}); err == nil || err.Error() != "--for capacity=4 does not apply to stock_pool/ml/g1: use available=N, ready, recovered" {
		t.Errorf("a stock pool has a capacity: %v", err)
	}
	if _, err := ready.judge(reconcile.StatusReport{SpotPools: []spotpools.Description{{Report: spotpools.Report{Name: "train", Region: "r"}}}}); err == nil {
		t.Error("a pool is ready")
	}
}
