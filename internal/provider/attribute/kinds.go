package attribute

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Text carries a string; an empty one is written as null.
func Text[T ~string](x *Transfer, value *types.String, declared *T) {
	Carry(x, Kind[types.String, T]{
		Read:  func(v types.String) (T, bool) { return T(v.ValueString()), true },
		Write: func(s T) types.String { return values.OfText(string(s)) },
		Same:  func(a, b T) bool { return a == b },
	}, value, declared)
}

// Spelled carries a string that can be written in several ways.
func Spelled(x *Transfer, value *types.String, declared *string, same func(a, b string) bool) {
	Carry(x, Kind[types.String, string]{
		Read:  func(v types.String) (string, bool) { return v.ValueString(), true },
		Write: values.OfText,
		Same:  func(a, b string) bool { return a == b || same(a, b) },
	}, value, declared)
}

// SameDuration reports whether two strings are the same length of time, such as "24h" and "1d".
func SameDuration(a, b string) bool {
	was, errWas := duration.Parse(a)
	now, errNow := duration.Parse(b)
	return errWas == nil && errNow == nil && was == now
}

// Form is how a string is parsed and written, and the reason of the error if it cannot be parsed.
type Form[T comparable] struct {
	Parse   func(string) (T, error)
	Write   func(T) types.String
	Invalid func(reason.Foreign) reason.Reason
}

// Parsed carries a string that has a form, and reports at a path where it does not
// have it.
func Parsed[T comparable](x *Transfer, at path.Path, form Form[T], value *types.String, declared *T) {
	Carry(x, Kind[types.String, T]{
		Read: func(v types.String) (T, bool) {
			parsed, err := form.Parse(v.ValueString())
			if err != nil {
				x.Report(at, form.Invalid(reason.Failure(err)))
			}
			return parsed, err == nil
		},
		Write: form.Write,
		Same:  func(a, b T) bool { return a == b },
	}, value, declared)
}

// Number carries a whole number.
func Number[T ~int | ~int64](x *Transfer, value *types.Int64, declared *T) {
	Carry(x, Kind[types.Int64, T]{
		Read:  func(v types.Int64) (T, bool) { return T(v.ValueInt64()), true },
		Write: func(n T) types.Int64 { return types.Int64Value(int64(n)) },
		Same:  func(a, b T) bool { return a == b },
	}, value, declared)
}

// OptionalNumber carries a number whose zero is null.
func OptionalNumber(x *Transfer, value *types.Int64, declared *int64) {
	Carry(x, Kind[types.Int64, int64]{
		Read: func(v types.Int64) (int64, bool) { return v.ValueInt64(), true },
		Write: func(n int64) types.Int64 {
			if n == 0 {
				return types.Int64Null()
			}
			return types.Int64Value(n)
		},
		Same: func(a, b int64) bool { return a == b },
	}, value, declared)
}

// AnyNumber carries a number that must be whole; a validation refuses others.
func AnyNumber(x *Transfer, value *types.Number, declared *int) {
	Carry(x, Kind[types.Number, int]{
		Read:  values.Whole,
		Write: values.OfNumber,
		Same:  func(a, b int) bool { return a == b },
	}, value, declared)
}

// Bool carries what is true or false.
func Bool(x *Transfer, value *types.Bool, declared *bool) {
	Carry(x, Kind[types.Bool, bool]{
		Read:  func(v types.Bool) (bool, bool) { return v.ValueBool(), true },
		Write: types.BoolValue,
		Same:  func(a, b bool) bool { return a == b },
	}, value, declared)
}

// Texts carries a list of strings in which the order matters.
func Texts(x *Transfer, value *types.List, declared *[]string) {
	texts(x, value, declared, slices.Equal[[]string])
}

// Members carries a list of strings in which the order does not matter.
func Members[T ~string](x *Transfer, value *types.List, declared *[]T) {
	texts(x, value, declared, SameMembers[T])
}

func texts[T ~string](x *Transfer, value *types.List, declared *[]T, same func(a, b []T) bool) {
	Carry(x, Kind[types.List, []T]{
		Read:  func(v types.List) ([]T, bool) { return converted[T](values.Texts(v)), true },
		Write: func(list []T) types.List { return values.OfTexts(converted[string](list)) },
		Same:  same,
	}, value, declared)
}

func converted[To, From ~string](list []From) []To {
	var all []To
	for _, s := range list {
		all = append(all, To(s))
	}
	return all
}

// SameMembers reports whether two lists have the same members in any order.
func SameMembers[T cmp.Ordered](a, b []T) bool {
	members := func(list []T) []T { return slices.Compact(slices.Sorted(slices.Values(list))) }
	return slices.Equal(members(a), members(b))
}

// TextMap carries a map of strings; same says whether two of them mean the same.
func TextMap(x *Transfer, value *types.Map, declared *map[string]string, same func(a, b string) bool) {
	Carry(x, Kind[types.Map, map[string]string]{
		Read:  func(v types.Map) (map[string]string, bool) { return values.TextMap(v), true },
		Write: values.OfTextMap,
		Same: func(a, b map[string]string) bool {
			return maps.EqualFunc(a, b, func(a, b string) bool { return a == b || same(a, b) })
		},
	}, value, declared)
}

// Exactly is for strings that can be written in only one way.
func Exactly(a, b string) bool { return a == b }
