package provider_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	budgetresource "github.com/gpupool/terraform-provider-gpupool/internal/provider/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	poolresource "github.com/gpupool/terraform-provider-gpupool/internal/provider/spotpool"
	stockresource "github.com/gpupool/terraform-provider-gpupool/internal/provider/stockpool"
)

// TestEmptyTextIsRefusedForDefaultedArguments goes over the schemas: an empty text that
// became the default would differ from its configuration in every plan.
func TestEmptyTextIsRefusedForDefaultedArguments(t *testing.T) {
	t.Parallel()
	server, _ := providertest.New(t).Serve(nil, nil)
	for typeName, newResource := range map[string]func() resource.Resource{
		budgetresource.TypeName: budgetresource.NewResource, poolresource.TypeName: poolresource.NewResource, stockresource.TypeName: stockresource.NewResource,
	} {
		var resp resource.SchemaResponse
		newResource().Schema(t.Context(), resource.SchemaRequest{}, &resp)
		arguments := defaultedTexts(resp.Schema.Attributes)
		if len(arguments) < 5 {
			t.Errorf("%s has only the defaulted arguments %v", typeName, arguments)
		}
		for _, a := range arguments {
			if diags := server.For(typeName).Validate(a.config("")); !refuses(diags, a.path) {
				t.Errorf("%s: %s = \"\" is accepted:\n%s", typeName, a.path, diags)
			}
			if diags := server.For(typeName).Validate(a.config(nil)); refuses(diags, a.path) {
				t.Errorf("%s: without %s a configuration is refused:\n%s", typeName, a.path, diags)
			}
		}
	}
}

// argument is one of a resource, which may be inside others: config has it with a value.
type argument struct {
	path   *tftypes.AttributePath
	config func(value any) providertest.Values
}

func defaultedTexts(attributes map[string]schema.Attribute) (all []argument) {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		at := tftypes.NewAttributePath().WithAttributeName(name)
		inside := map[string]schema.Attribute{}
		within := func(v providertest.Values) any { return v }
		switch a := attributes[name].(type) {
		case schema.StringAttribute:
			if a.Default != nil {
				all = append(all, argument{at, func(value any) providertest.Values { return providertest.Values{name: value} }})
			}
		case schema.SingleNestedAttribute:
			inside = a.Attributes
		case schema.ListNestedAttribute:
			inside, at = a.NestedObject.Attributes, at.WithElementKeyInt(0)
			within = func(v providertest.Values) any { return []any{v} }
		}
		for _, in := range defaultedTexts(inside) {
			path := tftypes.NewAttributePathWithSteps(slices.Concat(at.Steps(), in.path.Steps()))
			all = append(all, argument{path, func(value any) providertest.Values { return providertest.Values{name: within(in.config(value))} }})
		}
	}
	return all
}

func refuses(diags providertest.Diagnostics, at *tftypes.AttributePath) bool {
	return slices.ContainsFunc(diags, func(d *tfprotov6.Diagnostic) bool {
		return d.Severity == tfprotov6.DiagnosticSeverityError && d.Attribute != nil && d.Attribute.Equal(at)
	})
}
