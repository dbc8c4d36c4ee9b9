package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

type kubernetesModel struct {
	Host                  types.String `tfsdk:"host"`
	Username              types.String `tfsdk:"username"`
	Password              types.String `tfsdk:"password"`
	Insecure              types.Bool   `tfsdk:"insecure"`
	TLSServerName         types.String `tfsdk:"tls_server_name"`
	ClientCertificate     types.String `tfsdk:"client_certificate"`
	ClientKey             types.String `tfsdk:"client_key"`
	ClusterCACertificate  types.String `tfsdk:"cluster_ca_certificate"`
	ConfigPath            types.String `tfsdk:"config_path"`
	ConfigPaths           types.List   `tfsdk:"config_paths"`
	ConfigContext         types.String `tfsdk:"config_context"`
	ConfigContextAuthInfo types.String `tfsdk:"config_context_auth_info"`
	ConfigContextCluster  types.String `tfsdk:"config_context_cluster"`
	Token                 types.String `tfsdk:"token"`
	ProxyURL              types.String `tfsdk:"proxy_url"`
	Exec                  types.Object `tfsdk:"exec"`
}

type execModel struct {
	APIVersion types.String `tfsdk:"api_version"`
	Command    types.String `tfsdk:"command"`
	Args       types.List   `tfsdk:"args"`
	Env        types.Map    `tfsdk:"env"`
}

func kubernetesAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"host": optionalString("Address of the API server, such as `https://10.0.0.1:6443`. Without a scheme, it is `https` with a certificate or " +
			"`insecure`, and `http` otherwise. No credentials are sent by `http`. Also `KUBE_HOST`."),
		"username": optionalString("User of HTTP basic authentication. Also `KUBE_USER`."),
		"password": optionalSecret("Password of HTTP basic authentication. Also `KUBE_PASSWORD`."),
		"insecure": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether to skip the verification of the API server's certificate. Also `KUBE_INSECURE`. Default: `false`.",
		},
		"tls_server_name": optionalString("Name that the API server's certificate is verified against. If omitted, that of the host. Also " +
			"`KUBE_TLS_SERVER_NAME`."),
		"client_certificate": optionalString("Client certificate, as PEM. Also `KUBE_CLIENT_CERT_DATA`."),
		"client_key":         optionalSecret("Key of the client certificate, as PEM. Also `KUBE_CLIENT_KEY_DATA`."),
		"cluster_ca_certificate": optionalString("Certificates of the authorities that the API server's certificate is verified against, as PEM. Also " +
			"`KUBE_CLUSTER_CA_CERT_DATA`."),
		"config_path": optionalString("Path of a kubeconfig file; `~` is the home directory. Also `KUBE_CONFIG_PATH`."),
		"config_paths": schema.ListAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Paths of several kubeconfig files, instead of `config_path`; the first one wins. Also `KUBE_CONFIG_PATHS`, separated by " +
				"`:` (on Windows by `;`).",
		},
		"config_context":           optionalString("Context in the kubeconfig. If omitted, the current one. Also `KUBE_CTX`."),
		"config_context_auth_info": optionalString("User in the kubeconfig, instead of the context's. Also `KUBE_CTX_AUTH_INFO`."),
		"config_context_cluster":   optionalString("Cluster in the kubeconfig, instead of the context's. Also `KUBE_CTX_CLUSTER`."),
		"token":                    optionalSecret("Token of a service account or of a user. Also `KUBE_TOKEN`."),
		"proxy_url":                optionalString("URL of the proxy through which the API server is reached. Also `KUBE_PROXY_URL`."),
		"exec": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Command that prints credentials, which are asked for again once they expire.",
			Attributes: map[string]schema.Attribute{
				"api_version": requiredString("Version of the command's answer, such as `client.authentication.k8s.io/v1`."),
				"command":     requiredString("The command."),
				"args": schema.ListAttribute{
					Optional: true, ElementType: types.StringType,
					MarkdownDescription: "Arguments of the command.",
				},
				"env": schema.MapAttribute{
					Optional: true, ElementType: types.StringType,
					MarkdownDescription: "Additional environment variables of the command.",
				},
			},
		},
	}
}

func kubernetesConfig(ctx context.Context, argument types.Object, diags *diag.Diagnostics) kubeclient.Config {
	var m *kubernetesModel
	diags.Append(objectAs(ctx, argument, &m)...)
	if m == nil {
		return kubeclient.Config{}
	}
	c := kubeclient.Config{
		ConfigPath: m.ConfigPath.ValueString(), ConfigPaths: values.Texts(m.ConfigPaths),
		ConfigContext: m.ConfigContext.ValueString(), ConfigContextAuthInfo: m.ConfigContextAuthInfo.ValueString(),
		ConfigContextCluster: m.ConfigContextCluster.ValueString(),
		Host:                 m.Host.ValueString(), TLSServerName: m.TLSServerName.ValueString(), Insecure: m.Insecure.ValueBool(),
		ClusterCACertificate: m.ClusterCACertificate.ValueString(), ProxyURL: m.ProxyURL.ValueString(),
		Username: m.Username.ValueString(), Password: m.Password.ValueString(), Token: m.Token.ValueString(),
		ClientCertificate: m.ClientCertificate.ValueString(), ClientKey: m.ClientKey.ValueString(),
		Exec: m.exec(ctx, diags),
	}
	at := path.Root("kubernetes")
	for _, pair := range []struct {
		both   bool
		second reason.Word
		first  reason.Word
	}{
		{c.ConfigPath != "" && len(c.ConfigPaths) > 0, "config_paths", "config_path"},
		{c.Exec != nil && c.Token != "", "token", "exec"},
		{c.Insecure && c.ClusterCACertificate != "", "cluster_ca_certificate", "insecure"},
	} {
		if pair.both {
			diags.Append(problem.Error(at.AtName(string(pair.second)), reason.KubernetesAmbiguous(pair.first, pair.second)))
		}
	}
	return c
}

func (m *kubernetesModel) exec(ctx context.Context, diags *diag.Diagnostics) *kubeclient.Exec {
	var e *execModel
	diags.Append(objectAs(ctx, m.Exec, &e)...)
	if e == nil {
		return nil
	}
	return &kubeclient.Exec{
		APIVersion: e.APIVersion.ValueString(), Command: e.Command.ValueString(), Args: values.Texts(e.Args), Env: values.TextMap(e.Env),
	}
}
