// Package values converts between Terraform's values and Go's. Null, unknown and
// empty are three different things, and stay so. It knows no resource.
package values

import (
	"math/big"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Fields are the values of an object; an object that is null or unknown has none.
type Fields map[string]attr.Value

// FieldsOf takes an object apart. A value that is no object has no fields.
func FieldsOf(v attr.Value) Fields {
	o, ok := v.(types.Object)
	if !ok {
		return nil
	}
	return o.Attributes()
}

// Text is the field's value; null where there is none.
func (f Fields) Text(name string) types.String {
	v, _ := f[name].(types.String)
	return v
}

// Number is the field's value; null where there is none.
func (f Fields) Number(name string) types.Int64 {
	v, _ := f[name].(types.Int64)
	return v
}

// AnyNumber is the field's value, whole or not; null where there is none.
func (f Fields) AnyNumber(name string) types.Number {
	v, _ := f[name].(types.Number)
	return v
}

// Bool is the field's value; null where there is none.
func (f Fields) Bool(name string) types.Bool {
	v, _ := f[name].(types.Bool)
	return v
}

// List is the field's value; null where there is none.
func (f Fields) List(name string) types.List {
	v, _ := f[name].(types.List)
	return v
}

// Object is the field's value; null where there is none.
func (f Fields) Object(name string) types.Object {
	v, _ := f[name].(types.Object)
	return v
}

// Map is the field's value; null where there is none.
func (f Fields) Map(name string) types.Map {
	v, _ := f[name].(types.Map)
	return v
}

// Texts are the elements of a list of strings; nil of none. An element that is
// unknown is empty.
func Texts(list types.List) []string {
	var all []string
	for _, element := range list.Elements() {
		s, _ := element.(types.String)
		all = append(all, s.ValueString())
	}
	return all
}

// Whole is a number as an int, and whether it is one. A number that is null or
// unknown is 0.
func Whole(v types.Number) (int, bool) {
	if v.IsNull() || v.IsUnknown() {
		return 0, true
	}
	n, accuracy := v.ValueBigFloat().Int64()
	return int(n), accuracy == big.Exact
}

// Digits writes a number for people.
func Digits(v types.Number) string { return v.ValueBigFloat().Text('g', 10) }

// OfNumber is a whole number.
func OfNumber(n int) types.Number { return types.NumberValue(new(big.Float).SetInt64(int64(n))) }

// Numbers are the elements of a list of numbers, and whether all of them are whole.
// An element that is unknown is 0.
func Numbers(list types.List) ([]int, bool) {
	all := make([]int, len(list.Elements()))
	for i, element := range list.Elements() {
		n, _ := element.(types.Number)
		whole := false
		if all[i], whole = Whole(n); !whole {
			return nil, false
		}
	}
	return all, true
}

// TextMap are the elements of a map of strings; nil of none. An element that is
// unknown is empty.
func TextMap(m types.Map) map[string]string {
	var all map[string]string
	for key, element := range m.Elements() {
		if all == nil {
			all = map[string]string{}
		}
		s, _ := element.(types.String)
		all[key] = s.ValueString()
	}
	return all
}

// OfText is a string, or null of the empty one.
func OfText(s string) types.String {
	if s == "" {
		return types.StringNull()
	}
	return types.StringValue(s)
}

// OfTime is a time in UTC, or null of none.
func OfTime(t time.Time) types.String {
	if t.IsZero() {
		return types.StringNull()
	}
	return types.StringValue(t.UTC().Format(time.RFC3339))
}

// OfTexts is a list, or null of an empty one.
func OfTexts(list []string) types.List {
	if len(list) == 0 {
		return types.ListNull(types.StringType)
	}
	all := make([]attr.Value, len(list))
	for n, s := range list {
		all[n] = types.StringValue(s)
	}
	return types.ListValueMust(types.StringType, all)
}

// OfNumbers is a list of numbers; an empty one is empty.
func OfNumbers(list []int) types.List {
	all := make([]attr.Value, len(list))
	for n, i := range list {
		all[n] = OfNumber(i)
	}
	return types.ListValueMust(types.NumberType, all)
}

// OfTextMap is a map, or null of an empty one.
func OfTextMap(m map[string]string) types.Map {
	if len(m) == 0 {
		return types.MapNull(types.StringType)
	}
	all := make(map[string]attr.Value, len(m))
	for key, s := range m {
		all[key] = types.StringValue(s)
	}
	return types.MapValueMust(types.StringType, all)
}

// Known is what was planned, or the actual value where that was unknown.
func Known[V attr.Value](planned, actual V) V {
	if planned.IsUnknown() {
		return actual
	}
	return planned
}
