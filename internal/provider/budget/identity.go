package budget

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
)

// identityModel is what tells one budget of a store from the others.
type identityModel struct {
	Name types.String `tfsdk:"name"`
}

func (r *budgetResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"name": identityschema.StringAttribute{
			RequiredForImport: true,
			Description:       "Name of the budget.",
		},
	}}
}

// identify writes a budget's identity. Terraform before 1.12 has none, and the
// framework asks for it in every answer.
func identify(ctx context.Context, m model, identity *tfsdk.ResourceIdentity) diag.Diagnostics {
	if identity == nil {
		return nil
	}
	return identity.Set(ctx, identityModel{Name: m.Name})
}

// ImportState finds the budget by its record in the store.
func (r *budgetResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	name := req.ID
	if name == "" {
		var identity identityModel
		resp.Diagnostics.Append(req.Identity.Get(ctx, &identity)...)
		name = identity.Name.ValueString()
	}
	if resp.Diagnostics.HasError() {
		return
	}
	if !isName(name) {
		resp.Diagnostics.AddError("Malformed import id", fmt.Sprintf("%q does not name a budget: write its name, such as \"team-a\".", name))
		return
	}
	d, err := r.find(ctx, name)
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Importing budget/"+name, err))
		return
	}
	m := model{Timeouts: timeouts.None()}.declared(d)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(identify(ctx, m, resp.Identity)...)
}

// isName asks the core what a budget may be called.
func isName(name string) bool {
	return !slices.ContainsFunc(core.Declaration{Name: name}.Validate(time.LoadLocation), func(p core.Problem) bool { return p.Attribute == "name" })
}

func (r *budgetResource) find(ctx context.Context, name string) (core.Declaration, error) {
	reader, err := r.connection.Reader(ctx)
	if err != nil {
		return core.Declaration{}, err
	}
	return reader.Budgets().Find(ctx, name)
}
