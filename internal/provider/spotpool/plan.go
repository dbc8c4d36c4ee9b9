package spotpool

import (
	"context"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// protected refuses a plan that destroys a protected pool.
func protected(m model, end ending) diag.Diagnostic {
	pool := reason.Word(m.Region.ValueString() + "/" + m.Name.ValueString())
	return problem.Error(path.Root("deletion_protection"), reason.DeletionProtected(end.verb, pool))
}

func (r *poolResource) planCreate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m, config model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if config.Region.IsNull() && r.Connection.Ready() {
		region, err := r.Connection.Region(ctx)
		if err != nil {
			resp.Diagnostics.Append(connection.Error(reason.Planning(reason.Object("spot_pool/"+m.Name.ValueString())), err))
			return
		}
		m.Region = types.StringValue(region)
	}
	m.Currency = r.currency(types.StringUnknown())
	if m.Nodes.IsNull() {
		m.ClusterUID = types.StringNull()
	}
	d := m.declaration(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	whole := req.Config.Raw.IsFullyKnown()
	if whole && !r.sameCluster(ctx, d, &resp.Diagnostics) {
		return
	}
	var p preview
	if whole {
		p = previewCreate(d)
		m.PlannedActions = actionsValue(p.actions)
		if config.Region.IsNull() && d.Region != "" {
			// A validation does not know the provider's region.
			problem.Report(&resp.Diagnostics, d.Validate(), diag.SeverityError)
		}
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
	if whole && !resp.Diagnostics.HasError() {
		r.checkGate(ctx, d, &resp.Diagnostics)
	}
	if !m.Region.IsUnknown() && !resp.Diagnostics.HasError() {
		r.checkMarket(ctx, core.Declaration{}, d, &resp.Diagnostics)
	}
	if whole && !resp.Diagnostics.HasError() {
		r.checkImage(ctx, core.Declaration{}, d, &resp.Diagnostics)
	}
	if whole && !resp.Diagnostics.HasError() && !r.warnOfLaunches(ctx, d, &resp.Diagnostics) {
		r.warnOfPlan(&resp.Diagnostics, m, p)
	}
}

func (r *poolResource) planUpdate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	proposed := !req.Plan.Raw.Equal(req.State.Raw)
	var m, prior model
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	m = prior
	if proposed {
		resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
		m = m.keepPrior(ctx, req.Config, prior, &resp.Diagnostics).planned(prior)
	}
	m.Currency = r.currency(prior.Currency)
	changed := !m.equal(prior)
	d, was := m.declaration(&resp.Diagnostics), prior.declaration(&diag.Diagnostics{})
	if resp.Diagnostics.HasError() {
		return
	}
	if !r.CheckStore(ctx, was, req.Private, &resp.Diagnostics) || !r.sameCluster(ctx, d, &resp.Diagnostics) {
		return
	}
	if replaces(m, prior, resp) {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
		if !resp.Diagnostics.HasError() {
			r.warnOfTermination(ctx, replacing, prior, req.Private, &resp.Diagnostics)
		}
		return
	}
	raw, diags := req.Private.GetKey(ctx, privateKey)
	resp.Diagnostics.Append(diags...)
	seen, err := decodePrivateState(raw)
	if err != nil {
		resp.Diagnostics.Append(connection.Error(reason.Planning(reason.Object(d.Object())), err))
		return
	}
	whole := !changed || req.Config.Raw.IsFullyKnown()
	var p preview
	if whole && seen != nil {
		if p = previewUpdate(was, d, seen); !seen.Recorded {
			p.warnings = append(p.warnings, reason.PoolUnrecorded(r.Connection.StoreName()))
		}
		timeout, unread := kit.TimeoutOf(m.Timeouts, "update", defaultTimeout)
		resp.Diagnostics.Append(unread...)
		p.waitForDrains(timeout)
		r.warnOfPlan(&resp.Diagnostics, m, p)
	}
	if !changed && len(p.actions) == 0 { // everything keeps its value
		if proposed { // with other wording
			resp.Diagnostics.Append(resp.Plan.Set(ctx, prior)...)
		}
		return
	}
	m.Capacity = types.Int64Unknown()
	m.PlannedActions = types.ListUnknown(types.StringType)
	if whole && seen != nil {
		m.PlannedActions = actionsValue(p.actions)
	}
	m.Generation = prior.Generation
	if !whole || !reflect.DeepEqual(d, was) || seen == nil || !seen.Recorded {
		m.Generation = types.Int64Unknown()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
	if whole && d.Minimum < was.Minimum && d.Maximum >= was.Maximum {
		resp.Diagnostics.Append(problem.Warning(path.Root("minimum"),
			reason.LowersMinimum(reason.Count(was.Minimum), reason.Count(d.Minimum), reason.Count(d.Maximum))))
	}
	if whole && seen != nil {
		warnOfBase(was, d, seen.Instances, &resp.Diagnostics)
	}
	if before, after := prior.Currency.ValueString(), m.Currency.ValueString(); before != "" && after != "" && after != before {
		resp.Diagnostics.Append(problem.Warning(path.Root("currency"), reason.ChangesCurrency(reason.Word(before), reason.Word(after))))
	}
	if whole && d.Budget != was.Budget {
		r.checkGate(ctx, d, &resp.Diagnostics)
	}
	r.checkMarket(ctx, was, d, &resp.Diagnostics)
	if whole && !resp.Diagnostics.HasError() {
		r.checkImage(ctx, was, d, &resp.Diagnostics)
	}
}

// warnOfBase says what becomes of on-demand instances above a lowered on_demand_base, which terminates none.
func warnOfBase(was, d core.Declaration, instances []core.Instance, diags *diag.Diagnostics) {
	extra := -d.OnDemandBase
	for _, i := range instances {
		if i.ChargeType == core.OnDemand && !i.State.Ending() {
			extra++
		}
	}
	if d.OnDemandBase >= was.OnDemandBase || d.InstanceChargeType != core.Spot || d.Maximum < was.Maximum || extra <= 0 {
		return
	}
	lowers := reason.LowersBase
	if d.OnDemandFallback != nil {
		lowers = reason.LowersBaseReplacing
	}
	why := lowers(reason.Count(was.OnDemandBase), reason.Count(d.OnDemandBase), reason.Count(extra))
	diags.Append(problem.Warning(path.Root("on_demand_base"), why))
}

// currency returns the currency of the connection, with which an apply records the pool; otherwise
// if provider arguments are unknown.
func (r *poolResource) currency(otherwise types.String) types.String {
	if r.Connection == nil {
		return otherwise
	}
	currency, known := r.Connection.Currency()
	if !known {
		return otherwise
	}
	return types.StringValue(string(currency))
}

// keepPrior gives the values that no update changes, or that are planned later, their prior
// values.
func (m model) keepPrior(ctx context.Context, config tfsdk.Config, prior model, diags *diag.Diagnostics) model {
	m.UID, m.AccountID = prior.UID, prior.AccountID
	if m.Region.IsUnknown() {
		var region types.String
		diags.Append(config.GetAttribute(ctx, path.Root("region"), &region)...)
		if region.IsNull() { // the pool stays in the region of its creation
			m.Region = prior.Region
		}
	}
	if m.ClusterUID = prior.ClusterUID; m.Nodes.IsNull() != prior.Nodes.IsNull() {
		m.ClusterUID = types.StringUnknown()
	}
	m.Generation, m.Capacity, m.PlannedActions = prior.Generation, prior.Capacity, prior.PlannedActions
	return m
}

// replaces reports whether the plan replaces the pool, and records why.
func replaces(m, prior model, resp *resource.ModifyPlanResponse) bool {
	if !m.Name.Equal(prior.Name) {
		resp.RequiresReplace.Append(path.Root("name"))
	}
	if !m.Region.Equal(prior.Region) {
		resp.RequiresReplace.Append(path.Root("region"))
	}
	if len(resp.RequiresReplace) == 0 {
		return false
	}
	if prior.DeletionProtection.ValueBool() {
		resp.Diagnostics.Append(protected(prior, replacing))
	}
	return true
}

func actionsValue(actions []string) types.List {
	values := make([]attr.Value, len(actions))
	for n, s := range actions {
		values[n] = types.StringValue(s)
	}
	return types.ListValueMust(types.StringType, values)
}
