package spotpool

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// lost is the error about a pool that the store knows nothing of.
func lost(d core.Declaration) record.LostError {
	return record.LostError{Title: "spot pool", Key: d.Key(), UID: d.UID}
}

// checkStore adds an error if another store has the pool.
func (r *poolResource) checkStore(ctx context.Context, d core.Declaration, private connection.PrivateReader, diags *diag.Diagnostics) bool {
	return r.connection.CheckStore(ctx, "Planning "+d.Object(), private, lost(d), diags, func() (bool, error) {
		state, err := view(ctx, r.connection, d)
		return state.Recorded || state.Destroyed, err
	})
}
