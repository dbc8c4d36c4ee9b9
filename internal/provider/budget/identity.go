package budget

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

func (r *budgetResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = kit.NameIdentitySchema(r.Kind.Title)
}

// find finds the budget by its record in the store.
func (r *budgetResource) find(ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics) (m model) {
	name := r.ImportedName(ctx, req, isName, diags)
	if diags.HasError() {
		return m
	}
	var d core.Declaration
	reader, err := r.Connection.ReadBudgets(ctx)
	if err == nil {
		d, err = reader.Find(ctx, name)
	}
	if err != nil {
		diags.Append(connection.Error(reason.Importing(reason.Object("budget/"+name)), err))
	}
	return model{Record: kit.NewRecord()}.declared(d)
}

func isName(name string) bool {
	return !slices.ContainsFunc(core.Declaration{Name: name}.Validate(time.LoadLocation), func(p core.Problem) bool { return p.Attribute == "name" })
}
