package spotpool

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// identityModel identifies a pool in its account.
type identityModel struct {
	Region types.String `tfsdk:"region"`
	Name   types.String `tfsdk:"name"`
}

func (r *poolResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"region": identityschema.StringAttribute{
			OptionalForImport: true,
			Description:       "Region of the pool. If omitted, the provider's region.",
		},
		"name": identityschema.StringAttribute{
			RequiredForImport: true,
			Description:       "Name of the pool.",
		},
	}}
}

// find finds the pool by the store's record, or by the tags of its instances. Read then
// fills in what is observed.
func (r *poolResource) find(ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics) (m model) {
	region, name := r.importTarget(ctx, req, diags)
	if diags.HasError() {
		return m
	}
	var d core.Declaration
	reader, err := r.Connection.ReadSpotPools(ctx)
	if err == nil {
		d, err = reader.Find(ctx, region, name)
	}
	if err != nil {
		diags.Append(connection.Error(reason.Importing(reason.Object("spot_pool/"+region+"/"+name)), err))
	}
	return imported(d)
}

// importTarget reads the pool to import.
func (r *poolResource) importTarget(ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics) (region, name string) {
	if req.ID != "" {
		region, name, ok := strings.Cut(req.ID, "/")
		if !ok || region == "" || name == "" || strings.Contains(name, "/") {
			diags.Append(problem.Error(path.Empty(), reason.MalformedPool(reason.NewForeign(req.ID))))
		}
		return region, name
	}
	var identity identityModel
	diags.Append(req.Identity.Get(ctx, &identity)...)
	if diags.HasError() {
		return "", ""
	}
	if identity.Region.ValueString() == "" {
		region, err := r.Connection.Region(ctx)
		if err != nil {
			diags.Append(connection.Error(reason.Importing(reason.Object("spot_pool/"+identity.Name.ValueString())), err))
		}
		return region, identity.Name.ValueString()
	}
	if identity.Name.ValueString() == "" {
		diags.Append(problem.Error(path.Root("name"), reason.IdentityIncomplete("name")))
	}
	return identity.Region.ValueString(), identity.Name.ValueString()
}
