package stockpool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// identityModel is what tells one stock pool of a store from the others.
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

// identify writes a pool's identity. Terraform before 1.12 has none, and the framework
// asks for it in every answer.
func identify(ctx context.Context, m model, identity *tfsdk.ResourceIdentity) diag.Diagnostics {
	if identity == nil {
		return nil
	}
	return identity.Set(ctx, identityModel{Namespace: m.Namespace, Name: m.Name})
}

// ImportState finds the pool by its record in the store, or else a Deployment of that
// name in the cluster, which the next apply takes over: the plan shows what it changes.
func (r *stockResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	namespace, name, _ := strings.Cut(req.ID, "/")
	if req.ID == "" {
		var identity identityModel
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
		namespace, name = identity.Namespace.ValueString(), identity.Name.ValueString()
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if !isName(namespace, name) {
		resp.Diagnostics.AddError("Malformed import id", fmt.Sprintf("%q does not name a stock pool: write NAMESPACE/NAME, such as "+
			"\"default/pool-g1\".", req.ID))
		return
	}
	d, err := r.find(ctx, namespace, name)
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Importing stock_pool/"+namespace+"/"+name, err))
		return
	}
	m := model{Timeouts: timeouts.None()}.declared(d)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(identify(ctx, m, resp.Identity)...)
}

// isName asks the core what a stock pool may be called.
func isName(namespace, name string) bool {
	return !slices.ContainsFunc(core.Declaration{Namespace: namespace, Name: name}.Validate(), func(p core.Problem) bool {
		return p.Attribute == "name" || p.Attribute == "namespace"
	})
}

func (r *stockResource) find(ctx context.Context, namespace, name string) (core.Declaration, error) {
	reader, err := r.connection.Reader(ctx)
	if err != nil {
		return core.Declaration{}, err
	}
	return reader.Stock().Find(ctx, namespace, name)
}
