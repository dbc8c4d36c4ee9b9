package kit

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// NameIdentity identifies an object in its store.
type NameIdentity struct {
	Name types.String `tfsdk:"name"`
}

// NameIdentitySchema is the schema of NameIdentity for objects with a title, such as "budget".
func NameIdentitySchema(title string) identityschema.Schema {
	return identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"name": identityschema.StringAttribute{RequiredForImport: true, Description: "Name of the " + title + "."},
	}}
}

// ImportedName returns the name that an import gives, as its ID or as a NameIdentity. It adds an error
// if the name is invalid.
func (r *Resource[M, D, S, F]) ImportedName(ctx context.Context, req resource.ImportStateRequest, valid func(string) bool, diags *diag.Diagnostics) string {
	name := req.ID
	if name == "" {
		var identity NameIdentity
		diags.Append(req.Identity.Get(ctx, &identity)...)
		name = identity.Name.ValueString()
	}
	if !diags.HasError() && !valid(name) {
		diags.Append(problem.Error(path.Empty(), reason.MalformedName(reason.NewForeign(name), reason.Word(r.Kind.Title))))
	}
	return name
}

// PlanDestroyRecorded refuses to destroy an object that the store knows nothing of.
func (r *Resource[M, D, S, F]) PlanDestroyRecorded(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m M
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || !r.Connection.StoreReady() {
		return
	}
	d := r.Kind.Declaration(m, &resp.Diagnostics)
	state, err := r.Kind.View(ctx, d)
	if err == nil && r.Kind.Found(state) == (Found{}) {
		err = r.ErrLost(ctx, d, req.Private)
	}
	if err != nil {
		resp.Diagnostics.Append(connection.Error(reason.Planning(reason.Object(d.Object())), err))
	}
}

// WarnIfTaken warns of an existing object of that name, which is why a creation would be refused. It is
// not an error, since a replacement destroys that object first, and Terraform plans its creation like any
// other. An apply reports other refusals.
func (r *Resource[M, D, S, F]) WarnIfTaken(d D, refusal error, diags *diag.Diagnostics) {
	var exists *record.ExistsError
	if errors.As(refusal, &exists) {
		diags.Append(problem.Warning(path.Empty(), reason.TakenUnlessReplaced(reason.Word(r.Kind.Title), reason.Word(d.Key()), reason.Foreign(exists.Error()))))
	}
}
