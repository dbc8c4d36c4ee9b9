// Package attributetest checks the models of resources against their schemas. Each attribute
// that a plan can set must have its line in transfer, which converts it to the declaration and
// back.
package attributetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Resource is what there is to hold to its schema: M is the model, and D the
// declaration.
type Resource[M, D any] struct {
	Schema schema.Schema
	Into   func(M) D // the model's values as a declaration
	OutOf  func(D) M // a declaration as the values of a model that had none
	// Extra are the attributes that only Terraform has.
	Extra []string
}

// forms are pairs of texts, for attributes of any text, of a number, and of a length
// of time.
var forms = [][2]string{{"a", "b"}, {"10", "11"}, {"10m", "11m"}}

// Carried sets each attribute in turn to another value. It fails if the declaration changes in
// another field than that of its name, or does not return the value.
func Carried[M, D any](t *testing.T, r Resource[M, D]) {
	t.Helper()
	for _, at := range r.leaves(r.Schema.Type().TerraformType(t.Context()), nil) {
		if slices.Contains(r.Extra, at[0]) {
			continue
		}
		name := strings.Join(at, ".")
		var problem string
		for _, form := range forms {
			if problem = r.carry(t, at, form); problem == "" {
				break
			}
		}
		if problem != "" {
			t.Errorf("%s: %s: give it its line in transfer, for the way into the declaration and back", name, problem)
		}
	}
}

// carry returns how the conversion of an attribute is wrong; empty if it is right.
func (r Resource[M, D]) carry(t *testing.T, at []string, form [2]string) string {
	t.Helper()
	before, after := r.declared(t, at, form[0]), r.declared(t, at, form[1])
	changed := differences("", fieldsOf(t, before), fieldsOf(t, after))
	if want := strings.Join(at, "."); !slices.Equal(changed, []string{want}) {
		return fmt.Sprintf("another value changes these fields of the declaration: %q", changed)
	}
	if again := r.Into(r.OutOf(after)); !reflect.DeepEqual(fieldsOf(t, after), fieldsOf(t, again)) {
		return fmt.Sprintf("it does not come back out of the declaration: %q differ", differences("", fieldsOf(t, after), fieldsOf(t, again)))
	}
	return ""
}

// declared is the declaration of a plan in which every attribute is set, and the one
// at a path to this.
func (r Resource[M, D]) declared(t *testing.T, at []string, text string) D {
	t.Helper()
	var m M
	plan := tfsdk.Plan{Schema: r.Schema, Raw: r.value(r.Schema.Type().TerraformType(t.Context()), nil, at, text)}
	if diags := plan.Get(t.Context(), &m); diags.HasError() {
		t.Fatalf("%s: %v", strings.Join(at, "."), diags)
	}
	return r.Into(m)
}

// leaves are the paths of all attributes that have none below them. Of a list there is
// one element.
func (r Resource[M, D]) leaves(of tftypes.Type, above []string) [][]string {
	switch of := of.(type) {
	case tftypes.Object:
		var all [][]string
		for _, name := range slices.Sorted(maps.Keys(of.AttributeTypes)) {
			all = append(all, r.leaves(of.AttributeTypes[name], append(slices.Clip(above), name))...)
		}
		return all
	case tftypes.List:
		if _, objects := of.ElementType.(tftypes.Object); objects {
			return r.leaves(of.ElementType, above)
		}
	}
	return [][]string{above}
}

// value sets every attribute, and the one at a path to what a text stands for.
func (r Resource[M, D]) value(of tftypes.Type, here, at []string, text string) tftypes.Value {
	if len(here) == 1 && slices.Contains(r.Extra, here[0]) {
		return tftypes.NewValue(of, nil)
	}
	switch of := of.(type) {
	case tftypes.Object:
		fields := map[string]tftypes.Value{}
		for name, field := range of.AttributeTypes {
			fields[name] = r.value(field, append(slices.Clip(here), name), at, text)
		}
		return tftypes.NewValue(of, fields)
	case tftypes.List:
		return tftypes.NewValue(of, []tftypes.Value{r.value(of.ElementType, here, at, text)})
	case tftypes.Map:
		return tftypes.NewValue(of, map[string]tftypes.Value{"key": r.value(of.ElementType, here, at, text)})
	}
	other := slices.Equal(here, at)
	switch {
	case of.Is(tftypes.Bool):
		return tftypes.NewValue(of, other && text == forms[0][0])
	case of.Is(tftypes.Number) && other && text != forms[0][0]:
		return tftypes.NewValue(of, big.NewFloat(8))
	case of.Is(tftypes.Number):
		return tftypes.NewValue(of, big.NewFloat(7))
	case other:
		return tftypes.NewValue(of, text)
	}
	return tftypes.NewValue(of, "c")
}

func fieldsOf(t *testing.T, d any) any {
	t.Helper()
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var fields any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// differences are the paths of the fields in which two declarations differ.
func differences(at string, a, b any) []string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || isTable(a) && isTable(b) {
			break
		}
		var all []string
		for _, name := range slices.Sorted(maps.Keys(joined(a, b))) {
			all = append(all, differences(strings.TrimPrefix(at+"."+name, "."), a[name], b[name])...)
		}
		return all
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != 1 || len(b) != 1 {
			break
		}
		return differences(at, a[0], b[0])
	}
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return []string{at}
}

// isTable reports whether an object is a map of user-defined keys.
func isTable(fields map[string]any) bool {
	_, written := fields["key"]
	return written && len(fields) == 1
}

func joined(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
