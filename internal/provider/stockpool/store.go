package stockpool

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// lost is the error about a stock pool that the store knows nothing of.
func lost(d core.Declaration) record.LostError {
	return record.LostError{Title: "stock pool", Key: d.Key(), UID: d.UID}
}

// known reports whether the store has the pool's record or its tombstone.
func known(state stockpools.State) bool {
	return state.Recorded || state.Unfinished || state.Destroyed
}

// checkStore adds an error if another store has the pool. An imported Deployment is in
// none yet.
func (r *stockResource) checkStore(ctx context.Context, d core.Declaration, private connection.PrivateReader, diags *diag.Diagnostics) bool {
	if d.UID == "" {
		return true
	}
	return r.connection.CheckStore(ctx, "Planning "+d.Object(), private, lost(d), diags, func() (bool, error) {
		state, err := r.view(ctx, d)
		return known(state), err
	})
}
