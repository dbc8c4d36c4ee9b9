package tencent

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

const testRole = "qcs::cam::uin/" + cvmsim.DemoAccountID + ":roleName/gpu-node"

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// roleConfig takes the demo role on with a web identity token of a file.
func webIdentityConfig(t *testing.T, url string) Config {
	t.Helper()
	c := testConfig(url)
	c.SecretID, c.SecretKey = "", ""
	c.AssumeRoleWithWebIdentity = WebIdentity{WebIdentityTokenFile: writeFile(t, t.TempDir(), "token", "header.claims.signature\n"), RoleARN: testRole}
	return c
}

// The precedence of all sources of credentials.
func TestCredentialSources(t *testing.T) {
	t.Parallel()
	type change = func(*testing.T, *Config, string)
	secret := func(_ *testing.T, c *Config, _ string) {
		c.SecretID, c.SecretKey = cvmsim.DemoSecretID, cvmsim.DemoSecretKey
	}
	profileFile := func(content string) change {
		return func(t *testing.T, c *Config, _ string) {
			t.Helper()
			c.SharedCredentialsDir = t.TempDir()
			writeFile(t, c.SharedCredentialsDir, "default.credential", content)
			writeFile(t, c.SharedCredentialsDir, "default.configure", `{"_sys_param":{"region":"ap-tokyo","output":"json"}}`)
		}
	}
	demo := profileFile(`{"secretId":" ` + cvmsim.DemoSecretID + `","secretKey":"` + cvmsim.DemoSecretKey + `","token":null}`)
	wrong := profileFile(`{"secretId":"AKIDwrong","secretKey":"wrong"}`)
	ini := func(t *testing.T, c *Config, _ string) {
		t.Helper()
		c.CredentialsFile = writeFile(t, t.TempDir(), "credentials",
			"# comment\n[other]\nsecret_id = x\n\n[default]\nsecret_id = "+cvmsim.DemoSecretID+"\nsecret_key="+cvmsim.DemoSecretKey+"\n")
	}
	camRole := func(_ *testing.T, c *Config, url string) { c.CamRoleName, c.MetadataEndpoint = "gpu-node", url }
	assume := func(_ *testing.T, c *Config, _ string) {
		c.AssumeRole = AssumeRole{
			RoleARN: testRole, SessionName: "me", Policy: `{"version":"2.0"}`, ExternalID: "ext", SourceIdentity: "1", SessionDuration: 900,
		}
	}
	web := func(_ *testing.T, c *Config, _ string) {
		c.AssumeRoleWithWebIdentity = WebIdentity{WebIdentityToken: "jwt", ProviderID: "p", RoleARN: testRole, SessionName: "web"}
	}
	webFile := func(content string) change {
		return func(t *testing.T, c *Config, _ string) {
			t.Helper()
			c.AssumeRoleWithWebIdentity = WebIdentity{WebIdentityTokenFile: writeFile(t, t.TempDir(), "token", content), RoleARN: testRole}
		}
	}
	pod := func(t *testing.T, c *Config, _ string) {
		t.Helper()
		c.EnablePodOIDC = true
		*c = c.WithEnvironment(environment("TKE_REGION", "ap-tokyo", "TKE_PROVIDER_ID", "tke", "TKE_ROLE_ARN", testRole,
			"TKE_WEB_IDENTITY_TOKEN_FILE", writeFile(t, t.TempDir(), "token", "jwt")))
	}
	tests := map[string]struct {
		changes []change
		role    bool
		calls   []string // in addition to GetCallerIdentity
		region  string
	}{
		"secret":                  {changes: []change{secret}, region: testRegion},
		"secret before files":     {changes: []change{secret, wrong, ini}, region: testRegion},
		"profile":                 {changes: []change{demo}, region: testRegion},
		"profile before INI":      {changes: []change{demo, ini}, region: testRegion},
		"profile's region":        {changes: []change{demo, func(_ *testing.T, c *Config, _ string) { c.Region = "" }}, region: "ap-tokyo"},
		"default region":          {changes: []change{ini, func(_ *testing.T, c *Config, _ string) { c.Region = "" }}, region: DefaultRegion},
		"INI":                     {changes: []change{ini}, region: testRegion},
		"empty profile, then INI": {changes: []change{profileFile(`{}`), ini}, region: testRegion},
		"CVM role before secret":  {changes: []change{secret, camRole}, role: true, region: testRegion},
		"role with secret":        {changes: []change{secret, assume}, role: true, calls: []string{"AssumeRole"}, region: testRegion},
		"role with CVM role":      {changes: []change{camRole, assume}, role: true, calls: []string{"AssumeRole"}, region: testRegion},
		"role of the profile": {
			changes: []change{
				profileFile(`{"secretId":"` + cvmsim.DemoSecretID + `","secretKey":"` + cvmsim.DemoSecretKey + `","role-arn":"` + testRole +
					`","role-session-name":"me"}`),
			}, role: true, calls: []string{"AssumeRole"}, region: testRegion,
		},
		"web identity before secret": {changes: []change{secret, web}, role: true, calls: []string{"AssumeRoleWithWebIdentity"}, region: testRegion},
		"web identity file":          {changes: []change{webFile("jwt\n")}, role: true, calls: []string{"AssumeRoleWithWebIdentity"}, region: testRegion},
		"web identity file, as JSON": {
			changes: []change{webFile(`{"web_identity_token":"jwt"}`)}, role: true, calls: []string{"AssumeRoleWithWebIdentity"}, region: testRegion,
		},
		"pod identity before all else": {
			changes: []change{secret, web, camRole, pod}, role: true, calls: []string{"AssumeRoleWithWebIdentity"}, region: testRegion,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := cvmsimtest.Start(t)
			c := testConfig(sim.URL)
			c.SecretID, c.SecretKey = "", ""
			for _, f := range test.changes {
				f(t, &c, sim.URL)
			}
			var dialed addresses
			c.dial = dialed.dial
			client := newClient(t, c)
			for action := range client.Calls() {
				if action == "GetCallerIdentity" {
					t.Error("New asked for more than credentials")
				}
			}
			if id, err := client.AccountID(t.Context()); err != nil || id != cvmsim.DemoAccountID {
				t.Fatalf("%s, %v", id, err)
			}
			if secret, _ := client.keys.get(t.Context()); (secret.token != "") != test.role {
				t.Errorf("a role's credentials: %v, want %v", secret.token != "", test.role)
			}
			var calls []string
			for _, call := range sim.Server.Calls() {
				if call.Action != "GetCallerIdentity" {
					calls = append(calls, call.Action)
				}
			}
			if strings.Join(calls, " ") != strings.Join(test.calls, " ") {
				t.Errorf("calls %v, want %v", calls, test.calls)
			}
			if client.Region() != test.region {
				t.Errorf("region %s, want %s", client.Region(), test.region)
			}
			exerciseAll(t, client)
			dialed.onlyTo(t, sim.URL)
		})
	}
}

func TestCVMRoleMistakes(t *testing.T) {
	t.Parallel()
	tests := map[string]http.HandlerFunc{
		`no CAM role "gpu-node"`: http.NotFound,
		"answered HTTP 500":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"not a JSON object":      func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`secret-text`)) },
		`code "Failed"`:          func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"Code":"Failed"}`)) },
	}
	for want, handler := range tests {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, url := record(t, handler)
			c := testConfig(url)
			c.CamRoleName, c.MetadataEndpoint = "gpu-node", url
			_, err := New(t.Context(), c)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret-text") {
				t.Error(err)
			}
		})
	}
}

func FuzzParseCredentialsFile(f *testing.F) {
	f.Add([]byte("[default]\nsecret_id = a\nsecret_key = b\n"))
	f.Add([]byte("["))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c := parseCredentialsFile(data); strings.ContainsAny(c.secretID+c.secretKey, "\n") {
			t.Errorf("%q", c.secretID)
		}
	})
}
