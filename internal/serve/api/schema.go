package api

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

const schemas = "#/components/schemas/"

// Decision is a decision about an object, with further fields by its kind.
type Decision struct {
	// The object.
	Object string `json:"object"`
	// The kind.
	Kind string `json:"kind"`
	// The outcome. Absent if it was not carried out.
	Outcome outcome.Outcome `json:"outcome,omitempty"`
}

// newRegistry describes types that write their own JSON by others.
func newRegistry() huma.Registry {
	r := huma.NewMapRegistry(schemas, schemaName)
	for of, as := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[spotpool.Price]():    reflect.TypeFor[*string](),
		reflect.TypeFor[spotpool.Duration](): reflect.TypeFor[string](),
		reflect.TypeFor[ledger.Labels]():     reflect.TypeFor[map[string]string](),
		reflect.TypeFor[json.Number]():       reflect.TypeFor[float64](),
		reflect.TypeFor[outcome.Result]():    reflect.TypeFor[Decision](),
		reflect.TypeFor[reason.Reason]():     reflect.TypeFor[reason.Document](),
		reflect.TypeFor[budget.Pod]():        reflect.TypeFor[map[string]any](),
	} {
		r.RegisterTypeAlias(of, as)
	}
	return r
}

// schemaName has the packages of a type, since several have a Report.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, folders, ours := strings.Cut(t.PkgPath(), "/internal/")
	if !ours || folders == "serve/api" {
		return name
	}
	prefix := ""
	for folder := range strings.SplitSeq(strings.TrimPrefix(folders, "reconcile/"), "/") {
		prefix += strings.ToUpper(folder[:1]) + folder[1:]
	}
	return prefix + name
}

// finish corrects what the reflection of types cannot know. Fields of embedded pointers may be absent, and
// pointers may be null. Some types have a fixed list of values.
func finish(doc *huma.OpenAPI) {
	registry, enums := doc.Components.Schemas, Enums()
	for name, s := range registry.Map() {
		t := registry.TypeFromRef(schemas + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		f := fields{properties: s.Properties, optional: map[string]bool{}, enums: enums}
		f.visit(t, false)
		var required []string
		for _, property := range s.Required {
			if !f.optional[property] {
				required = append(required, property)
			}
		}
		s.Required = required
		s.PrecomputeMessages()
	}
}

type fields struct {
	properties map[string]*huma.Schema
	optional   map[string]bool
	enums      map[reflect.Type][]any
}

func (f fields) visit(t reflect.Type, optional bool) {
	for n := range t.NumField() {
		field := t.Field(n)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		of, pointer := field.Type, false
		if of.Kind() == reflect.Pointer {
			of, pointer = of.Elem(), true
		}
		if field.Anonymous && name == "" {
			if of.Kind() == reflect.Struct {
				f.visit(of, optional || pointer)
			}
			continue
		}
		s := f.properties[name]
		if s == nil {
			continue
		}
		f.optional[name] = f.optional[name] || optional
		restrict(s, of, f.enums)
		if s.Ref != "" && pointer {
			f.properties[name] = &huma.Schema{AnyOf: []*huma.Schema{s, {Type: "null"}}, Description: s.Description}
		} else if s.Type == huma.TypeObject && of.Kind() == reflect.Map {
			s.Nullable = true
		}
	}
}
