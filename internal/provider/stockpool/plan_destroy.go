package stockpool

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
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
		resp.Diagnostics.Append(connection.Error("Planning "+d.Object(), r.ErrLost(ctx, d, req.Private)))
		return
	}
	warnOfEnd("Destroying", d, state, err, &resp.Diagnostics)
}

// viewNow returns the pool as it is now. No plan may depend on it.
func (r *stockResource) viewNow(ctx context.Context, d core.Declaration) (stockpools.State, error) {
	if !r.Connection.ClusterReady() || !r.Connection.StoreReady() {
		return stockpools.State{}, connection.ErrNotReady
	}
	return r.view(ctx, d)
}

// warnOfEnd warns of the pods that are deleted with a pool, or that they are unknown.
func warnOfEnd(doing string, d core.Declaration, state stockpools.State, err error, diags *diag.Diagnostics) {
	if err != nil {
		diags.AddWarning("Stock pool "+d.Key()+": its pods are unknown",
			fmt.Sprintf("%s it deletes its pods, unless the record has on_destroy = %q: %s.", doing, core.DestroyRetain, err))
		return
	}
	if summary, detail := podsEnd(doing, state); summary != "" {
		diags.AddWarning("Stock pool "+d.Key()+": "+summary, detail)
	}
}

// recordedEnd describes the pods that are deleted if the recorded pool of this name is
// replaced. Terraform plans only the creation.
func (r *stockResource) recordedEnd(ctx context.Context, d core.Declaration) string {
	recorded, err := r.find(ctx, d.Namespace, d.Name)
	if err == nil {
		var state stockpools.State
		if state, err = r.view(ctx, recorded); err == nil {
			_, detail := podsEnd(" Replacing", state)
			return detail
		}
	}
	return fmt.Sprintf(" The deleted pods are unknown: %s.", err)
}

// podsEnd describes the pods that are deleted with a pool, those in use by name; empty if there
// are none.
func podsEnd(doing string, state stockpools.State) (summary, detail string) {
	if state.Destroyed || state.Declaration.WithDefaults().OnDestroy == core.DestroyRetain {
		return "", ""
	}
	pods, used := 0, []string{}
	for _, p := range state.Pods {
		if p.CountsAs != decide.CountsNothing {
			pods++
		}
		if p.CountsAs == decide.CountsInUse {
			used = append(used, p.Pod)
		}
	}
	all := wording.Count(pods, "pod")
	switch {
	case pods == 0:
		return "", ""
	case state.Declaration.AllocatedSelector == "":
		return all + " to be deleted", fmt.Sprintf("%s it deletes %s. Whether they are in use is unknown: it has no allocated_selector.", doing, all)
	case len(used) == 0:
		return all + " to be deleted", fmt.Sprintf("%s it deletes %s, none of them in use.", doing, all)
	default:
		return fmt.Sprintf("%s to be deleted, %d in use", all, len(used)),
			fmt.Sprintf("%s it deletes %s, %d of them in use: %s.", doing, all, len(used), strings.Join(used, ", "))
	}
}
