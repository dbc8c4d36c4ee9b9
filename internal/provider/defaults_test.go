package provider_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/defaults"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	budgetresource "github.com/gpupool/terraform-provider-gpupool/internal/provider/budget"
	notificationresource "github.com/gpupool/terraform-provider-gpupool/internal/provider/notification"
	poolresource "github.com/gpupool/terraform-provider-gpupool/internal/provider/spotpool"
	stockresource "github.com/gpupool/terraform-provider-gpupool/internal/provider/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// The defaults of a schema are those of declarations, in both directions and by the same names.
// Zeros and empty values are no defaults.
func TestDefaultsAreTheDeclarations(t *testing.T) {
	t.Parallel()
	sameDefaults(t, budgetresource.NewResource(), budget.Declaration{}.WithDefaults())
	sameDefaults(t, poolresource.NewResource(), spotpool.Declaration{
		OnDemandFallback: &spotpool.OnDemandFallback{}, Nodes: &spotpool.Nodes{}, BootstrapToken: &spotpool.BootstrapToken{},
	}.WithDefaults())
	sameDefaults(t, notificationresource.NewResource(), notification.Declaration{}) // none
	sameDefaults(t, stockresource.NewResource(), struct {
		stockpool.Declaration
		WaitForRollout bool `json:"wait_for_rollout"` // only of the provider
	}{stockpool.Declaration{}.WithDefaults(), true})
}

func sameDefaults(t *testing.T, r resource.Resource, declaration any) {
	t.Helper()
	data, err := json.Marshal(declaration)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	delete(want, "published_at") // only of the record
	var resp resource.SchemaResponse
	r.Schema(context.Background(), resource.SchemaRequest{}, &resp)
	if diff := cmp.Diff(said(want), said(defaultsOf(t, resp.Schema.Attributes))); diff != "" {
		t.Errorf("the declaration's defaults, and the schema's:\n%s", diff)
	}
}

// defaultsOf are the defaults of attributes, as JSON has them. An object has its own
// and those of its attributes, which must be the same.
func defaultsOf(t *testing.T, attributes map[string]schema.Attribute) map[string]any {
	t.Helper()
	all := map[string]any{}
	for name, a := range attributes {
		if value := defaultOf(a); value != nil {
			all[name] = plain(t, value)
		}
		object, nested := a.(schema.SingleNestedAttribute)
		if !nested {
			continue
		}
		inside := defaultsOf(t, object.Attributes)
		if own, ok := all[name]; ok {
			if diff := cmp.Diff(said(own), said(inside)); diff != "" {
				t.Errorf("the default of %s, and those of its attributes:\n%s", name, diff)
			}
		}
		all[name] = inside
	}
	return all
}

func defaultOf(a schema.Attribute) attr.Value {
	ctx := context.Background()
	switch a := a.(type) {
	case schema.StringAttribute:
		if a.Default != nil {
			var resp defaults.StringResponse
			a.Default.DefaultString(ctx, defaults.StringRequest{}, &resp)
			return resp.PlanValue
		}
	case schema.Int64Attribute:
		if a.Default != nil {
			var resp defaults.Int64Response
			a.Default.DefaultInt64(ctx, defaults.Int64Request{}, &resp)
			return resp.PlanValue
		}
	case schema.NumberAttribute:
		if a.Default != nil {
			var resp defaults.NumberResponse
			a.Default.DefaultNumber(ctx, defaults.NumberRequest{}, &resp)
			return resp.PlanValue
		}
	case schema.BoolAttribute:
		if a.Default != nil {
			var resp defaults.BoolResponse
			a.Default.DefaultBool(ctx, defaults.BoolRequest{}, &resp)
			return resp.PlanValue
		}
	case schema.ListAttribute:
		if a.Default != nil {
			var resp defaults.ListResponse
			a.Default.DefaultList(ctx, defaults.ListRequest{}, &resp)
			return resp.PlanValue
		}
	case schema.SingleNestedAttribute:
		if a.Default != nil {
			var resp defaults.ObjectResponse
			a.Default.DefaultObject(ctx, defaults.ObjectRequest{}, &resp)
			return resp.PlanValue
		}
	}
	return nil
}

func plain(t *testing.T, v attr.Value) any {
	t.Helper()
	if v.IsNull() {
		return nil
	}
	switch v := v.(type) {
	case types.String:
		return v.ValueString()
	case types.Int64:
		return float64(v.ValueInt64())
	case types.Number:
		n, _ := v.ValueBigFloat().Float64()
		return n
	case types.Bool:
		return v.ValueBool()
	case types.List:
		all := make([]any, len(v.Elements()))
		for n, element := range v.Elements() {
			all[n] = plain(t, element)
		}
		return all
	case types.Object:
		all := map[string]any{}
		for name, field := range v.Attributes() {
			all[name] = plain(t, field)
		}
		return all
	}
	t.Fatalf("a default of the type %T", v)
	return nil
}

// said omits zeros and empty values.
func said(v any) any {
	fields, ok := v.(map[string]any)
	if !ok {
		switch v {
		case "", 0.0, false:
			return nil
		}
		return v
	}
	all := map[string]any{}
	for name, field := range fields {
		if list, ok := field.([]any); ok {
			if len(list) > 0 {
				all[name] = list
			}
			continue
		}
		if field = said(field); field != nil {
			all[name] = field
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
