package spotpool

import (
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// model has the resource's values. Collections have the framework's types, since they or
// their elements may be unknown.
type model struct {
	size
	launch
	configuration
	behavior
	nodes
	joining
	kit.Record

	AccountID      types.String `tfsdk:"account_id"`
	Currency       types.String `tfsdk:"currency"`
	Capacity       types.Int64  `tfsdk:"capacity"`
	PlannedActions types.List   `tfsdk:"planned_actions"`
}

// defaults is a declaration with the defaults of everything, including an on-demand fallback,
// nodes and their token.
var defaults = core.Declaration{
	OnDemandFallback: &core.OnDemandFallback{Maximum: 1}, Nodes: &core.Nodes{}, BootstrapToken: &core.BootstrapToken{},
}.WithDefaults()

// transfer copies the values into a declaration or out of it.
func (m *model) transfer(x *attribute.Transfer, d *core.Declaration) {
	m.size.transfer(x, d)
	m.launch.transfer(x, d)
	m.configuration.transfer(x, d)
	m.behavior.transfer(x, d)
	m.nodes.transfer(x, d)
	m.joining.transfer(x, d)
	m.Record.Transfer(x, &d.UID, &d.Generation, &d.ClusterUID)
	attribute.Text(x, &m.AccountID, &d.AccountID)
	attribute.Text(x, &m.Currency, &d.Currency)
}

var (
	price = attribute.Form[core.Price]{Parse: core.ParsePrice, Invalid: reason.NotAPrice, Write: func(p core.Price) types.String {
		if p == 0 {
			return types.StringNull()
		}
		return types.StringValue(p.String())
	}}
	duration = attribute.Form[core.Duration]{Parse: core.ParseDuration, Invalid: reason.NotADuration, Write: func(d core.Duration) types.String {
		return types.StringValue(d.String())
	}}
)

// declaration returns the values as a declaration. Null and unknown values get their default,
// or a neutral value. So do not validate a declaration with unknown values. An invalid price
// or duration is reported.
func (m model) declaration(diags *diag.Diagnostics) core.Declaration {
	d := core.Declaration{}.WithDefaults()
	d.Maximum = core.MaxPoolSize
	m.transfer(attribute.Into(diags), &d)
	d.UserDataWO = m.UserDataWO.ValueString()
	return d
}

// writeOnly returns a plan's values with the write-only ones of a configuration.
func (m model) writeOnly(config model) model {
	m.UserDataWO = config.UserDataWO
	return m
}

// declared replaces the values that differ from d. Equivalent values stay as they were
// written: "3.5" for 3.50, null for no tags.
func (m model) declared(d core.Declaration) model {
	m.transfer(attribute.OutOf(), &d)
	return m
}

// planned returns a plan's values, with prior's if they are equivalent, such as "3.5" for 3.50
// or "60m" for 1h. So a plan shows only real changes.
func (m model) planned(prior model) model {
	attribute.KeepWording(prior.transfer, m.transfer)
	return m
}

// equal reports whether all values are the same.
func (m model) equal(other model) bool { return attribute.Equal(m, other) }

// imported returns the state of a pool for an import. Terraform then calls Read, which counts
// its instances.
func imported(d core.Declaration) model {
	return model{Record: kit.NewRecord(), Capacity: types.Int64Value(0), PlannedActions: noActions}.declared(d)
}

var noActions = types.ListValueMust(types.StringType, []attr.Value{})

// filled returns the state after an apply: the plan, with its unknown values filled in. Known
// values stay as planned, which Terraform requires; the next refresh shows differences. If
// the pool was not observed, its capacity stays the same.
func (m model) filled(prior model, state spotpools.State) model {
	d := state.Declaration
	m.Record = m.Record.Filled(d.UID, d.Generation, d.ClusterUID)
	m.Region = values.Known(m.Region, types.StringValue(d.Region))
	m.AccountID = values.Known(m.AccountID, types.StringValue(d.AccountID))
	m.Currency = values.Known(m.Currency, values.OfText(string(d.Currency)))
	capacity := prior.Capacity.ValueInt64() // zero before a creation
	if observed(state) {
		capacity = int64(state.Plan.Capacity)
	}
	m.Capacity = values.Known(m.Capacity, types.Int64Value(capacity))
	m.PlannedActions = values.Known(m.PlannedActions, noActions)
	return m
}

// observed reports whether the pool was observed.
func observed(state spotpools.State) bool { return !state.Observation.At.IsZero() }

// refreshed returns the state after a refresh: the record's declaration, and the observation.
// was is the state's declaration. drifted says that another process changed it.
func (m model) refreshed(was core.Declaration, state spotpools.State) (now model, drifted bool) {
	d := state.Declaration.WithoutWriteOnly()
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
