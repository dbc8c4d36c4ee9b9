package spotpool

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// sameCluster refuses the plan of a pool with nodes if there is no cluster, or another one than
// its own. An unreachable cluster does not block changes of its pool. A budget of another
// cluster is refused, too.
func (r *poolResource) sameCluster(ctx context.Context, d core.Declaration, diags *diag.Diagnostics) bool {
	if d.Nodes == nil || !r.Connection.ClusterReady() {
		return true
	}
	uid, err := r.Connection.ClusterUID(ctx)
	switch {
	case err != nil && d.ClusterUID != "":
		uid, err = d.ClusterUID, nil
	case err == nil && d.ClusterUID != "":
		err = spotpools.SameCluster(d, uid)
	}
	if err == nil && r.Connection.StoreReady() {
		var reader connection.PoolReader
		if reader, err = r.Connection.ReadSpotPools(ctx); err == nil {
			d.ClusterUID = uid
			err = reader.SameBudget(ctx, d)
		}
	}
	if err != nil {
		diags.Append(connection.Error(reason.Planning(reason.Object(d.Object())), err))
	}
	return err == nil
}
