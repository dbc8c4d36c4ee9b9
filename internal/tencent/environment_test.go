package tencent

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func environment(pairs ...string) func(string) string {
	values := map[string]string{}
	for n := 0; n < len(pairs); n += 2 {
		values[pairs[n]] = pairs[n+1]
	}
	return func(name string) string { return values[name] }
}

// For each field: the argument, else the first of its variables that is set.
func TestArgumentElseEnvironment(t *testing.T) {
	t.Parallel()
	const role = "TENCENTCLOUD_ASSUME_ROLE_"
	withToken := func(c *Config) { c.AssumeRoleWithWebIdentity.WebIdentityToken = "jwt" }
	fields := map[string]struct {
		field   func(*Config) *string
		names   []string
		prepare func(*Config)
	}{
		"region":            {func(c *Config) *string { return &c.Region }, []string{"TENCENTCLOUD_REGION"}, nil},
		"protocol":          {func(c *Config) *string { return &c.Protocol }, []string{"TENCENTCLOUD_PROTOCOL"}, nil},
		"domain":            {func(c *Config) *string { return &c.Domain }, []string{"TENCENTCLOUD_DOMAIN"}, nil},
		"endpoint":          {func(c *Config) *string { return &c.Endpoint }, []string{"GPUPOOL_ENDPOINT"}, nil},
		"currency":          {func(c *Config) *string { return &c.Currency }, []string{"GPUPOOL_CURRENCY"}, nil},
		"metadata endpoint": {func(c *Config) *string { return &c.MetadataEndpoint }, []string{"GPUPOOL_METADATA_ENDPOINT"}, nil},
		"secret_id":         {func(c *Config) *string { return &c.SecretID }, []string{"TENCENTCLOUD_SECRET_ID"}, nil},
		"secret_key":        {func(c *Config) *string { return &c.SecretKey }, []string{"TENCENTCLOUD_SECRET_KEY"}, nil},
		"security_token": {
			func(c *Config) *string { return &c.SecurityToken }, []string{"TENCENTCLOUD_SECURITY_TOKEN", "TENCENTCLOUD_SESSION_TOKEN", "TENCENTCLOUD_TOKEN"},
			nil,
		},
		"profile":                {func(c *Config) *string { return &c.Profile }, []string{"TENCENTCLOUD_PROFILE"}, nil},
		"shared_credentials_dir": {func(c *Config) *string { return &c.SharedCredentialsDir }, []string{"TENCENTCLOUD_SHARED_CREDENTIALS_DIR"}, nil},
		"credentials file":       {func(c *Config) *string { return &c.CredentialsFile }, []string{"TENCENTCLOUD_CREDENTIALS_FILE"}, nil},
		"cam_role_name":          {func(c *Config) *string { return &c.CamRoleName }, []string{"TENCENTCLOUD_CAM_ROLE_NAME"}, nil},
		"request client":         {func(c *Config) *string { return &c.RequestClient }, []string{"TENCENTCLOUD_API_REQUEST_CLIENT"}, nil},
		"role_arn":               {func(c *Config) *string { return &c.AssumeRole.RoleARN }, []string{role + "ARN"}, nil},
		"session_name":           {func(c *Config) *string { return &c.AssumeRole.SessionName }, []string{role + "SESSION_NAME"}, nil},
		"external_id":            {func(c *Config) *string { return &c.AssumeRole.ExternalID }, []string{role + "EXTERNAL_ID"}, nil},
		"source_identity":        {func(c *Config) *string { return &c.AssumeRole.SourceIdentity }, []string{role + "SOURCE_IDENTITY"}, nil},
		"serial_number":          {func(c *Config) *string { return &c.AssumeRole.SerialNumber }, []string{role + "SERIAL_NUMBER"}, nil},
		"token_code":             {func(c *Config) *string { return &c.AssumeRole.TokenCode }, []string{role + "TOKEN_CODE"}, nil},
		"web identity token": {
			func(c *Config) *string { return &c.AssumeRoleWithWebIdentity.WebIdentityToken }, []string{role + "WEB_IDENTITY_TOKEN"}, nil,
		},
		"web identity file": {
			func(c *Config) *string { return &c.AssumeRoleWithWebIdentity.WebIdentityTokenFile }, []string{role + "WEB_IDENTITY_TOKEN_FILE"}, nil,
		},
		"web provider":     {func(c *Config) *string { return &c.AssumeRoleWithWebIdentity.ProviderID }, []string{role + "PROVIDER_ID"}, withToken},
		"web role_arn":     {func(c *Config) *string { return &c.AssumeRoleWithWebIdentity.RoleARN }, []string{role + "ARN"}, withToken},
		"web session_name": {func(c *Config) *string { return &c.AssumeRoleWithWebIdentity.SessionName }, []string{role + "SESSION_NAME"}, withToken},
		"pod region":       {func(c *Config) *string { return &c.PodOIDC.Region }, []string{"TKE_REGION"}, nil},
		"pod provider":     {func(c *Config) *string { return &c.PodOIDC.ProviderID }, []string{"TKE_PROVIDER_ID"}, nil},
		"pod token file":   {func(c *Config) *string { return &c.PodOIDC.WebIdentityTokenFile }, []string{"TKE_WEB_IDENTITY_TOKEN_FILE"}, nil},
		"pod role":         {func(c *Config) *string { return &c.PodOIDC.RoleARN }, []string{"TKE_ROLE_ARN"}, nil},
	}
	for name, f := range fields {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := range f.names {
				var pairs []string
				for _, later := range f.names[n:] {
					pairs = append(pairs, later, "from "+later)
				}
				var c Config
				if f.prepare != nil {
					f.prepare(&c)
				}
				filled := c.WithEnvironment(environment(pairs...))
				if got := *f.field(&filled); got != "from "+f.names[n] {
					t.Errorf("with %v: %q", pairs, got)
				}
				*f.field(&c) = "argument"
				before := c
				filled = c.WithEnvironment(environment(pairs...))
				if got := *f.field(&filled); got != "argument" {
					t.Errorf("the environment's %q won over the argument", got)
				}
				if diff := cmp.Diff(before, filled, cmpopts.IgnoreUnexported(Config{})); diff != "" {
					t.Errorf("another field changed: %s", diff)
				}
			}
		})
	}
}

func TestASecretComesWholeFromOnePlace(t *testing.T) {
	t.Parallel()
	env := environment("TENCENTCLOUD_SECRET_ID", "env-id", "TENCENTCLOUD_SECRET_KEY", "env-key", "TENCENTCLOUD_SECURITY_TOKEN", "env-token")
	c := Config{SecretID: "arg-id", SecretKey: "arg-key"}.WithEnvironment(env)
	if c.SecretID != "arg-id" || c.SecretKey != "arg-key" || c.SecurityToken != "" {
		t.Errorf("%s %s %s", c.SecretID, c.SecretKey, c.SecurityToken)
	}
}

func TestRoleVariables(t *testing.T) {
	t.Parallel()
	const role = "TENCENTCLOUD_ASSUME_ROLE_"
	env := []string{role + "ARN", "arn", role + "SESSION_NAME", "me", role + "SESSION_DURATION", "900"}
	c := Config{}.WithEnvironment(environment(env...))
	if diff := cmp.Diff(AssumeRole{RoleARN: "arn", SessionName: "me", SessionDuration: 900}, c.AssumeRole); diff != "" {
		t.Error(diff)
	}
	c = Config{}.WithEnvironment(environment(append(env, role+"WEB_IDENTITY_TOKEN", "jwt", role+"PROVIDER_ID", "p")...))
	if diff := cmp.Diff(WebIdentity{ProviderID: "p", WebIdentityToken: "jwt", RoleARN: "arn", SessionName: "me", SessionDuration: 900},
		c.AssumeRoleWithWebIdentity); diff != "" || c.AssumeRole != (AssumeRole{}) {
		t.Error(diff, c.AssumeRole)
	}
	c = Config{AssumeRole: AssumeRole{RoleARN: "argument", SessionDuration: 60}}.WithEnvironment(environment(append(env, role+"WEB_IDENTITY_TOKEN", "jwt")...))
	if c.AssumeRole.RoleARN != "argument" || c.AssumeRole.SessionDuration != 60 || c.AssumeRoleWithWebIdentity.configured() {
		t.Errorf("%+v %+v", c.AssumeRole, c.AssumeRoleWithWebIdentity)
	}
	_, err := New(t.Context(), Config{SecretID: "a", SecretKey: "b"}.WithEnvironment(environment(role+"SESSION_DURATION", "an hour")))
	if err == nil || !strings.Contains(err.Error(), role+"SESSION_DURATION") {
		t.Errorf("%v", err)
	}
}

func TestHome(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"HOME", "USERPROFILE"} {
		c := Config{AssumeRoleWithWebIdentity: WebIdentity{WebIdentityTokenFile: "~/token"}}.WithEnvironment(environment(name, "/home/me"))
		if c.SharedCredentialsDir != filepath.Join("/home/me", ".tccli") || c.CredentialsFile != filepath.Join("/home/me", ".tencentcloud", "credentials") ||
			c.AssumeRoleWithWebIdentity.WebIdentityTokenFile != filepath.Join("/home/me", "token") {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := (Config{SharedCredentialsDir: "~other/dir"}).WithEnvironment(environment("HOME", "/home/me")); c.SharedCredentialsDir != "~other/dir" {
		t.Error(c.SharedCredentialsDir)
	}
}

func TestPriceCurrency(t *testing.T) {
	t.Parallel()
	const international = "intl.tencentcloudapi.com"
	for name, test := range map[string]struct {
		config Config
		want   spotpool.Currency
	}{
		"default":                          {Config{}, "CNY"},
		"international domain":             {Config{Domain: international}, "USD"},
		"international endpoint":           {Config{Endpoint: "https://cvm." + international + ":443/"}, "USD"},
		"the endpoint counts, if both are": {Config{Domain: international, Endpoint: "http://127.0.0.1:9170"}, "CNY"},
		"argument":                         {Config{Domain: international, Currency: "CNY"}, "CNY"},
		"argument for another host":        {Config{Endpoint: "http://127.0.0.1:9170", Currency: "USD"}, "USD"},
	} {
		if got := test.config.withDefaults().PriceCurrency(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if got := test.config.PriceCurrency(); got != test.want {
			t.Errorf("%s, without defaults: %s, want %s", name, got, test.want)
		}
	}
}

func TestConfigurationMistakes(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"protocol must be HTTP or HTTPS":   {Protocol: "GOPHER"},
		"domain must be a root domain":     {Domain: "https://tencentcloudapi.com"},
		"belong together":                  {SecretID: "only"},
		"region has a space, a line's end": {SecretID: "id", SecretKey: "key", Region: "ap-singapore\r"},
		"secret_id has a space":            {SecretID: "id\x1b[0m", SecretKey: "key"},
		"secret_key has a space":           {SecretID: "id", SecretKey: "key\n"},
		`invalid currency "eur" (currency, --currency or GPUPOOL_CURRENCY): use CNY or USD`: {Currency: "eur"},
		`endpoint "127.0.0.1:9170"`:                     {Endpoint: "127.0.0.1:9170"},
		`metadata endpoint "ftp://host"`:                {MetadataEndpoint: "ftp://host"},
		"session_duration must be 1 to":                 {AssumeRole: AssumeRole{RoleARN: "a", SessionDuration: 50000}},
		"TKE_PROVIDER_ID":                               {EnablePodOIDC: true},
		"needs a role_arn":                              {AssumeRoleWithWebIdentity: WebIdentity{WebIdentityToken: "jwt"}},
		"GPUPOOL_METADATA_ENDPOINT":                     {Endpoint: "http://127.0.0.1:1", CamRoleName: "gpu-node"},
		"TENCENTCLOUD_SECRET_ID":                        {},
		"/no/such/default.credential":                   {SharedCredentialsDir: "/no/such"},
		"the environment or /no/such/file. Set TENCENT": {CredentialsFile: "/no/such/file"},
	} {
		_, err := New(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}
