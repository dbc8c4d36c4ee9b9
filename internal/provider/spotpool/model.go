package spotpool

import (
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// model is the resource's values. Collections stay the framework's own types,
// since each may be unknown, or hold what is.
type model struct {
	Name               types.String   `tfsdk:"name"`
	Region             types.String   `tfsdk:"region"`
	Minimum            types.Int64    `tfsdk:"minimum"`
	Maximum            types.Int64    `tfsdk:"maximum"`
	MaxHourlyCost      types.String   `tfsdk:"max_hourly_cost"`
	MaxLaunchesPerRun  types.Int64    `tfsdk:"max_launches_per_run"`
	OnDemandBase       types.Int64    `tfsdk:"on_demand_base"`
	OnDemandFallback   types.Object   `tfsdk:"on_demand_fallback"`
	Offerings          types.List     `tfsdk:"offerings"`
	AllocationStrategy types.String   `tfsdk:"allocation_strategy"`
	InstanceChargeType types.String   `tfsdk:"instance_charge_type"`
	LaunchTimeout      types.String   `tfsdk:"launch_timeout"`
	Cooldown           types.String   `tfsdk:"cooldown"`
	VPCID              types.String   `tfsdk:"vpc_id"`
	SecurityGroupIDs   types.List     `tfsdk:"security_group_ids"`
	ImageID            types.String   `tfsdk:"image_id"`
	KeyIDs             types.List     `tfsdk:"key_ids"`
	SystemDisk         types.Object   `tfsdk:"system_disk"`
	DataDisks          types.List     `tfsdk:"data_disks"`
	Internet           types.Object   `tfsdk:"internet"`
	UserData           types.String   `tfsdk:"user_data"`
	CamRoleName        types.String   `tfsdk:"cam_role_name"`
	ProjectID          types.Int64    `tfsdk:"project_id"`
	Tags               types.Map      `tfsdk:"tags"`
	Refresh            types.Object   `tfsdk:"refresh"`
	Budget             types.String   `tfsdk:"budget"`
	DeletionProtection types.Bool     `tfsdk:"deletion_protection"`
	OnDestroy          types.String   `tfsdk:"on_destroy"`
	Timeouts           timeouts.Value `tfsdk:"timeouts"`

	UID            types.String `tfsdk:"uid"`
	AccountID      types.String `tfsdk:"account_id"`
	Generation     types.Int64  `tfsdk:"generation"`
	Capacity       types.Int64  `tfsdk:"capacity"`
	PlannedActions types.List   `tfsdk:"planned_actions"`
}

// The types of the nested attributes.
var (
	offeringTypes = map[string]attr.Type{
		"availability_zone": types.StringType, "instance_type": types.StringType,
		"subnet_id": types.StringType, "max_price": types.StringType,
	}
	diskTypes     = map[string]attr.Type{"type": types.StringType, "size": types.Int64Type}
	internetTypes = map[string]attr.Type{"max_bandwidth_out": types.Int64Type, "charge_type": types.StringType}
	fallbackTypes = map[string]attr.Type{"after": types.StringType, "maximum": types.Int64Type}
	refreshTypes  = map[string]attr.Type{
		"strategy": types.StringType, "max_surge": types.Int64Type, "max_unavailable": types.Int64Type,
	}
)

var noActions = types.ListValueMust(types.StringType, []attr.Value{})

// filled is what an apply leaves behind: the plan, with what was unknown in it
// filled in. What the plan knew stays as planned, whatever happened meanwhile:
// Terraform refuses anything else, and the next refresh tells. Where the pool
// could not be looked at, its capacity stays what it was.
func (m model) filled(state spotpools.State, before types.Int64) model {
	d := state.Declaration
	m.Region = values.Known(m.Region, types.StringValue(d.Region))
	m.UID = values.Known(m.UID, types.StringValue(d.UID))
	m.AccountID = values.Known(m.AccountID, types.StringValue(d.AccountID))
	m.Generation = values.Known(m.Generation, types.Int64Value(d.Generation))
	if seen(state) {
		before = types.Int64Value(int64(state.Plan.Capacity))
	}
	m.Capacity = values.Known(m.Capacity, before)
	m.PlannedActions = values.Known(m.PlannedActions, noActions)
	return m
}

// seen reports whether the pool was looked at.
func seen(state spotpools.State) bool { return !state.Observation.At.IsZero() }

// refreshed is what a refresh makes of the state, which declared was: the
// record's declaration, and what was observed. Nothing is planned yet. Drifted
// says that somebody else changed the declaration.
func (m model) refreshed(was core.Declaration, state spotpools.State) (now model, drifted bool) {
	d := state.Declaration
	was.Generation = d.Generation
	if drifted = !reflect.DeepEqual(was, d); drifted {
		m = m.declared(d)
		m.UID, m.AccountID = types.StringValue(d.UID), types.StringValue(d.AccountID)
	}
	m.Generation = types.Int64Value(d.Generation)
	m.Capacity = types.Int64Value(int64(state.Plan.Capacity))
	m.PlannedActions = noActions
	return m, drifted
}

// observedLike reports whether the observed values are the same in both.
func (m model) observedLike(other model) bool {
	return m.Generation.Equal(other.Generation) && m.Capacity.Equal(other.Capacity) && m.PlannedActions.Equal(other.PlannedActions)
}
