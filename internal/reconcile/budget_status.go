package reconcile

import (
	"context"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// BudgetStatus is one budget, as the last run judged it.
type BudgetStatus struct {
	BudgetReport
	Phase declaration.Phase `json:"phase"`
	// Window is the declared window or period.
	Window string `json:"window,omitempty"`
	// LastRunError is what the last run failed with, where it could not judge or
	// enforce the budget; what else is told is then of an earlier one.
	LastRunError string `json:"last_run_error,omitempty"`
}

// budgetStatuses reads what the last run made of every budget. It asks the store
// alone: what a budget has used this very moment is for gpupool usage to say.
func (r *run) budgetStatuses(ctx context.Context) ([]BudgetStatus, error) {
	targets, err := r.declaredBudgets(ctx)
	if err != nil {
		return nil, err
	}
	list := []BudgetStatus{}
	for _, broken := range r.report.Budgets {
		list = append(list, BudgetStatus{BudgetReport: broken})
	}
	for _, t := range targets {
		list = append(list, r.statusOf(ctx, t))
	}
	slices.SortFunc(list, func(a, b BudgetStatus) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (r *run) statusOf(ctx context.Context, t budgetTarget) BudgetStatus {
	d := t.declaration
	s := BudgetStatus{Phase: t.phase, Window: d.Window}
	if d.Period != "" {
		s.Window = string(d.Period)
	}
	status, known, err := r.loadBudgetStatus(ctx, d)
	switch {
	case err != nil:
		s.BudgetReport = failedBudget(d, err)
	case !known:
		s.BudgetReport = unjudgedBudget(d, Skipped, nil)
	default:
		s.BudgetReport = newBudgetReport(d, status.value, Done, nil)
		if err := trusted(declaration.Budget{Phase: t.phase, Declaration: d}, status.value, r.now()); err != nil {
			s.Warnings = append(s.Warnings, err.Error())
		}
	}
	return s
}
