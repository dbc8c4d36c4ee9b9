package cli

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// used is a budget of which so many of 100 GPU-hours are used.
func used(name string, percent int64, change func(*reconcile.BudgetReport)) reconcile.BudgetReport {
	u := budget.Usage{
		WindowStart: at.Add(-24 * time.Hour), WindowEnd: at, Limit: 100 * budget.Hour, Consumed: percent * budget.Hour,
		Coverage: 1000, TrackedPods: 12, ActivePods: 3, BurnRate: 1500,
	}
	var since *time.Time
	if u.Exceeded() {
		crossed := at.Add(-time.Hour)
		since = &crossed
	}
	b := reconcile.BudgetReport{
		Name: name, UID: name, Action: budget.AlertOnly, Observed: true, Outcome: reconcile.Done,
		UsageReport: reconcile.NewUsageReport(u, at.Add(-2*time.Minute), since),
	}
	if change != nil {
		change(&b)
	}
	return b
}

// everyBudget is a budget in each of the ways in which one can stand.
func everyBudget() []reconcile.BudgetReport {
	hundred := "100.000"
	return []reconcile.BudgetReport{
		used("a-calm", 12, nil),
		used("b-warned", 85, func(b *reconcile.BudgetReport) { b.Fired = []int{50, 80}; b.ErrorBoundGPUHours = "0.250" }),
		used("c-evicting", 103, func(b *reconcile.BudgetReport) {
			b.Action, b.Enforced, b.Fired = budget.Evict, []budget.Action{budget.Freeze, budget.Evict}, []int{50, 80, 100}
			b.Warnings = []string{"1 pod is protected from eviction, and still counts: ml/notebook (it is annotated with gpupool/protected)"}
		}),
		used("d-alert-only", 100, func(b *reconcile.BudgetReport) { b.Fired = []int{50, 80, 100} }),
		{Name: "e-elsewhere", UID: "e", Outcome: reconcile.Failed, Error: &reconcile.ErrorReport{Message: "budget/e-elsewhere belongs to another cluster: nothing was touched"}},
		{Name: "f-locked", UID: "f", LimitGPUHours: &hundred, Outcome: reconcile.Skipped, Error: &reconcile.ErrorReport{Message: `the lock "budget/f-locked" is held by terraform`}},
		{Name: "g-gone", UID: "g", Outcome: reconcile.Done, Deleted: true, Notices: []string{"Deployment ml/serve: someone else scaled it since"}},
	}
}

func withBudgets(r reconcile.Report) reconcile.Report {
	decide := func(kind budget.Kind, outcome reconcile.Outcome, change func(*budget.Decision)) reconcile.Result {
		d := budget.Decision{Kind: kind, Object: "budget/c-evicting", Reasons: []string{"103.000 of 100.000 GPU-hours are used (103%)"}}
		change(&d)
		return reconcile.Result{Budget: &d, Outcome: outcome}
	}
	pod := func(name string) func(*budget.Decision) {
		return func(d *budget.Decision) { d.Pod = &budget.Pod{Namespace: "ml", Name: name, UID: name} }
	}
	blocked := decide(budget.KindEvict, reconcile.Skipped, pod("serve-1"))
	blocked.Error = &reconcile.ErrorReport{Message: "the eviction of the pod ml/serve-1 is blocked: the disruption budget serve needs 2 healthy pods"}
	r.Budgets = everyBudget()
	r.Decisions = append([]reconcile.Result{
		decide(budget.KindAlert, reconcile.Done, func(d *budget.Decision) { d.Threshold, d.Namespaces = 100, []string{"ml"} }),
		decide(budget.KindFreeze, reconcile.Done, func(*budget.Decision) {}),
		blocked,
		decide(budget.KindEvict, reconcile.Done, pod("train-1")),
	}, r.Decisions...)
	return r
}

// budgetStatuses are every budget as a status shows them.
func budgetStatuses() []reconcile.BudgetStatus {
	var list []reconcile.BudgetStatus
	for n, b := range everyBudget() {
		s := reconcile.BudgetStatus{BudgetReport: b, Phase: declaration.Active, Window: "24h"}
		if n == 1 {
			exhausted := at.Add(10 * time.Hour)
			s.ProjectedExhaustion, s.Coverage = &exhausted, "0.973"
		}
		if n == 0 {
			s.LastRunError = "budget/a-calm belongs to another cluster: nothing was touched"
		}
		if n == 2 {
			due := at.Add(5 * time.Minute)
			s.Enforced, s.EnforceAt = nil, &due
		}
		if b.Deleted {
			s.Deleted, s.Phase = false, declaration.Deleting
		}
		if b.UsageReport == nil && b.Outcome == reconcile.Skipped {
			s.Error = nil
		}
		list = append(list, s)
	}
	return list
}
