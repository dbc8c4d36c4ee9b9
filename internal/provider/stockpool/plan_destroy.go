package stockpool

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// planDestroy names the pods in use that are deleted with a pool. It refuses to destroy a pool
// without a record in the store.
func (r *stockResource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || m.UID.IsNull() { // a Deployment that no apply took over is left
		return
	}
	d := m.declaration()
	state, err := r.viewNow(ctx, d)
	if err == nil && r.Kind.Found(state) == (kit.Found{}) {
		resp.Diagnostics.Append(connection.Error(reason.Planning(reason.Object(d.Object())), r.ErrLost(ctx, d, req.Private)))
		return
	}
	warnOfEnd(destroying, d, state, err, &resp.Diagnostics)
}

// viewNow returns the pool as it is now. No plan may depend on it.
func (r *stockResource) viewNow(ctx context.Context, d core.Declaration) (stockpools.State, error) {
	if !r.Connection.ClusterReady() || !r.Connection.StoreReady() {
		return stockpools.State{}, connection.ErrNotReady
	}
	return r.view(ctx, d)
}

// These are what ends the pods.
const (
	destroying reason.Word = "destroying"
	replacing  reason.Word = "replacing"
)

// warnOfEnd warns of the pods that are deleted with a pool, or that they are unknown.
func warnOfEnd(doing reason.Word, d core.Declaration, state stockpools.State, err error, diags *diag.Diagnostics) {
	pool := reason.Word(d.Key())
	if err != nil {
		diags.Append(problem.Warning(path.Empty(), reason.StockPodsUnknown(pool, doing, reason.Word(core.DestroyRetain), reason.Failure(err))))
		return
	}
	all, used := podsOf(state)
	switch details := podsEnd(doing, state); {
	case len(details) == 0:
	case len(used) > 0:
		diags.Append(problem.Warning(path.Empty(), reason.StockUsedDeleted(pool, all, reason.Count(len(used)), details)))
	default:
		diags.Append(problem.Warning(path.Empty(), reason.StockPodsDeleted(pool, all, details)))
	}
}

// recordedEnd describes the pods that are deleted if the recorded pool of this name is
// replaced. Terraform plans only the creation.
func (r *stockResource) recordedEnd(ctx context.Context, d core.Declaration) reason.Paragraphs {
	recorded, err := r.find(ctx, d.Namespace, d.Name)
	if err == nil {
		var state stockpools.State
		if state, err = r.view(ctx, recorded); err == nil {
			return podsEnd(replacing, state)
		}
	}
	return reason.Paragraphs{reason.DeletedPodsUnknown(reason.Failure(err))}
}

// podsOf counts the pods of a pool, and names those in use.
func podsOf(state stockpools.State) (all reason.Count, used reason.Names) {
	for _, p := range state.Pods {
		if p.CountsAs != decide.CountsNothing {
			all++
		}
		if p.CountsAs == decide.CountsInUse {
			used = append(used, p.Pod)
		}
	}
	if state.Declaration.AllocatedSelector == "" {
		used = nil
	}
	return all, used
}

// podsEnd describes the pods that are deleted with a pool, those in use by name; nil if there
// are none.
func podsEnd(doing reason.Word, state stockpools.State) reason.Paragraphs {
	all, used := podsOf(state)
	switch {
	case all == 0, state.Destroyed, state.Declaration.WithDefaults().OnDestroy == core.DestroyRetain:
		return nil
	case state.Declaration.AllocatedSelector == "":
		return reason.Paragraphs{reason.DeletesUnknownPods(doing, all)}
	case len(used) == 0:
		return reason.Paragraphs{reason.DeletesPods(doing, all)}
	}
	return reason.Paragraphs{reason.DeletesUsedPods(doing, all, reason.Count(len(used)), used)}
}
