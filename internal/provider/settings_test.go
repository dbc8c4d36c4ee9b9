package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// configure runs Configure over arguments given as JSON.
func configure(t *testing.T, environment map[string]string, arguments string) (connection.Settings, diag.Diagnostics) {
	t.Helper()
	p := &gpupoolProvider{version: "1.2.3", getenv: func(name string) string { return environment[name] }}
	var resp provider.SchemaResponse
	p.Schema(t.Context(), provider.SchemaRequest{}, &resp)
	of := resp.Schema.Type().TerraformType(t.Context())
	raw, err := (&tfprotov6.DynamicValue{JSON: []byte(arguments)}).Unmarshal(of)
	if err != nil {
		t.Fatal(err)
	}
	return p.read(t.Context(), tfsdk.Config{Raw: raw, Schema: resp.Schema})
}

// Every argument and every environment variable of the account arrives where it
// belongs, and an argument beats a variable.
func TestArgumentsAndEnvironment(t *testing.T) {
	t.Parallel()
	everything := `{
		"region": "ap-tokyo", "secret_id": "id", "secret_key": "key", "security_token": "token", "profile": "work",
		"shared_credentials_dir": "/creds", "cam_role_name": "role", "enable_pod_oidc": true,
		"allowed_account_ids": ["1", "2"], "forbidden_account_ids": ["3"], "protocol": "HTTP", "domain": "example.com",
		"endpoint": "http://127.0.0.1:1", "currency": "USD",
		"assume_role": {"role_arn": "arn", "session_name": "name", "session_duration": 60, "policy": "{}", "external_id": "ext",
			"source_identity": "me", "serial_number": "mfa", "token_code": "123"},
		"assume_role_with_web_identity": {"provider_id": "idp", "web_identity_token": "jwt", "web_identity_token_file": "/jwt",
			"role_arn": "web", "session_name": "web name", "session_duration": 70}
	}`
	environment := map[string]string{
		"TENCENTCLOUD_REGION": "ap-seoul", "TENCENTCLOUD_SECRET_ID": "env-id", "TENCENTCLOUD_SECRET_KEY": "env-key",
		"TENCENTCLOUD_SECURITY_TOKEN": "env-token", "TENCENTCLOUD_PROFILE": "env-work", "TENCENTCLOUD_SHARED_CREDENTIALS_DIR": "/env",
		"TENCENTCLOUD_CAM_ROLE_NAME": "env-role", "TENCENTCLOUD_PROTOCOL": "HTTPS", "TENCENTCLOUD_DOMAIN": "env.example.com",
		"GPUPOOL_ENDPOINT": "http://127.0.0.1:2", "GPUPOOL_CURRENCY": "CNY", "GPUPOOL_METADATA_ENDPOINT": "http://127.0.0.1:3",
	}
	arguments := tencent.Config{
		Region: "ap-tokyo", SecretID: "id", SecretKey: "key", SecurityToken: "token", Profile: "work", SharedCredentialsDir: "/creds",
		CamRoleName: "role", EnablePodOIDC: true, AllowedAccountIDs: []string{"1", "2"}, ForbiddenAccountIDs: []string{"3"},
		Protocol: "HTTP", Domain: "example.com", Endpoint: "http://127.0.0.1:1", Currency: "USD",
		AssumeRole: tencent.AssumeRole{
			RoleARN: "arn", SessionName: "name", SessionDuration: 60, Policy: "{}", ExternalID: "ext",
			SourceIdentity: "me", SerialNumber: "mfa", TokenCode: "123",
		},
		AssumeRoleWithWebIdentity: tencent.WebIdentity{
			ProviderID: "idp", WebIdentityToken: "jwt", WebIdentityTokenFile: "/jwt", RoleARN: "web", SessionName: "web name", SessionDuration: 70,
		},
		RequestClient: "terraform-provider-gpupool-1.2.3",
	}
	both := arguments
	both.MetadataEndpoint = "http://127.0.0.1:3"
	variables := tencent.Config{
		Region: "ap-seoul", SecretID: "env-id", SecretKey: "env-key", SecurityToken: "env-token", Profile: "env-work",
		SharedCredentialsDir: "/env", CamRoleName: "env-role", Protocol: "HTTPS", Domain: "env.example.com",
		Endpoint: "http://127.0.0.1:2", Currency: "CNY", MetadataEndpoint: "http://127.0.0.1:3", RequestClient: "terraform-provider-gpupool-1.2.3",
	}
	for name, test := range map[string]struct {
		environment map[string]string
		arguments   string
		want        tencent.Config
	}{
		"arguments":                 {nil, everything, arguments},
		"environment":               {environment, `{}`, variables},
		"arguments and environment": {environment, everything, both},
		"neither":                   {nil, `{}`, tencent.Config{RequestClient: "terraform-provider-gpupool-1.2.3"}},
	} {
		got, diags := configure(t, test.environment, test.arguments)
		if len(diags) > 0 {
			t.Errorf("%s: %v", name, diags)
		}
		if diff := cmp.Diff(test.want, got.Cloud, cmpopts.IgnoreUnexported(tencent.Config{})); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// The argument kubernetes has the official provider's names and variables, and arguments are
// not mixed with environment variables.
func TestKubernetesArgumentsAndEnvironment(t *testing.T) {
	t.Parallel()
	everything := `{"kubernetes": {
		"host": "https://10.0.0.1:6443", "username": "me", "password": "secret", "insecure": true, "tls_server_name": "api",
		"client_certificate": "CERT", "client_key": "KEY", "cluster_ca_certificate": null, "config_path": "/config", "config_context": "gpu",
		"config_context_auth_info": "user", "config_context_cluster": "cluster", "token": null, "proxy_url": "http://proxy:1",
		"exec": {"api_version": "client.authentication.k8s.io/v1", "command": "login", "args": ["-v"], "env": {"A": "b"}}
	}}`
	arguments := kubeclient.Config{
		Host: "https://10.0.0.1:6443", Username: "me", Password: "secret", Insecure: true, TLSServerName: "api",
		ClientCertificate: "CERT", ClientKey: "KEY", ConfigPath: "/config", ConfigContext: "gpu", ConfigContextAuthInfo: "user",
		ConfigContextCluster: "cluster", ProxyURL: "http://proxy:1",
		Exec: &kubeclient.Exec{APIVersion: "client.authentication.k8s.io/v1", Command: "login", Args: []string{"-v"}, Env: map[string]string{"A": "b"}},
	}
	environment := map[string]string{
		"KUBE_HOST": "https://10.0.0.2", "KUBE_USER": "them", "KUBE_PASSWORD": "word", "KUBE_INSECURE": "true", "KUBE_TLS_SERVER_NAME": "name",
		"KUBE_CLIENT_CERT_DATA": "EC", "KUBE_CLIENT_KEY_DATA": "EK", "KUBE_CLUSTER_CA_CERT_DATA": "CA", "KUBE_CONFIG_PATH": "/env",
		"KUBE_CTX": "ctx", "KUBE_CTX_AUTH_INFO": "info", "KUBE_CTX_CLUSTER": "c", "KUBE_TOKEN": "t", "KUBE_PROXY_URL": "http://p:2",
		"KUBECONFIG": "/not/read",
	}
	variables := kubeclient.Config{
		Host: "https://10.0.0.2", Username: "them", Password: "word", Insecure: true, TLSServerName: "name", ClientCertificate: "EC", ClientKey: "EK",
		ClusterCACertificate: "CA", ConfigPath: "/env", ConfigContext: "ctx", ConfigContextAuthInfo: "info", ConfigContextCluster: "c",
		Token: "t", ProxyURL: "http://p:2",
	}
	for name, test := range map[string]struct {
		environment map[string]string
		arguments   string
		want        kubeclient.Config
	}{
		"arguments":     {nil, everything, arguments},
		"environment":   {environment, `{}`, variables},
		"several files": {nil, `{"kubernetes": {"config_paths": ["/a", "/b"]}}`, kubeclient.Config{ConfigPaths: []string{"/a", "/b"}}},
		"an argument beats a variable": {
			map[string]string{"KUBE_CONFIG_PATH": "/env", "KUBE_HOST": "https://10.0.0.2", "KUBE_TOKEN": "t"},
			`{"kubernetes": {"host": "https://10.0.0.1", "token": "mine"}}`, kubeclient.Config{Host: "https://10.0.0.1", Token: "mine"},
		},
		"neither": {nil, `{}`, kubeclient.Config{}},
	} {
		got, diags := configure(t, test.environment, test.arguments)
		if len(diags) > 0 {
			t.Errorf("%s: %v", name, diags)
		}
		if diff := cmp.Diff(test.want, got.Kubernetes, cmpopts.IgnoreUnexported(kubeclient.Config{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestAmbiguousKubernetesArguments(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`{"config_path": "/a", "config_paths": ["/b"]}`:                                  "config_path or config_paths",
		`{"token": "t", "exec": {"api_version": "v1", "command": "c"}}`:                  "exec or token",
		`{"host": "https://10.0.0.1", "insecure": true, "cluster_ca_certificate": "CA"}`: "insecure or cluster_ca_certificate",
	} {
		if _, diags := configure(t, nil, `{"kubernetes": `+arguments+`}`); len(diags) != 1 || !strings.Contains(diags[0].Detail(), want) {
			t.Errorf("%s: %v", arguments, diags)
		}
	}
}

// An element without a value is named, and not taken for a bug of the provider.
func TestNullElementsOfArguments(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`{"allowed_account_ids": ["1", null]}`:                                                      "allowed_account_ids[1]",
		`{"kubernetes": {"config_paths": [null]}}`:                                                  "kubernetes.config_paths[0]",
		`{"kubernetes": {"exec": {"api_version": "v1", "command": "c", "env": {"A": null}}}}`:       `kubernetes.exec.env["A"]`,
		`{"kubernetes": {"exec": {"api_version": "v1", "command": "c", "args": ["a", null, "b"]}}}`: "kubernetes.exec.args[1]",
	} {
		if _, diags := configure(t, nil, arguments); len(diags) != 1 || diags[0].Summary() != want+": the element is null" {
			t.Errorf("%s: %v", arguments, diags)
		}
	}
}

func TestWhereTheStoreIs(t *testing.T) {
	t.Parallel()
	ci := map[string]string{"CI": "true"}
	for name, test := range map[string]struct {
		environment map[string]string
		arguments   string
		store, warn string
	}{
		"nowhere said":         {nil, `{}`, "directory:.gpupool", ""},
		"environment":          {map[string]string{"GPUPOOL_STORE": "directory:/srv/pools"}, `{}`, "directory:/srv/pools", ""},
		"argument":             {map[string]string{"GPUPOOL_STORE": "directory:/srv/pools"}, `{"store": {"directory": "here"}}`, "directory:here", ""},
		"in a pipeline":        {ci, `{}`, "directory:.gpupool", "Store may be lost"},
		"kept by the pipeline": {ci, `{"store": {"directory": "/srv/pools"}}`, "directory:/srv/pools", ""},
		"in a cluster":         {ci, `{"store": {"kubernetes_namespace": "gpupool-system"}}`, "kubernetes:gpupool-system", ""},
		"only a cluster":       {nil, `{"kubernetes": {"config_path": "~/.kube/config"}}`, "directory:.gpupool", ""},
	} {
		got, diags := configure(t, test.environment, test.arguments)
		if got.Store.String() != test.store {
			t.Errorf("%s: the store is %s, not %s", name, got.Store, test.store)
		}
		var warned string
		for _, d := range diags {
			warned += d.Summary()
		}
		if warned != test.warn || diags.HasError() {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

func TestUnknownArgumentsAreNamed(t *testing.T) {
	t.Parallel()
	p := &gpupoolProvider{getenv: func(string) string { return "" }}
	s := providerSchema()
	of, ok := s.Type().TerraformType(t.Context()).(tftypes.Object)
	if !ok {
		t.Fatal("the provider's arguments are no object")
	}
	values := map[string]tftypes.Value{}
	for name, attribute := range of.AttributeTypes {
		values[name] = tftypes.NewValue(attribute, nil)
	}
	for _, name := range []string{"region", "assume_role", "allowed_account_ids", "store"} {
		values[name] = tftypes.NewValue(of.AttributeTypes[name], tftypes.UnknownValue)
	}
	values["kubernetes"] = later(t, of.AttributeTypes["kubernetes"], `{"host": "https://10.0.0.1", "token": "t"}`, "token")
	got, diags := p.read(t.Context(), tfsdk.Config{Raw: tftypes.NewValue(of, values), Schema: s})
	if diff := cmp.Diff(connection.UnknownArguments{"allowed_account_ids", "assume_role", "kubernetes", "region", "store"}, got.Unknown); diff != "" ||
		len(diags) > 0 {
		t.Errorf("%v\n%s", diags, diff)
	}
}

// later returns an object, given as JSON, with one unknown field.
func later(t *testing.T, of tftypes.Type, values, field string) tftypes.Value {
	t.Helper()
	raw, err := (&tfprotov6.DynamicValue{JSON: []byte(values)}).Unmarshal(of)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]tftypes.Value
	if err := raw.As(&all); err != nil {
		t.Fatal(err)
	}
	all[field] = tftypes.NewValue(all[field].Type(), tftypes.UnknownValue)
	return tftypes.NewValue(of, all)
}

// Plain HTTP to another host is reported as long as it is used.
func TestPlainHTTPIsReported(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]int{
		`{"protocol": "HTTP"}`: 1, `{"endpoint": "http://cvm.example", "protocol": "HTTP"}`: 1,
		`{"endpoint": "http://127.0.0.1:1", "protocol": "HTTP"}`: 0, `{"endpoint": "https://cvm.example"}`: 0, `{}`: 0,
	} {
		_, diags := configure(t, nil, arguments)
		if len(diags) != want || diags.HasError() || want > 0 && !strings.Contains(diags[0].Detail(), "plain HTTP") {
			t.Errorf("%s: %v", arguments, diags)
		}
	}
}

func TestAnUnknownCurrencyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for name, environment := range map[string]map[string]string{"argument": nil, "variable": {"GPUPOOL_CURRENCY": "EUR"}} {
		arguments := `{}`
		if environment == nil {
			arguments = `{"currency": "EUR"}`
		}
		_, diags := configure(t, environment, arguments)
		if errors := diags.Errors(); len(errors) != 1 || errors[0].Detail() != `Invalid currency "EUR" (currency, --currency or GPUPOOL_CURRENCY): use CNY or USD.` {
			t.Errorf("%s: %v", name, diags)
		}
	}
}
