package notification

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	core "github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

func (r *notificationResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = kit.NameIdentitySchema(r.Kind.Title)
}

// find finds the notification by its record in the store.
func (r *notificationResource) find(ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics) (m model) {
	name := r.ImportedName(ctx, req, isName, diags)
	if diags.HasError() {
		return m
	}
	var d core.Declaration
	reader, err := r.Connection.ReadNotifications(ctx)
	if err == nil {
		d, err = reader.Find(ctx, name)
	}
	if err != nil {
		diags.Append(connection.Error(reason.Importing(reason.Object("notification/"+name)), err))
	}
	return model{Base: kit.NewBase()}.declared(d)
}

func isName(name string) bool {
	problems := core.Declaration{Name: name}.Validate(time.LoadLocation)
	return !slices.ContainsFunc(problems, func(p problem.Problem) bool { return p.Attribute == "name" })
}
