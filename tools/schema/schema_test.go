package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider"
)

// The provider's own schemas come out whole, in the form that readers of
// Terraform's output accept, with the identities that Terraform 1.11 leaves out.
func TestReadProvider(t *testing.T) {
	t.Parallel()
	schemas, err := read(t.Context(), provider.NewServer("test")())
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(schemas)
	if err != nil {
		t.Fatal(err)
	}
	var decoded tfjson.ProviderSchemas
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		t.Fatal(err)
	}
	gpupool := decoded.Schemas[address]
	name := gpupool.ResourceSchemas["gpupool_spot_pool"].Block.Attributes["name"]
	if !name.Required || name.Description == "" {
		t.Errorf("gpupool_spot_pool.name = %+v; want a required and described attribute", name)
	}
	hours := gpupool.Functions["gpu_hours"]
	if hours == nil || hours.Summary == "" || len(hours.Parameters) != 2 || hours.Parameters[0].Description == "" || hours.ReturnType != cty.String {
		t.Errorf("gpu_hours = %+v; want a described function of two parameters", hours)
	}
	if count := gpupool.Functions["gpu_count"]; count == nil || count.VariadicParameter == nil {
		t.Errorf("gpu_count = %+v; want a variadic function", count)
	}
	for _, dataSource := range []string{"gpupool_spot_pool", "gpupool_spot_offers", "gpupool_budget_usage"} {
		if gpupool.DataSourceSchemas[dataSource] == nil {
			t.Errorf("no data source %s", dataSource)
		}
	}
	if gpupool.ResourceIdentitySchemas["gpupool_spot_pool"].Attributes["name"] == nil {
		t.Error("the identity of gpupool_spot_pool lacks its name")
	}
	if gpupool.ConfigSchema.Block.Attributes["region"] == nil {
		t.Error("the provider's configuration lacks region")
	}
}

// The expected text is what Terraform 1.11 prints for such a schema.
func TestSchemaAsTerraformPrintsIt(t *testing.T) {
	t.Parallel()
	got := schema(&tfprotov6.Schema{
		Version: 3,
		Block: &tfprotov6.SchemaBlock{
			Description:     "A *thing*.",
			DescriptionKind: tfprotov6.StringKindMarkdown,
			Attributes: []*tfprotov6.SchemaAttribute{
				{Name: "name", Type: tftypes.String, Required: true, Description: "Plain."},
				{Name: "secret", Type: tftypes.Map{ElementType: tftypes.Number}, Optional: true, Sensitive: true, WriteOnly: true},
				{Name: "zones", Computed: true, Deprecated: true, NestedType: &tfprotov6.SchemaObject{
					Nesting: tfprotov6.SchemaObjectNestingModeList,
					Attributes: []*tfprotov6.SchemaAttribute{
						{Name: "count", Type: tftypes.Number, Computed: true},
					},
				}},
			},
			BlockTypes: []*tfprotov6.SchemaNestedBlock{{
				TypeName: "limit",
				Nesting:  tfprotov6.SchemaNestedBlockNestingModeSet,
				MinItems: 1,
				MaxItems: 2,
				Block:    &tfprotov6.SchemaBlock{},
			}},
		},
	})
	const want = `{
		"version": 3,
		"block": {
			"attributes": {
				"name": {"type": "string", "description": "Plain.", "description_kind": "plain", "required": true},
				"secret": {"type": ["map", "number"], "description_kind": "plain", "optional": true, "sensitive": true, "write_only": true},
				"zones": {
					"nested_type": {
						"attributes": {"count": {"type": "number", "description_kind": "plain", "computed": true}},
						"nesting_mode": "list"
					},
					"description_kind": "plain", "deprecated": true, "computed": true
				}
			},
			"block_types": {
				"limit": {"nesting_mode": "set", "block": {"description_kind": "plain"}, "min_items": 1, "max_items": 2}
			},
			"description": "A *thing*.",
			"description_kind": "markdown"
		}
	}`
	encoded, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(t, want), tree(t, string(encoded))); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

func tree(t *testing.T, text string) (decoded any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}
