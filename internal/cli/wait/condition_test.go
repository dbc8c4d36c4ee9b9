package wait

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
)

// TestABudgetRecovers once a run that is to be trusted says so, and nothing is in
// force.
func TestABudgetRecovers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		percent int64
		change  func(*budgets.Overview)
		missing string
	}{
		"below its limit": {85, nil, ""},
		"exceeded":        {103, nil, "it is exceeded: 103.000 of 100.000 GPU-hours are used; it recovers by itself at 2026-01-02T03:23:05Z if nothing more is used"},
		"frozen still": {12, func(s *budgets.Overview) { s.Enforced = []budget.Action{budget.Freeze} },
			"it is below its limit, and still in force is: [freeze]"},
		"too old":     {12, func(s *budgets.Overview) { s.Untrusted = "its status is as of yesterday" }, "its status is as of yesterday"},
		"not judged":  {12, func(s *budgets.Overview) { s.UsageReport = nil }, "no run of gpupool reconcile has judged it yet"},
		"failed last": {12, func(s *budgets.Overview) { s.LastRunError = "no cluster" }, "the last run could not judge or enforce it: no cluster"},
		"can't be read": {12, func(s *budgets.Overview) {
			s.Outcome, s.Error = outcome.Failed, &outcome.ErrorReport{Message: "damaged"}
		}, "it can't be told: damaged"},
		"on its way out":   {12, func(s *budgets.Overview) { s.Phase = declaration.Deleting }, "it is being destroyed"},
		"without a status": {12, func(s *budgets.Overview) { s.Report = budgets.Report{Name: "team-a"} }, "no run of gpupool reconcile has judged it yet"},
	} {
		s := budgets.Overview{Report: clitest.BudgetUsed("team-a", tt.percent, nil), Phase: declaration.Active}
		if tt.change != nil {
			tt.change(&s)
		}
		results, err := condition{recovered: true}.judge(reconcile.StatusReport{At: clitest.At, Budgets: []budgets.Overview{s}})
		if err != nil || len(results) != 1 {
			t.Fatal(err)
		}
		if r := results[0]; r.Missing != tt.missing || r.Reached != (tt.missing == "") || r.Source != "store" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, err := (condition{text: "capacity=4", capacity: 4}).judge(reconcile.StatusReport{Budgets: []budgets.Overview{{}}}); err == nil {
		t.Error("a budget has a capacity")
	}
}

// TestWhatWasNotSeenHasNotCome, not even a capacity of 0.
func TestWhatWasNotSeenHasNotCome(t *testing.T) {
	t.Parallel()
	p := spotpools.Overview{Report: spotpools.Report{Name: "train", Region: "ap-singapore"}, Phase: declaration.Active}
	results, err := condition{capacity: 0}.judge(reconcile.StatusReport{At: clitest.At, SpotPools: []spotpools.Overview{p}})
	if err != nil || results[0].Reached {
		t.Errorf("%v: %+v", err, results)
	}
	seen := report{}
	seen.take(time.Now(), nil)
	if seen.Reached {
		t.Error("of nothing all is reached")
	}
}
