// Package attribute carries attributes between a resource's model, which has
// Terraform's values, and its declaration. A model names each of its attributes on
// one line, which serves both directions; the Transfer decides which one.
package attribute

import (
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Transfer carries the attributes of a model in one direction.
type Transfer struct {
	way   way
	diags *diag.Diagnostics
	prior []attr.Value // whose wording is kept, in the order of its attributes
}

type way int

const (
	into way = iota
	outOf
	noting
	keeping
)

// Into carries values into a declaration that has the defaults. A value that is null
// or unknown leaves the default; an empty one does not. A text without the form of
// its attribute is reported, and leaves the default.
func Into(diags *diag.Diagnostics) *Transfer { return &Transfer{way: into, diags: diags} }

// OutOf carries a declaration into values. Values that mean the same already stay as
// they were written: "3.5" for 3.50, an empty list for none.
func OutOf() *Transfer { return &Transfer{way: outOf} }

// KeepWording replaces the values of a plan by equivalent ones of its prior state. A value that
// is null or unknown in either stays: Terraform lets a plan keep a prior value only if the
// configuration has one.
func KeepWording[D any](prior, planned func(*Transfer, *D)) {
	x, unused := &Transfer{way: noting}, new(D)
	prior(x, unused)
	x.way = keeping
	planned(x, unused)
}

// Report reports that an attribute is invalid.
func (x *Transfer) Report(at path.Path, why reason.Reason) {
	if x.diags != nil {
		x.diags.Append(problem.Error(at, why))
	}
}

// Kind is how values of one kind are read, written and compared. Read gets a value
// that is neither null nor unknown, and reports whether it could be read.
type Kind[V attr.Value, T any] struct {
	Read  func(V) (T, bool)
	Write func(T) V
	Same  func(a, b T) bool
}

// Carry carries one attribute.
func Carry[V attr.Value, T any](x *Transfer, k Kind[V, T], value *V, declared *T) {
	switch x.way {
	case into:
		if read, ok := readIf(k, *value); ok {
			*declared = read
		}
	case outOf:
		if read, ok := readIf(k, *value); !ok || !k.Same(read, *declared) {
			*value = k.Write(*declared)
		}
	case noting:
		x.prior = append(x.prior, *value)
	case keeping:
		prior, _ := x.prior[0].(V)
		x.prior = x.prior[1:]
		was, ok := readIf(k, prior)
		now, known := readIf(k, *value)
		if ok && known && AllKnown(*value) && k.Same(was, now) {
			*value = prior
		}
	}
}

func readIf[V attr.Value, T any](k Kind[V, T], v V) (read T, ok bool) {
	if v.IsNull() || v.IsUnknown() {
		return read, false
	}
	return k.Read(v)
}

// AllKnown reports whether nothing in a value is unknown.
func AllKnown(v attr.Value) bool {
	if v.IsUnknown() {
		return false
	}
	switch v := v.(type) {
	case types.List:
		for _, element := range v.Elements() {
			if !AllKnown(element) {
				return false
			}
		}
	case types.Map:
		for _, element := range v.Elements() {
			if !AllKnown(element) {
				return false
			}
		}
	case types.Object:
		for _, field := range v.Attributes() {
			if !AllKnown(field) {
				return false
			}
		}
	}
	return true
}

// Equal reports whether two models have the same values.
func Equal[M any](a, b M) bool { return equal(reflect.ValueOf(a), reflect.ValueOf(b)) }

func equal(a, b reflect.Value) bool {
	for n := range a.NumField() {
		if a.Type().Field(n).Anonymous {
			if !equal(a.Field(n), b.Field(n)) {
				return false
			}
			continue
		}
		was, _ := a.Field(n).Interface().(attr.Value)
		now, _ := b.Field(n).Interface().(attr.Value)
		if was == nil || now == nil || !was.Equal(now) {
			return false
		}
	}
	return true
}
