package spotpool

import "github.com/gpupool/terraform-provider-gpupool/internal/reason"

// DrainsForBudget reports whether the pool is drained while its budget stays exceeded.
func (d Declaration) DrainsForBudget() bool {
	return d.OnBudgetExceeded == ExceededDrain && d.Budget != "" && d.Nodes != nil
}

func (v *validator) budgetDrain() {
	d := v.d
	v.duration("budget_grace_period", d.BudgetGracePeriod, reason.BudgetGraceRange)
	if d.OnBudgetExceeded != ExceededDrain {
		return
	}
	if d.Budget == "" {
		v.Add("budget", reason.DrainNoBudget())
	}
	if d.Nodes == nil {
		v.Add("nodes", reason.DrainNoNodes())
	}
}

func (v *validator) budgetWarnings() {
	d := v.d
	if d.DrainsForBudget() {
		v.Add("on_budget_exceeded", reason.BudgetTerminates(
			reason.Object("budget/"+d.Budget), reason.Value(d.BudgetGracePeriod.String()), reason.Value(d.Nodes.Drain.Timeout.String()),
		))
	}
}
