package spotpool

// DrainsForBudget reports whether the pool is drained while its budget stays exceeded.
func (d Declaration) DrainsForBudget() bool {
	return d.OnBudgetExceeded == ExceededDrain && d.Budget != "" && d.Nodes != nil
}

func (v *validator) budgetDrain() {
	d := v.d
	v.duration("budget_grace_period", d.BudgetGracePeriod, "Write how long the budget may be exceeded before instances are terminated, such as \"30m\".")
	if d.OnBudgetExceeded != ExceededDrain {
		return
	}
	if d.Budget == "" {
		v.Add("budget", "Name the budget, or set on_budget_exceeded to \"keep\".", "on_budget_exceeded is \"drain\", and the pool has no budget")
	}
	if d.Nodes == nil {
		v.Add("nodes", "Add a nodes block, so that the instances are nodes of the provider's cluster, or set on_budget_exceeded to \"keep\".",
			"on_budget_exceeded is \"drain\", and the pool has no nodes to drain")
	}
}

func (v *validator) budgetWarnings() {
	d := v.d
	if d.DrainsForBudget() {
		v.Add("on_budget_exceeded", "Set it to \"keep\" to keep the instances and launch no more. The tag gpupool/protected keeps single instances.",
			"once budget/%s has been exceeded for %s, all instances of the pool are terminated, each after a drain of at most %s", d.Budget,
			d.BudgetGracePeriod, d.Nodes.Drain.Timeout)
	}
}
