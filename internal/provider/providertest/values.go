package providertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Values are a configuration as JSON. What is left out is null, and Unknown is a
// value that is not known yet.
type Values map[string]any

// Block is a resource in HCL, with usual arguments and changes of them. Empty arguments are left out.
func Block[A ~map[string]string](kind, label string, usual A, changes ...A) string {
	all := maps.Clone(usual)
	for _, c := range changes {
		maps.Copy(all, c)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "resource %q %q {\n", kind, label)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] != "" {
			fmt.Fprintf(&b, "  %s = %s\n", name, all[name])
		}
	}
	return b.String() + "}\n"
}

type unknown struct{}

// Unknown is a value that depends on something not created yet. It can be a whole
// argument, not a part of one.
var Unknown = unknown{}

// With is a copy with some values changed.
func (v Values) With(changes Values) Values {
	v = maps.Clone(v)
	maps.Copy(v, changes)
	return v
}

// Object is a resource as Terraform keeps it.
type Object struct {
	State    tftypes.Value
	Private  []byte
	identity *tfprotov6.ResourceIdentityData
}

// Attribute is one of the object's values; an unknown one is Unknown.
func (o Object) Attribute(name string) any {
	var all map[string]tftypes.Value
	if err := o.State.As(&all); err != nil {
		return err
	}
	return plain(all[name])
}

func plain(v tftypes.Value) any {
	switch {
	case !v.IsKnown():
		return Unknown
	case v.IsNull():
		return nil
	}
	var list []tftypes.Value
	if v.Type().Is(tftypes.List{}) && v.As(&list) == nil {
		all := []any{}
		for _, element := range list {
			all = append(all, plain(element))
		}
		return all
	}
	var text string
	if v.As(&text) == nil {
		return text
	}
	return v.String()
}

// With is the object with another text in its state.
func (o Object) With(name, text string) Object {
	var all map[string]tftypes.Value
	if err := o.State.As(&all); err != nil {
		panic(err)
	}
	all[name] = tftypes.NewValue(tftypes.String, text)
	o.State = tftypes.NewValue(o.State.Type(), all)
	return o
}

func (s *Server) value(of tftypes.Type, v Values) tftypes.Value {
	s.tb.Helper()
	if v == nil {
		return tftypes.NewValue(of, nil)
	}
	known := Values{}
	for name, value := range v {
		if value != Unknown {
			known[name] = value
		}
	}
	data, err := json.Marshal(known)
	if err != nil {
		s.tb.Fatal(err)
	}
	value, err := tftypes.ValueFromJSON(data, of) //nolint:staticcheck // there is no other way from JSON
	if err != nil {
		s.tb.Fatal(err)
	}
	var all map[string]tftypes.Value
	if err := value.As(&all); err != nil {
		s.tb.Fatal(err)
	}
	for name := range v {
		if v[name] == Unknown {
			all[name] = tftypes.NewValue(all[name].Type(), tftypes.UnknownValue)
		}
	}
	return tftypes.NewValue(of, all)
}

func (s *Server) dynamic(of tftypes.Type, v tftypes.Value) *tfprotov6.DynamicValue {
	s.tb.Helper()
	d, err := tfprotov6.NewDynamicValue(of, v)
	if err != nil {
		s.tb.Fatal(err)
	}
	return &d
}

func (s *Server) read(of tftypes.Type, d *tfprotov6.DynamicValue) tftypes.Value {
	s.tb.Helper()
	if d == nil {
		return tftypes.NewValue(of, nil)
	}
	v, err := d.Unmarshal(of)
	if err != nil {
		s.tb.Fatal(err)
	}
	return v
}

// Diagnostics are what Terraform shows.
type Diagnostics []*tfprotov6.Diagnostic

// String writes each on a line: its severity, attribute, summary and detail.
func (d Diagnostics) String() string {
	var b strings.Builder
	for _, one := range d {
		b.WriteString(one.Severity.String())
		if one.Attribute != nil {
			b.WriteString(" at " + one.Attribute.String())
		}
		b.WriteString(": " + one.Summary + ": " + one.Detail + "\n")
	}
	return b.String()
}
