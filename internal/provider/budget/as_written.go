package budget

import (
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// planned is a plan's values, with prior's where they say the same: "1d" for
// 24h, "100.0" for 100, "0.5" for 1/2, lists in another order. A plan then shows
// no change that is none. Terraform lets a plan keep a prior value where the
// configuration has one.
func (m model) planned(prior model) model { return comparison{}.keep(prior, m) }

// refreshed is a record's values, with the state's where they say the same. The
// record has no empty texts and collections, and the state may.
func (m model) refreshed(state model) model { return comparison{emptyIsNone: true}.keep(state, m) }

// comparison keeps the values that say the same.
type comparison struct{ emptyIsNone bool }

// says reports whether two known values say the same.
type says func(a, b attr.Value) bool

func (c comparison) keep(was, now model) model {
	now.GPUHours = kept(c, was.GPUHours, now.GPUHours, texts(sameHours))
	now.Window = kept(c, was.Window, now.Window, texts(sameDuration))
	now.Period = kept(c, was.Period, now.Period, attr.Value.Equal)
	now.TimeZone = kept(c, was.TimeZone, now.TimeZone, attr.Value.Equal)
	now.MaxStatusAge = kept(c, was.MaxStatusAge, now.MaxStatusAge, texts(sameDuration))
	now.Selector = c.fields(was.Selector, now.Selector, selectorTypes, map[string]says{
		"namespaces": sameMembers, "namespace_labels": attr.Value.Equal, "match_labels": attr.Value.Equal, "match_expressions": c.sameExpressions,
	})
	now.Thresholds = kept(c, was.Thresholds, now.Thresholds, attr.Value.Equal)
	now.Enforcement = c.fields(was.Enforcement, now.Enforcement, enforcementTypes, map[string]says{
		"grace_period": texts(sameDuration), "max_grace_period": texts(sameDuration), "max_gap": texts(sameDuration),
		"protected_priority_class": attr.Value.Equal, "protected_namespaces": sameMembers,
	})
	now.ResourceWeights = kept(c, was.ResourceWeights, now.ResourceWeights, sameWeights)
	now.ModelWeights = kept(c, was.ModelWeights, now.ModelWeights, sameWeights)
	now.BreakdownLabels = kept(c, was.BreakdownLabels, now.BreakdownLabels, sameMembers)
	return now
}

// same compares two values that may be null or unknown.
func (c comparison) same(was, now attr.Value, alike says) bool {
	switch {
	case was == nil || now == nil || was.IsUnknown() || now.IsUnknown():
		return false
	case c.emptyIsNone && none(was) && none(now):
		return true
	}
	return !was.IsNull() && !now.IsNull() && alike(was, now)
}

func kept[V attr.Value](c comparison, was, now V, alike says) V {
	if c.same(was, now, alike) {
		return was
	}
	return now
}

// fields keeps the fields of an object that say the same.
func (c comparison) fields(was, now types.Object, of map[string]attr.Type, alike map[string]says) types.Object {
	before, after := was.Attributes(), maps.Clone(now.Attributes())
	if len(before) == 0 || len(after) == 0 {
		return now
	}
	for name, says := range alike {
		if c.same(before[name], after[name], says) {
			after[name] = before[name]
		}
	}
	return types.ObjectValueMust(of, after)
}

// none reports whether a value is null or empty.
func none(v attr.Value) bool {
	switch v := v.(type) {
	case types.String:
		return v.ValueString() == ""
	case types.List:
		return len(v.Elements()) == 0
	case types.Map:
		return len(v.Elements()) == 0
	}
	return v.IsNull()
}

func texts(alike func(a, b string) bool) says {
	return func(a, b attr.Value) bool {
		was, first := a.(types.String)
		now, second := b.(types.String)
		return first && second && alike(was.ValueString(), now.ValueString())
	}
}

// sameMembers reports whether two lists have the same members, in whatever order.
func sameMembers(a, b attr.Value) bool { return slices.Equal(members(a), members(b)) }

func members(v attr.Value) []string {
	list, _ := v.(types.List)
	var all []string
	for _, element := range list.Elements() {
		all = append(all, element.String())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// sameExpressions compares expressions whose values may be in another order.
func (c comparison) sameExpressions(a, b attr.Value) bool {
	was, _ := a.(types.List)
	now, _ := b.(types.List)
	return slices.EqualFunc(was.Elements(), now.Elements(), func(a, b attr.Value) bool {
		was, now := values.FieldsOf(a), values.FieldsOf(b)
		return len(was) > 0 && len(now) > 0 && was.Text("key").Equal(now.Text("key")) && was.Text("operator").Equal(now.Text("operator")) &&
			(was.List("values").Equal(now.List("values")) || c.same(was.List("values"), now.List("values"), sameMembers))
	})
}

func sameWeights(a, b attr.Value) bool {
	was, _ := a.(types.Map)
	now, _ := b.(types.Map)
	return maps.EqualFunc(was.Elements(), now.Elements(), func(a, b attr.Value) bool {
		return a.Equal(b) || !a.IsUnknown() && !b.IsUnknown() && texts(sameWeight)(a, b)
	})
}

func sameHours(a, b string) bool {
	was, errWas := core.ParseHours(a)
	now, errNow := core.ParseHours(b)
	return errWas == nil && errNow == nil && was == now
}

func sameWeight(a, b string) bool {
	was, errWas := weight.Parse(a)
	now, errNow := weight.Parse(b)
	return errWas == nil && errNow == nil && was.Cmp(now) == 0
}

func sameDuration(a, b string) bool {
	was, errWas := duration.Parse(a)
	now, errNow := duration.Parse(b)
	return errWas == nil && errNow == nil && was == now
}
