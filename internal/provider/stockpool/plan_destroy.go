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
)

// planDestroy names the pods in use that end with a pool, and refuses to destroy one that
// the store knows nothing of.
func (r *stockResource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || m.UID.IsNull() { // what no apply took over is left
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

// viewNow is the pool as it is now. Nothing that is planned may depend on it.
func (r *stockResource) viewNow(ctx context.Context, d core.Declaration) (stockpools.State, error) {
	if !r.Connection.ClusterReady() || !r.Connection.StoreReady() {
		return stockpools.State{}, connection.ErrNotReady
	}
	return r.view(ctx, d)
}

// warnOfEnd warns of the pods that end with a pool, or that they are unknown.
func warnOfEnd(doing string, d core.Declaration, state stockpools.State, err error, diags *diag.Diagnostics) {
	if err != nil {
		diags.AddWarning("Stock pool "+d.Key()+": which pods end with it is unknown",
			fmt.Sprintf("%s it ends its pods, unless the record has on_destroy = %q: %s.", doing, core.DestroyRetain, err))
		return
	}
	if summary, detail := podsEnd(doing, state); summary != "" {
		diags.AddWarning("Stock pool "+d.Key()+": "+summary, detail)
	}
}

// recordedEnd is a sentence about the pods that end where the pool that is recorded by this
// name is replaced: Terraform then asks for nothing but the creation.
func (r *stockResource) recordedEnd(ctx context.Context, d core.Declaration) string {
	recorded, err := r.find(ctx, d.Namespace, d.Name)
	if err == nil {
		var state stockpools.State
		if state, err = r.view(ctx, recorded); err == nil {
			_, detail := podsEnd(" Replacing", state)
			return detail
		}
	}
	return fmt.Sprintf(" Which pods end then is unknown: %s.", err)
}

// podsEnd says which pods end with a pool, those in use by name; nothing if none does.
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
	all := fmt.Sprintf("%d pods", pods)
	if pods == 1 {
		all = "1 pod"
	}
	switch {
	case pods == 0:
		return "", ""
	case state.Declaration.AllocatedSelector == "":
		return all + " to be ended", fmt.Sprintf("%s it ends %s. Whether they are in use is unknown: it has no allocated_selector.", doing, all)
	case len(used) == 0:
		return all + " to be ended", fmt.Sprintf("%s it ends %s, none of them in use.", doing, all)
	default:
		return fmt.Sprintf("%s to be ended, %d in use", all, len(used)),
			fmt.Sprintf("%s it ends %s, %d of them in use: %s.", doing, all, len(used), strings.Join(used, ", "))
	}
}
