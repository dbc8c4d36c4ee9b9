package notification

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
)

// identityModel identifies a notification in its store.
type identityModel struct {
	Name types.String `tfsdk:"name"`
}

func (r *notificationResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"name": identityschema.StringAttribute{RequiredForImport: true, Description: "Name of the notification."},
	}}
}

// find finds the notification by its record in the store.
func (r *notificationResource) find(ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics) (m model) {
	name := req.ID
	if name == "" {
		var identity identityModel
		diags.Append(req.Identity.Get(ctx, &identity)...)
		name = identity.Name.ValueString()
	}
	if diags.HasError() {
		return m
	}
	if !isName(name) {
		diags.AddError("Malformed import ID", fmt.Sprintf("%q is not the name of a notification: use a name such as \"team-a\".", name))
		return m
	}
	var d core.Declaration
	reader, err := r.Connection.ReadNotifications(ctx)
	if err == nil {
		d, err = reader.Find(ctx, name)
	}
	if err != nil {
		diags.Append(connection.Error("Importing notification/"+name, err))
	}
	return model{Base: kit.NewBase()}.declared(d)
}

func isName(name string) bool {
	problems := core.Declaration{Name: name}.Validate(time.LoadLocation)
	return !slices.ContainsFunc(problems, func(p problem.Problem) bool { return p.Attribute == "name" })
}
