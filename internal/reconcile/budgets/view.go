package budgets

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// State is a budget for Terraform: its declaration and the status of the last run.
type State struct {
	Declaration budget.Declaration
	// Recorded says that the store contains a record of the budget.
	Recorded bool
	// Destroyed says that the budget was destroyed.
	Destroyed bool
	// Deleting says that its deletion has begun.
	Deleting bool
	// Status is that of the last run, with the present limit; nil before the first.
	Status   *budget.Status
	Warnings reason.Reasons
}

// View reads a budget's record and last status, for a refresh or a data source. It takes no lock and
// reads the store only. The declaration is that of the record, or d without one.
func (f *Flow) View(ctx context.Context, d budget.Declaration) (State, error) {
	state := State{Declaration: d}
	r, tombstone, err := f.records().Known(ctx, d)
	if err != nil {
		return state, err
	}
	if tombstone.Exists() {
		state.Destroyed = true
		return state, nil
	}
	if r.Exists() {
		state.Recorded = true
		state.Declaration = r.Value.Declaration
	}
	if state.Deleting = r.Value.Phase == declaration.Deleting; state.Deleting {
		state.Warnings = append(state.Warnings, f.records().DeletionUnfinished(state.Declaration))
	}
	status, known, err := f.Repository.BudgetStatus(ctx, state.Declaration)
	granted, unread := record.Grants(f.Repository).Of(ctx, state.Declaration.UID)
	if unread != nil {
		state.Warnings = append(state.Warnings, reason.DocumentFailed(reason.Failure(unread)))
	}
	for _, grant := range granted.InForce(f.now()) {
		state.Warnings = append(state.Warnings, reason.GrantInForce(reason.Amount(state.Declaration.GPUHours), reason.NewForeign(grant.String()),
			reason.Object(state.Declaration.Object())))
	}
	switch {
	case err != nil: // the next run replaces it
		state.Warnings = append(state.Warnings, reason.DocumentFailed(reason.Failure(err)))
	case known:
		limited, _ := status.Value.LimitedAt(granted.Grants, f.now())
		state.Status = &limited
	}
	return state, nil
}
