package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

type model struct {
	Region               types.String `tfsdk:"region"`
	SecretID             types.String `tfsdk:"secret_id"`
	SecretKey            types.String `tfsdk:"secret_key"`
	SecurityToken        types.String `tfsdk:"security_token"`
	Profile              types.String `tfsdk:"profile"`
	SharedCredentialsDir types.String `tfsdk:"shared_credentials_dir"`
	CamRoleName          types.String `tfsdk:"cam_role_name"`
	AssumeRole           types.Object `tfsdk:"assume_role"`
	WebIdentity          types.Object `tfsdk:"assume_role_with_web_identity"`
	EnablePodOIDC        types.Bool   `tfsdk:"enable_pod_oidc"`
	AllowedAccountIDs    types.List   `tfsdk:"allowed_account_ids"`
	ForbiddenAccountIDs  types.List   `tfsdk:"forbidden_account_ids"`
	Protocol             types.String `tfsdk:"protocol"`
	Domain               types.String `tfsdk:"domain"`
	Currency             types.String `tfsdk:"currency"`
	Endpoint             types.String `tfsdk:"endpoint"`
	Kubernetes           types.Object `tfsdk:"kubernetes"`
	Store                types.Object `tfsdk:"store"`
}

type assumeRole struct {
	RoleARN         types.String `tfsdk:"role_arn"`
	SessionName     types.String `tfsdk:"session_name"`
	SessionDuration types.Int64  `tfsdk:"session_duration"`
	Policy          types.String `tfsdk:"policy"`
	ExternalID      types.String `tfsdk:"external_id"`
	SourceIdentity  types.String `tfsdk:"source_identity"`
	SerialNumber    types.String `tfsdk:"serial_number"`
	TokenCode       types.String `tfsdk:"token_code"`
}

type webIdentity struct {
	ProviderID           types.String `tfsdk:"provider_id"`
	WebIdentityToken     types.String `tfsdk:"web_identity_token"`
	WebIdentityTokenFile types.String `tfsdk:"web_identity_token_file"`
	RoleARN              types.String `tfsdk:"role_arn"`
	SessionName          types.String `tfsdk:"session_name"`
	SessionDuration      types.Int64  `tfsdk:"session_duration"`
}

type storeModel struct {
	Directory           types.String `tfsdk:"directory"`
	KubernetesNamespace types.String `tfsdk:"kubernetes_namespace"`
}

// read merges the arguments with the environment, which is only read here.
func (p *gpupoolProvider) read(ctx context.Context, config tfsdk.Config) (connection.Settings, diag.Diagnostics) {
	var m model
	diags := config.Get(ctx, &m)
	problem.Report(&diags, problem.NullElements(config.Raw), diag.SeverityError)
	s := connection.Settings{PollInterval: p.pollInterval, Unknown: unknownArguments(config.Raw), Agent: "terraform-provider-gpupool/" + p.version}
	s.Cloud = tencent.Config{
		Region: m.Region.ValueString(), SecretID: m.SecretID.ValueString(), SecretKey: m.SecretKey.ValueString(),
		SecurityToken: m.SecurityToken.ValueString(), Profile: m.Profile.ValueString(),
		SharedCredentialsDir: m.SharedCredentialsDir.ValueString(), CamRoleName: m.CamRoleName.ValueString(),
		EnablePodOIDC: m.EnablePodOIDC.ValueBool(), Protocol: m.Protocol.ValueString(), Domain: m.Domain.ValueString(),
		Endpoint: m.Endpoint.ValueString(), Currency: m.Currency.ValueString(),
	}
	if diags.HasError() {
		return s, diags
	}
	// An argument that is unknown does not keep the others from being used.
	if len(s.Unknown.Cloud()) == 0 {
		s.Cloud.AllowedAccountIDs = values.Texts(m.AllowedAccountIDs)
		s.Cloud.ForbiddenAccountIDs = values.Texts(m.ForbiddenAccountIDs)
		s.Cloud.AssumeRole = m.assumeRole(ctx, &diags)
		s.Cloud.AssumeRoleWithWebIdentity = m.webIdentity(ctx, &diags)
		s.Cloud = s.Cloud.WithEnvironment(p.getenv)
		if err := s.Cloud.CheckCurrency(); err != nil {
			diags.Append(problem.Error(path.Root("currency"), reason.InvalidCurrency(reason.Failure(err))))
		}
		if host := s.Cloud.AllowedPlainHost(); host != "" {
			diags.Append(problem.Warning(path.Root("protocol"), reason.PlainHTTP(reason.Word(host))))
		}
	}
	if s.Cloud.RequestClient == "" {
		s.Cloud.RequestClient = "terraform-provider-gpupool-" + p.version
	}
	if len(s.Unknown.Cluster()) == 0 {
		s.Kubernetes = kubernetesConfig(ctx, m.Kubernetes, &diags).WithEnvironment(p.getenv)
		s.Kubeconfig = p.getenv("KUBECONFIG")
	}
	if !slices.Contains(s.Unknown, connection.StoreArgument) {
		s.Store = p.storeLocation(ctx, m.Store, &diags)
	}
	return s, diags
}

func unknownArguments(raw tftypes.Value) connection.UnknownArguments {
	var arguments map[string]tftypes.Value
	if raw.IsFullyKnown() || raw.As(&arguments) != nil {
		return nil
	}
	var names connection.UnknownArguments
	for name, value := range arguments {
		if !value.IsFullyKnown() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (m model) assumeRole(ctx context.Context, diags *diag.Diagnostics) tencent.AssumeRole {
	var r *assumeRole
	diags.Append(objectAs(ctx, m.AssumeRole, &r)...)
	if r == nil {
		return tencent.AssumeRole{}
	}
	return tencent.AssumeRole{
		RoleARN: r.RoleARN.ValueString(), SessionName: r.SessionName.ValueString(),
		SessionDuration: int(r.SessionDuration.ValueInt64()), Policy: r.Policy.ValueString(),
		ExternalID: r.ExternalID.ValueString(), SourceIdentity: r.SourceIdentity.ValueString(),
		SerialNumber: r.SerialNumber.ValueString(), TokenCode: r.TokenCode.ValueString(),
	}
}

func (m model) webIdentity(ctx context.Context, diags *diag.Diagnostics) tencent.WebIdentity {
	var w *webIdentity
	diags.Append(objectAs(ctx, m.WebIdentity, &w)...)
	if w == nil {
		return tencent.WebIdentity{}
	}
	return tencent.WebIdentity{
		ProviderID: w.ProviderID.ValueString(), WebIdentityToken: w.WebIdentityToken.ValueString(),
		WebIdentityTokenFile: w.WebIdentityTokenFile.ValueString(), RoleARN: w.RoleARN.ValueString(),
		SessionName: w.SessionName.ValueString(), SessionDuration: int(w.SessionDuration.ValueInt64()),
	}
}

// storeLocation is the store argument, else the environment's, else the default in
// the working directory.
func (p *gpupoolProvider) storeLocation(ctx context.Context, argument types.Object, diags *diag.Diagnostics) store.Location {
	var s *storeModel
	diags.Append(objectAs(ctx, argument, &s)...)
	var location store.Location
	var err error
	switch {
	case s == nil:
		location, err = store.Resolve("", p.getenv)
	case s.Directory.IsNull() == s.KubernetesNamespace.IsNull():
		diags.Append(problem.Error(path.Root("store"), reason.StoreAmbiguous("directory", "kubernetes_namespace")))
		return location
	case s.KubernetesNamespace.IsNull():
		location, err = store.InDirectory(s.Directory.ValueString())
	default:
		location, err = store.InNamespace(s.KubernetesNamespace.ValueString())
	}
	if err != nil {
		diags.Append(problem.Error(path.Root("store"), reason.StoreUnusable(reason.Failure(err))))
		return location
	}
	if location.InJob(p.getenv) {
		diags.Append(problem.Warning(path.Root("store"), reason.StoreInJob(reason.Word(location.String()), store.EnvironmentVariable)))
	}
	return location
}

// objectAs reads an object into the pointer that target points to; null leaves
// it nil.
func objectAs[T any](ctx context.Context, object types.Object, target **T) diag.Diagnostics {
	if object.IsNull() || object.IsUnknown() {
		return nil
	}
	*target = new(T)
	return object.As(ctx, *target, basetypes.ObjectAsOptions{})
}
