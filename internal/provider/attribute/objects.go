package attribute

import (
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

// Types are the types of attributes, by name.
func Types(attributes map[string]schema.Attribute) map[string]attr.Type {
	all := make(map[string]attr.Type, len(attributes))
	for name, a := range attributes {
		all[name] = a.GetType()
	}
	return all
}

// Object converts the fields of an object that the declaration always has. If the value is null
// or unknown, so are its fields.
func Object[T any](x *Transfer, value *types.Object, of map[string]attr.Type, declared *T, fields func(*Transfer, *Fields, *T)) {
	f := &Fields{values: values.FieldsOf(*value), carried: map[string]func() attr.Value{}}
	fields(x, f, declared)
	if x.way != outOf && (x.way != keeping || value.IsNull() || value.IsUnknown()) {
		return
	}
	all := make(map[string]attr.Value, len(of))
	for name := range of {
		all[name] = f.carried[name]()
	}
	*value = types.ObjectValueMust(of, all)
}

// Optional carries an object that may be left out, which is nil in the declaration.
// absent has the defaults of its fields. The value stays as it was written only where
// all of it means the same.
func Optional[T any](x *Transfer, value *types.Object, of map[string]attr.Type, declared **T, absent T, fields func(*Transfer, *Fields, *T)) {
	Carry(x, Kind[types.Object, *T]{
		Read: func(v types.Object) (*T, bool) {
			read := absent
			Object(Into(x.diags), &v, of, &read, fields)
			return &read, true
		},
		Write: func(d *T) types.Object {
			if d == nil {
				return types.ObjectNull(of)
			}
			return NewObject(of, d, fields)
		},
		Same: func(a, b *T) bool { return reflect.DeepEqual(a, b) },
	}, value, declared)
}

// Objects converts a list of objects, and reports problems of its elements below a path. If the
// list differs from the declaration, equivalent values of its elements stay as they were
// written.
func Objects[T any](x *Transfer, at path.Path, value *types.List, of map[string]attr.Type, declared *[]T, same func(a, b []T) bool,
	fields func(*Transfer, path.Path, *Fields, *T)) {
	Carry(x, Kind[types.List, []T]{
		Read: func(v types.List) ([]T, bool) {
			var all []T
			from := Into(x.diags)
			for n, element := range v.Elements() {
				object, _ := element.(types.Object)
				var read T
				Object(from, &object, of, &read, func(x *Transfer, f *Fields, d *T) { fields(x, at.AtListIndex(n), f, d) })
				all = append(all, read)
			}
			return all, true
		},
		Write: func(list []T) types.List {
			elements := types.ObjectType{AttrTypes: of}
			if len(list) == 0 {
				return types.ListNull(elements)
			}
			before := value.Elements()
			all := make([]attr.Value, len(list))
			for n := range list {
				object := types.ObjectNull(of)
				if n < len(before) {
					object, _ = before[n].(types.Object)
				}
				Object(OutOf(), &object, of, &list[n], func(x *Transfer, f *Fields, d *T) { fields(x, at.AtListIndex(n), f, d) })
				all[n] = object
			}
			return types.ListValueMust(elements, all)
		},
		Same: same,
	}, value, declared)
}

// NewObject returns the value of an object that is only declared, without prior wording.
func NewObject[T any](of map[string]attr.Type, declared *T, fields func(*Transfer, *Fields, *T)) types.Object {
	object := types.ObjectNull(of)
	Object(OutOf(), &object, of, declared, fields)
	return object
}

// Fields are the attributes of an object, each of which is asked for once.
type Fields struct {
	values  values.Fields
	carried map[string]func() attr.Value
}

func field[V attr.Value](f *Fields, name string, v V) *V {
	f.carried[name] = func() attr.Value { return v }
	return &v
}

// Object is a field that is an object.
func (f *Fields) Object(name string) *types.Object { return field(f, name, f.values.Object(name)) }

// Text is a field that is a string.
func (f *Fields) Text(name string) *types.String { return field(f, name, f.values.Text(name)) }

// Number is a field that is a whole number.
func (f *Fields) Number(name string) *types.Int64 { return field(f, name, f.values.Number(name)) }

// AnyNumber is a field that is a number.
func (f *Fields) AnyNumber(name string) *types.Number {
	return field(f, name, f.values.AnyNumber(name))
}

// Bool is a field that is true or false.
func (f *Fields) Bool(name string) *types.Bool { return field(f, name, f.values.Bool(name)) }

// List is a field that is a list.
func (f *Fields) List(name string) *types.List { return field(f, name, f.values.List(name)) }

// Map is a field that is a map.
func (f *Fields) Map(name string) *types.Map { return field(f, name, f.values.Map(name)) }
