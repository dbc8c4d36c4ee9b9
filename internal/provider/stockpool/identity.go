package stockpool

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

type identityModel struct {
	Namespace types.String `tfsdk:"namespace"`
	Name      types.String `tfsdk:"name"`
}

func (r *stockResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"namespace": identityschema.StringAttribute{RequiredForImport: true, Description: "Namespace of the stock pool."},
		"name":      identityschema.StringAttribute{RequiredForImport: true, Description: "Name of the stock pool."},
	}}
}

// imported finds the pool by its record in the store, or else a Deployment of that name in the
// cluster. The next apply takes that over, and its plan shows the changes.
func (r *stockResource) imported(ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics) (m model) {
	namespace, name, _ := strings.Cut(req.ID, "/")
	if req.ID == "" {
		var identity identityModel
		diags.Append(req.Identity.Get(ctx, &identity)...)
		namespace, name = identity.Namespace.ValueString(), identity.Name.ValueString()
	}
	if diags.HasError() {
		return m
	}
	if !isName(namespace, name) {
		diags.Append(problem.Error(path.Empty(), reason.MalformedStockPool(reason.NewForeign(req.ID))))
		return m
	}
	d, err := r.find(ctx, namespace, name)
	if err != nil {
		diags.Append(connection.Error(reason.Importing(reason.Object("stock_pool/"+namespace+"/"+name)), err))
	}
	return model{Record: kit.NewRecord()}.declared(d)
}

func isName(namespace, name string) bool {
	for _, p := range (core.Declaration{Namespace: namespace, Name: name}).Validate() {
		if p.Attribute == "name" || p.Attribute == "namespace" {
			return false
		}
	}
	return true
}

func (r *stockResource) find(ctx context.Context, namespace, name string) (core.Declaration, error) {
	reader, err := r.Connection.ReadStockPools(ctx)
	if err != nil {
		return core.Declaration{}, err
	}
	return reader.Find(ctx, namespace, name)
}
