package budget

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

// model is the resource's values. Collections stay the framework's own types,
// since each may be unknown, or hold what is.
type model struct {
	Name            types.String   `tfsdk:"name"`
	GPUHours        types.String   `tfsdk:"gpu_hours"`
	Window          types.String   `tfsdk:"window"`
	Period          types.String   `tfsdk:"period"`
	TimeZone        types.String   `tfsdk:"time_zone"`
	Selector        types.Object   `tfsdk:"selector"`
	Thresholds      types.List     `tfsdk:"thresholds"`
	Enforcement     types.Object   `tfsdk:"enforcement"`
	CountFrom       types.String   `tfsdk:"count_from"`
	VanishedPods    types.String   `tfsdk:"vanished_pods"`
	ResourceWeights types.Map      `tfsdk:"resource_weights"`
	ModelWeights    types.Map      `tfsdk:"model_weights"`
	BreakdownLabels types.List     `tfsdk:"breakdown_labels"`
	MaxStatusAge    types.String   `tfsdk:"max_status_age"`
	Timeouts        timeouts.Value `tfsdk:"timeouts"`

	UID        types.String `tfsdk:"uid"`
	Generation types.Int64  `tfsdk:"generation"`
	ClusterUID types.String `tfsdk:"cluster_uid"`
}

// The types of the nested attributes.
var (
	textsType = types.ListType{ElemType: types.StringType}
	textMap   = types.MapType{ElemType: types.StringType}

	expressionTypes = map[string]attr.Type{"key": types.StringType, "operator": types.StringType, "values": textsType}
	selectorTypes   = map[string]attr.Type{
		"namespaces": textsType, "namespace_labels": textMap, "match_labels": textMap,
		"match_expressions": types.ListType{ElemType: types.ObjectType{AttrTypes: expressionTypes}},
	}
	enforcementTypes = map[string]attr.Type{
		"action": types.StringType, "grace_period": types.StringType, "max_evictions_per_run": types.NumberType,
		"victim_order": types.StringType, "protected_priority_class": types.StringType, "protected_namespaces": textsType,
		"max_gap": types.StringType, "honour_pod_protection": types.BoolType, "repause": types.BoolType, "max_grace_period": types.StringType,
	}
)

// declaration reads the values as a declaration. What is null or unknown gets its
// default, and an empty text does not: it was written. A caller that meets unknown
// values must not judge them.
func (m model) declaration() core.Declaration {
	absent := core.Declaration{}.WithDefaults()
	d := core.Declaration{
		Name: m.Name.ValueString(), UID: m.UID.ValueString(), Generation: m.Generation.ValueInt64(), ClusterUID: m.ClusterUID.ValueString(),
		GPUHours: m.GPUHours.ValueString(), Window: m.Window.ValueString(), Period: core.Period(m.Period.ValueString()), TimeZone: m.TimeZone.ValueString(),
		Selector: selectorOf(m.Selector), Thresholds: values.Numbers(m.Thresholds), Enforce: enforcementOf(m.Enforcement, absent.Enforce),
		CountFrom: core.CountFrom(values.Text(m.CountFrom, string(absent.CountFrom))), VanishedPods: ledger.VanishedPolicy(values.Text(m.VanishedPods, string(absent.VanishedPods))),
		ResourceWeights: values.TextMap(m.ResourceWeights), ModelWeights: values.TextMap(m.ModelWeights),
		BreakdownLabels: values.Texts(m.BreakdownLabels), MaxStatusAge: values.Text(m.MaxStatusAge, absent.MaxStatusAge),
	}
	if d.Thresholds == nil {
		d.Thresholds = absent.Thresholds
	}
	return d
}

func selectorOf(v types.Object) core.Selector {
	o := values.FieldsOf(v)
	s := core.Selector{
		Namespaces: values.Texts(o.List("namespaces")), NamespaceLabels: values.TextMap(o.Map("namespace_labels")),
		MatchLabels: values.TextMap(o.Map("match_labels")),
	}
	for _, element := range o.List("match_expressions").Elements() {
		e := values.FieldsOf(element)
		s.MatchExpressions = append(s.MatchExpressions, core.Expression{
			Key: e.Text("key").ValueString(), Operator: e.Text("operator").ValueString(), Values: values.Texts(e.List("values")),
		})
	}
	return s
}

func enforcementOf(v types.Object, absent core.Enforcement) core.Enforcement {
	o := values.FieldsOf(v)
	evictions := absent.MaxEvictionsPerRun
	if v := o.AnyNumber("max_evictions_per_run"); !v.IsNull() && !v.IsUnknown() {
		evictions, _ = values.Whole(v)
	}
	honoured := absent.HonourPodProtection
	if v := o.Bool("honour_pod_protection"); !v.IsNull() && !v.IsUnknown() {
		honoured = v.ValueBoolPointer()
	}
	return core.Enforcement{
		Action: core.Action(values.Text(o.Text("action"), string(absent.Action))), GracePeriod: values.Text(o.Text("grace_period"), absent.GracePeriod),
		MaxEvictionsPerRun:     evictions,
		VictimOrder:            core.VictimOrder(values.Text(o.Text("victim_order"), string(absent.VictimOrder))),
		ProtectedPriorityClass: o.Text("protected_priority_class").ValueString(),
		ProtectedNamespaces:    values.Texts(o.List("protected_namespaces")), MaxGap: values.Text(o.Text("max_gap"), absent.MaxGap),
		HonourPodProtection: honoured, Repause: o.Bool("repause").ValueBool(), MaxGracePeriod: values.Text(o.Text("max_grace_period"), absent.MaxGracePeriod),
	}
}

// modelOf writes a declaration as values. A zone that was left out stays so: it
// has no default in the schema, since a rolling window has none.
func modelOf(d core.Declaration, timeouts timeouts.Value) model {
	zone := d.TimeZone
	d = d.WithDefaults()
	d.TimeZone = zone
	return model{
		Name: types.StringValue(d.Name), GPUHours: types.StringValue(d.GPUHours),
		Window: values.OfText(d.Window), Period: values.OfText(string(d.Period)), TimeZone: values.OfText(d.TimeZone),
		Selector: selectorValue(d.Selector), Thresholds: values.OfNumbers(d.Thresholds), Enforcement: enforcementValue(d.Enforce),
		CountFrom: types.StringValue(string(d.CountFrom)), VanishedPods: types.StringValue(string(d.VanishedPods)),
		ResourceWeights: values.OfTextMap(d.ResourceWeights), ModelWeights: values.OfTextMap(d.ModelWeights),
		BreakdownLabels: values.OfTexts(d.BreakdownLabels), MaxStatusAge: types.StringValue(d.MaxStatusAge), Timeouts: timeouts,
		UID: types.StringValue(d.UID), Generation: types.Int64Value(d.Generation), ClusterUID: types.StringValue(d.ClusterUID),
	}
}

func selectorValue(s core.Selector) types.Object {
	of := types.ObjectType{AttrTypes: expressionTypes}
	expressions := types.ListNull(of)
	if len(s.MatchExpressions) > 0 {
		all := make([]attr.Value, len(s.MatchExpressions))
		for n, e := range s.MatchExpressions {
			all[n] = types.ObjectValueMust(expressionTypes, map[string]attr.Value{
				"key": types.StringValue(e.Key), "operator": types.StringValue(e.Operator), "values": values.OfTexts(e.Values),
			})
		}
		expressions = types.ListValueMust(of, all)
	}
	return types.ObjectValueMust(selectorTypes, map[string]attr.Value{
		"namespaces": values.OfTexts(s.Namespaces), "namespace_labels": values.OfTextMap(s.NamespaceLabels),
		"match_labels": values.OfTextMap(s.MatchLabels), "match_expressions": expressions,
	})
}

func enforcementValue(e core.Enforcement) types.Object {
	return types.ObjectValueMust(enforcementTypes, map[string]attr.Value{
		"action": types.StringValue(string(e.Action)), "grace_period": types.StringValue(e.GracePeriod),
		"max_evictions_per_run": values.OfNumber(e.MaxEvictionsPerRun), "victim_order": types.StringValue(string(e.VictimOrder)),
		"protected_priority_class": values.OfText(e.ProtectedPriorityClass), "protected_namespaces": values.OfTexts(e.ProtectedNamespaces),
		"max_gap": types.StringValue(e.MaxGap), "honour_pod_protection": types.BoolValue(e.HonoursPods()), "repause": types.BoolValue(e.Repause), "max_grace_period": types.StringValue(e.MaxGracePeriod),
	})
}

// filled is what an apply leaves behind: the plan, with what was unknown in it
// filled in.
func (m model) filled(d core.Declaration) model {
	m.UID = values.Known(m.UID, types.StringValue(d.UID))
	m.Generation = values.Known(m.Generation, types.Int64Value(d.Generation))
	m.ClusterUID = values.Known(m.ClusterUID, types.StringValue(d.ClusterUID))
	return m
}

// equal reports whether all values are the same.
func (m model) equal(other model) bool {
	return m.Name.Equal(other.Name) && m.GPUHours.Equal(other.GPUHours) && m.Window.Equal(other.Window) && m.Period.Equal(other.Period) &&
		m.TimeZone.Equal(other.TimeZone) && m.Selector.Equal(other.Selector) && m.Thresholds.Equal(other.Thresholds) &&
		m.Enforcement.Equal(other.Enforcement) && m.CountFrom.Equal(other.CountFrom) && m.VanishedPods.Equal(other.VanishedPods) &&
		m.ResourceWeights.Equal(other.ResourceWeights) && m.ModelWeights.Equal(other.ModelWeights) &&
		m.BreakdownLabels.Equal(other.BreakdownLabels) && m.MaxStatusAge.Equal(other.MaxStatusAge) && m.Timeouts.Equal(other.Timeouts) &&
		m.UID.Equal(other.UID) && m.Generation.Equal(other.Generation) && m.ClusterUID.Equal(other.ClusterUID)
}
