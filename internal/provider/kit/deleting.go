package kit

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// deletingKey is the key, in a resource's private state, of whether its deletion was begun.
const deletingKey = "deleting"

// keepDeleting writes into the private state that a destroy which failed has begun the
// deletion, so that a plan with -refresh=false finishes it. A destroy that was killed
// writes nothing: only a refresh finds what it began.
func (r *Resource[M, D, S, F]) keepDeleting(ctx context.Context, m M, d D, resp *resource.DeleteResponse) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second) // also after an interrupt
	defer cancel()
	state, err := r.Kind.View(ctx, d)
	if err == nil && r.Kind.Found(state).Deleting {
		resp.Diagnostics.Append(r.keep(ctx, m, state, resp.Identity, resp.Private)...)
	}
}

// deleting reports whether a plan is of an object whose deletion was begun, as the last
// refresh or destroy found.
func (r *Resource[M, D, S, F]) deleting(ctx context.Context, req resource.ModifyPlanRequest, diags *diag.Diagnostics) bool {
	raw, unread := req.Private.GetKey(ctx, deletingKey)
	diags.Append(unread...)
	if string(raw) != "true" || r.Kind.UpdatesDeleting == nil {
		return string(raw) == "true"
	}
	var m, prior M
	diags.Append(req.Plan.Get(ctx, &m)...)
	diags.Append(req.State.Get(ctx, &prior)...)
	return !r.Kind.UpdatesDeleting(m, prior)
}

// planAgain plans to finish a begun deletion and to create the object again. A deletion is
// never undone, so the object that is declared is another one. It is no error: Terraform
// plans the configuration before it plans to destroy it, and could not destroy it then.
func (r *Resource[M, D, S, F]) planAgain(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	r.Kind.PlanDestroy(ctx, req, resp)
	if resp.Diagnostics.HasError() {
		return
	}
	uid := path.Root("uid")
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, uid, types.StringUnknown())...)
	resp.RequiresReplace.Append(uid)
	var prior M
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	d := r.Kind.Declaration(prior, &resp.Diagnostics)
	resp.Diagnostics.Append(problem.Warning(uid, reason.DeletionBegun(reason.Word(r.Kind.Title), reason.Word(d.Key()))))
}
