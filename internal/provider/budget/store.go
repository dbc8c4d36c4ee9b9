package budget

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// lost is the error about a budget that the store knows nothing of.
func lost(d core.Declaration) record.LostError {
	return record.LostError{Title: "budget", Key: d.Key(), UID: d.UID}
}

// known reports whether the store has the budget's record or its tombstone.
func (r *budgetResource) known(ctx context.Context, d core.Declaration) (bool, error) {
	reader, err := r.connection.Reader(ctx)
	if err != nil {
		return false, err
	}
	state, err := reader.Budgets().View(ctx, d)
	return state.Recorded || state.Destroyed, err
}

// checkStore adds an error if another store has the budget.
func (r *budgetResource) checkStore(ctx context.Context, d core.Declaration, private connection.PrivateReader, diags *diag.Diagnostics) bool {
	return r.connection.CheckStore(ctx, "Planning "+d.Object(), private, lost(d), diags, func() (bool, error) { return r.known(ctx, d) })
}

// planDestroy refuses to destroy a budget that the store knows nothing of.
func (r *budgetResource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || !r.connection.StoreReady() {
		return
	}
	d := m.declaration()
	switch known, err := r.known(ctx, d); {
	case err != nil:
		resp.Diagnostics.Append(connection.Error("Planning "+d.Object(), err))
	case !known:
		resp.Diagnostics.Append(connection.Error("Planning "+d.Object(), r.connection.ErrLost(ctx, req.Private, lost(d))))
	}
}
