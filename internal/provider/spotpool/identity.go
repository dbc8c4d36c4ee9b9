package spotpool

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
)

// identityModel is what tells one pool of an account from the others.
type identityModel struct {
	Region types.String `tfsdk:"region"`
	Name   types.String `tfsdk:"name"`
}

func (r *poolResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"region": identityschema.StringAttribute{
			OptionalForImport: true,
			Description:       "Region of the pool. Where it is left out, the provider's.",
		},
		"name": identityschema.StringAttribute{
			RequiredForImport: true,
			Description:       "Name of the pool.",
		},
	}}
}

// identify writes a pool's identity. Terraform before 1.12 has none, and the
// framework asks for it in every answer.
func identify(ctx context.Context, m model, identity *tfsdk.ResourceIdentity) diag.Diagnostics {
	if identity == nil {
		return nil
	}
	return identity.Set(ctx, identityModel{Region: m.Region, Name: m.Name})
}

// ImportState finds the pool by the store's record, or by the tags of its instances.
// Read then fills in what is observed.
func (r *poolResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	region, name := r.importTarget(ctx, req, resp)
	if resp.Diagnostics.HasError() {
		return
	}
	doing := fmt.Sprintf("Importing spot_pool/%s/%s", region, name)
	reader, err := r.connection.Reader(ctx)
	if err != nil {
		resp.Diagnostics.Append(connection.Error(doing, err))
		return
	}
	d, err := reader.Pools().Find(ctx, region, name)
	if err != nil {
		resp.Diagnostics.Append(connection.Error(doing, err))
		return
	}
	m := imported(d)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(identify(ctx, m, resp.Identity)...)
}

// importTarget reads which pool is meant.
func (r *poolResource) importTarget(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) (region, name string) {
	if req.ID != "" {
		region, name, ok := strings.Cut(req.ID, "/")
		if !ok || region == "" || name == "" || strings.Contains(name, "/") {
			resp.Diagnostics.AddError("Malformed import id",
				fmt.Sprintf("%q does not name a spot pool: write its region and its name, such as \"ap-singapore/train\".", req.ID))
		}
		return region, name
	}
	var identity identityModel
	resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
	if resp.Diagnostics.HasError() {
		return "", ""
	}
	if identity.Region.ValueString() == "" {
		region, err := r.connection.Region(ctx)
		if err != nil {
			resp.Diagnostics.Append(connection.Error("Importing spot_pool/"+identity.Name.ValueString(), err))
		}
		return region, identity.Name.ValueString()
	}
	if identity.Name.ValueString() == "" {
		resp.Diagnostics.AddAttributeError(path.Root("name"), "Malformed import identity", "The name of the spot pool is empty.")
	}
	return identity.Region.ValueString(), identity.Name.ValueString()
}
