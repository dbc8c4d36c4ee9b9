package reconcile

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// BudgetState is a budget as Terraform sees it: what is declared, and what the
// last run made of it.
type BudgetState struct {
	Declaration budget.Declaration
	// Recorded says that the store holds a record of the budget.
	Recorded bool
	// Destroyed says that the budget is gone for good.
	Destroyed bool
	// Status is the last run's; nil before the first.
	Status   *budget.Status
	Warnings []string
}

// ViewBudget reads a budget's record and last status, for a refresh or a data
// source. It takes no lock and asks the store alone. Where the store has a
// record of the budget, its declaration is the state's; else d is.
func (e *Engine) ViewBudget(ctx context.Context, d budget.Declaration) (BudgetState, error) {
	state := BudgetState{Declaration: d}
	r, err := e.loadBudget(ctx, d.Name)
	if err != nil {
		return state, err
	}
	if r.exists() && r.value.Declaration.UID == d.UID {
		state.Recorded = true
		state.Declaration = r.value.Declaration
	} else {
		tombstone, err := e.loadTombstone(ctx, d.UID)
		if err != nil {
			return state, err
		}
		if tombstone.exists() {
			state.Destroyed = true
			return state, nil
		}
		if r.exists() {
			return state, e.anotherBudget(d, r.value.Declaration.UID, "Use the store that this budget was created with, or remove the budget from this state with terraform state rm")
		}
	}
	if r.value.Phase == declaration.Deleting {
		state.Warnings = append(state.Warnings, unfinishedDeletion(r.value.Declaration))
	}
	status, known, err := e.loadBudgetStatus(ctx, state.Declaration)
	switch {
	case err != nil: // the next run replaces it, and nothing here depends on it
		state.Warnings = append(state.Warnings, err.Error())
	case known:
		state.Status = &status.value
	}
	return state, nil
}
