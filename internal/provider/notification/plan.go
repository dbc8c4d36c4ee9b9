package notification

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

func (r *notificationResource) planCreate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if !resp.Diagnostics.HasError() && !m.Name.IsUnknown() {
		r.warnOfName(ctx, m.declaration(), &resp.Diagnostics)
	}
}

func (r *notificationResource) planUpdate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m, prior model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	recorded, diags := req.Private.GetKey(ctx, recordedKey)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || !r.CheckStore(ctx, prior.declaration(), req.Private, &resp.Diagnostics) {
		return
	}
	if !m.Name.Equal(prior.Name) {
		m.UID, m.Generation = types.StringUnknown(), types.Int64Unknown()
		resp.RequiresReplace.Append(path.Root("name"))
		resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
		return
	}
	m = m.planned(prior)
	m.UID, m.Generation = prior.UID, prior.Generation
	lost := string(recorded) == "false"
	if lost || !m.declares(prior) {
		m.Generation = types.Int64Unknown()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
	if lost {
		resp.Diagnostics.Append(problem.Warning(path.Empty(), reason.NotificationUnrecorded(reason.Word(m.Name.ValueString()), r.Connection.StoreName())))
	}
	warnOfType(prior, m, &resp.Diagnostics)
}

// warnOfName warns of an existing notification of that name.
func (r *notificationResource) warnOfName(ctx context.Context, d core.Declaration, diags *diag.Diagnostics) {
	if !r.Connection.StoreReady() {
		return
	}
	if reader, err := r.Connection.ReadNotifications(ctx); err == nil { // an apply reports an error
		r.WarnIfTaken(d, reader.Refusal(ctx, d), diags)
	}
}

// warnOfType warns of another type with the same address: the store keeps the value of a version.
func warnOfType(prior, m model, diags *diag.Diagnostics) {
	if m.Type.IsUnknown() || m.Type.Equal(prior.Type) || m.URLVersion.IsNull() || !m.URLVersion.Equal(prior.URLVersion) {
		return
	}
	diags.Append(problem.Warning(path.Root("url_wo_version"), reason.NotificationKeepsAddress(reason.Word(m.Name.ValueString()),
		reason.Word(prior.Type.ValueString()), reason.Word(m.Type.ValueString()), reason.Count(m.URLVersion.ValueInt64()))))
}
