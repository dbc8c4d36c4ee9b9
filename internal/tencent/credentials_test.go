package tencent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
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

// Every way to say who one is, and which wins.
func TestWhoseCredentials(t *testing.T) {
	t.Parallel()
	type change = func(*testing.T, *Config, string)
	secret := func(_ *testing.T, c *Config, _ string) {
		c.SecretID, c.SecretKey = cvmsim.DemoSecretID, cvmsim.DemoSecretKey
	}
	profileFile := func(content string) change {
		return func(t *testing.T, c *Config, _ string) {
			c.SharedCredentialsDir = t.TempDir()
			writeFile(t, c.SharedCredentialsDir, "default.credential", content)
			writeFile(t, c.SharedCredentialsDir, "default.configure", `{"_sys_param":{"region":"ap-tokyo","output":"json"}}`)
		}
	}
	demo := profileFile(`{"secretId":" ` + cvmsim.DemoSecretID + `","secretKey":"` + cvmsim.DemoSecretKey + `","token":null}`)
	wrong := profileFile(`{"secretId":"AKIDwrong","secretKey":"wrong"}`)
	ini := func(t *testing.T, c *Config, _ string) {
		c.CredentialsFile = writeFile(t, t.TempDir(), "credentials", "# comment\n[other]\nsecret_id = x\n\n[default]\nsecret_id = "+cvmsim.DemoSecretID+"\nsecret_key="+cvmsim.DemoSecretKey+"\n")
	}
	camRole := func(_ *testing.T, c *Config, url string) { c.CamRoleName, c.MetadataEndpoint = "gpu-node", url }
	assume := func(_ *testing.T, c *Config, _ string) {
		c.AssumeRole = AssumeRole{RoleARN: testRole, SessionName: "me", Policy: `{"version":"2.0"}`, ExternalID: "ext", SourceIdentity: "1", SessionDuration: 900}
	}
	web := func(_ *testing.T, c *Config, _ string) {
		c.AssumeRoleWithWebIdentity = WebIdentity{WebIdentityToken: "jwt", ProviderID: "p", RoleARN: testRole, SessionName: "web"}
	}
	webFile := func(content string) change {
		return func(t *testing.T, c *Config, _ string) {
			c.AssumeRoleWithWebIdentity = WebIdentity{WebIdentityTokenFile: writeFile(t, t.TempDir(), "token", content), RoleARN: testRole}
		}
	}
	pod := func(t *testing.T, c *Config, _ string) {
		c.EnablePodOIDC = true
		*c = c.WithEnvironment(environment("TKE_REGION", "ap-tokyo", "TKE_PROVIDER_ID", "tke", "TKE_ROLE_ARN", testRole,
			"TKE_WEB_IDENTITY_TOKEN_FILE", writeFile(t, t.TempDir(), "token", "jwt")))
	}
	tests := map[string]struct {
		changes []change
		role    bool
		calls   []string // beside GetCallerIdentity
		region  string
	}{
		"secret":                       {changes: []change{secret}, region: testRegion},
		"secret before files":          {changes: []change{secret, wrong, ini}, region: testRegion},
		"profile":                      {changes: []change{demo}, region: testRegion},
		"profile before INI":           {changes: []change{demo, ini}, region: testRegion},
		"profile's region":             {changes: []change{demo, func(_ *testing.T, c *Config, _ string) { c.Region = "" }}, region: "ap-tokyo"},
		"default region":               {changes: []change{ini, func(_ *testing.T, c *Config, _ string) { c.Region = "" }}, region: DefaultRegion},
		"INI":                          {changes: []change{ini}, region: testRegion},
		"empty profile, then INI":      {changes: []change{profileFile(`{}`), ini}, region: testRegion},
		"CVM role before secret":       {changes: []change{secret, camRole}, role: true, region: testRegion},
		"role with secret":             {changes: []change{secret, assume}, role: true, calls: []string{"AssumeRole"}, region: testRegion},
		"role with CVM role":           {changes: []change{camRole, assume}, role: true, calls: []string{"AssumeRole"}, region: testRegion},
		"role of the profile":          {changes: []change{profileFile(`{"secretId":"` + cvmsim.DemoSecretID + `","secretKey":"` + cvmsim.DemoSecretKey + `","role-arn":"` + testRole + `","role-session-name":"me"}`)}, role: true, calls: []string{"AssumeRole"}, region: testRegion},
		"web identity before secret":   {changes: []change{secret, web}, role: true, calls: []string{"AssumeRoleWithWebIdentity"}, region: testRegion},
		"web identity file":            {changes: []change{webFile("jwt\n")}, role: true, calls: []string{"AssumeRoleWithWebIdentity"}, region: testRegion},
		"web identity file, as JSON":   {changes: []change{webFile(`{"web_identity_token":"jwt"}`)}, role: true, calls: []string{"AssumeRoleWithWebIdentity"}, region: testRegion},
		"pod identity before all else": {changes: []change{secret, web, camRole, pod}, role: true, calls: []string{"AssumeRoleWithWebIdentity"}, region: testRegion},
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
			var dialled addresses
			c.dial = dialled.dial
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
			dialled.onlyTo(t, sim.URL)
		})
	}
}

// exerciseAll uses every call that there is; whether it succeeds matters not.
func exerciseAll(t *testing.T, c *Client) {
	t.Helper()
	ctx := t.Context()
	ids, err := c.Launch(ctx, testRequest())
	if err != nil {
		t.Error(err)
	}
	_, _, _ = c.ObserveRegion(ctx, testRegion)
	list, _, _ := c.ObservePool(ctx, testRegion, "uid-1", ids)
	_, _, _ = c.ObserveNamed(ctx, testRegion, "train")
	_, _, _ = c.Markets(ctx, testRegion)
	_ = c.Tag(ctx, testRegion, ids, map[string]string{"a": "b"})
	_ = c.Untag(ctx, testRegion, ids, []string{"a"})
	_, _ = c.Terminate(ctx, testRegion, list)
	for _, action := range []string{"RunInstances", "DescribeInstances", "DescribeZoneInstanceConfigInfos", "DescribeAccountQuota", "TagResources", "UnTagResources"} {
		if c.Calls()[action] == 0 {
			t.Errorf("%s was not tried", action)
		}
	}
}

// addresses are where connections were made to.
type addresses struct {
	mu   sync.Mutex
	list []string
}

func (a *addresses) dial(ctx context.Context, network, address string) (net.Conn, error) {
	a.mu.Lock()
	a.list = append(a.list, address)
	a.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

func (a *addresses) onlyTo(t *testing.T, url string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.list) == 0 {
		t.Error("nothing was dialled")
	}
	for _, address := range a.list {
		if "http://"+address != url {
			t.Errorf("%s was dialled, and only %s may be", address, url)
		}
	}
}

// With an endpoint, nothing else is called even if something tries to.
func TestNoOtherHostIsCalled(t *testing.T) {
	t.Parallel()
	var dialled addresses
	sim := cvmsimtest.Start(t)
	c := testConfig(sim.URL)
	c.dial = dialled.dial
	client := newClient(t, c)
	for _, address := range []string{"https://cvm.tencentcloudapi.com/", "https://sts.tencentcloudapi.com/", "http://metadata.tencentyun.com/", "http://127.0.0.1:1/"} {
		status, _, err := client.api.get(t.Context(), address)
		var refused *refusedHostError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %d, %v", address, status, err)
		}
	}
	if len(dialled.list) != 0 {
		t.Errorf("dialled %v", dialled.list)
	}
	if proxy := client.api.transport.base.(*http.Transport).Proxy; proxy != nil {
		t.Error("a proxy would be another host")
	}
	// An answer that points elsewhere is not followed.
	_, url := record(t, http.RedirectHandler("http://127.0.0.1:1/", http.StatusTemporaryRedirect))
	c.Endpoint = url
	if _, err := newClient(t, c).AccountID(t.Context()); cloudError(t, err).Code != codeStatus {
		t.Error(err)
	}
}

// Without one, the three services and the metadata service are all there is.
func TestHostsOfTheCloud(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		config Config
		scheme string
		want   []string
	}{
		{Config{}, "https", []string{"cvm.tencentcloudapi.com", "tag.tencentcloudapi.com", "sts.tencentcloudapi.com", "metadata.tencentyun.com"}},
		{Config{Domain: "internal.example", Protocol: "http", MetadataEndpoint: "http://127.0.0.1:80"}, "http", []string{"cvm.internal.example", "tag.internal.example", "sts.internal.example", "127.0.0.1:80"}},
		{Config{Endpoint: "https://gateway.example/api/"}, "https", []string{"gateway.example"}},
	} {
		c := test.config.withDefaults()
		hosts := c.hosts()
		for _, host := range test.want {
			if !hosts[host] || len(hosts) != len(test.want) {
				t.Errorf("%v, want %v", hosts, test.want)
			}
		}
		if scheme, _, _ := c.address(serviceCVM); scheme != test.scheme {
			t.Error(scheme)
		}
	}
}

func TestRequestsGoWhereTheConfigurationSays(t *testing.T) {
	t.Parallel()
	asked := map[string]string{}
	c := Config{Domain: "internal.example", Protocol: "HTTP", SecretID: "a", SecretKey: "b", Region: testRegion, MaxAttempts: 1, RateLimits: unlimited()}
	c.dial = func(_ context.Context, _, address string) (net.Conn, error) {
		asked[address] = ""
		return nil, &net.OpError{Op: "dial", Err: errors.New("not today")}
	}
	client := newClient(t, c)
	_, err := client.AccountID(t.Context())
	if cloud := cloudError(t, err); cloud.Code != codeUnreachable || !strings.Contains(err.Error(), "http://sts.internal.example") {
		t.Error(err)
	}
	client.account.id = "1"
	_, _, _ = client.ObserveRegion(t.Context(), testRegion)
	_ = client.Tag(t.Context(), testRegion, []string{"ins-a1b2c3d4"}, map[string]string{"a": "b"})
	for _, want := range []string{"sts.internal.example:80", "cvm.internal.example:80", "tag.internal.example:80"} {
		if _, ok := asked[want]; !ok || len(asked) != 3 {
			t.Errorf("dialled %v, want %s among them", asked, want)
		}
	}
}

func TestTemporaryCredentialsAreRenewedInTime(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	c := webIdentityConfig(t, sim.URL)
	var clock steppedClock
	c.now = clock.now
	client := newClient(t, c)
	renewals := func() int { return client.Calls()["AssumeRoleWithWebIdentity"] }
	look := func() error { _, _, err := client.ObserveRegion(t.Context(), testRegion); return err }
	pass := func(d time.Duration) {
		clock.step(d)
		step(t, sim.Server, d)
	}
	pass(90 * time.Minute)
	if err := look(); err != nil || renewals() != 1 {
		t.Fatalf("%v, %d look-ups", err, renewals())
	}
	pass(21 * time.Minute) // of 120 the last ten have begun
	if err := look(); err != nil || renewals() != 2 {
		t.Fatalf("%v, %d look-ups", err, renewals())
	}

	addFault(t, sim.Server, cvmsim.Fault{Kind: cvmsim.FaultError, Action: "AssumeRoleWithWebIdentity", Code: "UnauthorizedOperation", Count: -1})
	expires := client.keys.current.expires
	pass(expires.Add(-time.Minute).Sub(clock.now()))
	if err := look(); err != nil || renewals() != 3 {
		t.Fatalf("credentials that are still good must do: %v, %d look-ups", err, renewals())
	}
	if err := look(); err != nil || renewals() != 3 {
		t.Fatalf("a failed renewal must not be repeated on each call: %v, %d look-ups", err, renewals())
	}
	before := client.Calls()["DescribeInstances"]
	pass(expires.Add(time.Second).Sub(clock.now()))
	err := look()
	if cloud := cloudError(t, err); cloud.Class != spotpool.ClassAuthorisation || client.Calls()["DescribeInstances"] != before {
		t.Fatalf("expired credentials were used: %v", err)
	}
	sim.Server.ClearFaults()
	if err := look(); err != nil {
		t.Error(err)
	}
}

// steppedClock runs with the real one, some steps ahead.
type steppedClock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *steppedClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *steppedClock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func TestOneRenewalForAll(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	client := newClient(t, webIdentityConfig(t, sim.URL))
	client.keys.current = credentials{}
	var group errgroup.Group
	for range 20 {
		group.Go(func() error { _, _, err := client.ObserveRegion(t.Context(), testRegion); return err })
	}
	if err := group.Wait(); err != nil || client.Calls()["AssumeRoleWithWebIdentity"] != 2 {
		t.Errorf("%v, %v", err, client.Calls())
	}
}

// The cloud may end temporary credentials before their time.
func TestCredentialsThatTheCloudRefusesAreRenewed(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	client := newClient(t, webIdentityConfig(t, sim.URL))
	step(t, sim.Server, 3*time.Hour)
	if _, err := client.Launch(t.Context(), testRequest()); err != nil {
		t.Error(err)
	}
	addFault(t, sim.Server, cvmsim.Fault{Kind: cvmsim.FaultError, Action: "DescribeInstances", Code: "AuthFailure.TokenFailure", Count: -1})
	_, _, err := client.ObserveRegion(t.Context(), testRegion)
	if cloud := cloudError(t, err); cloud.Code != "AuthFailure.TokenFailure" || client.Calls()["DescribeInstances"] != 2 {
		t.Errorf("%v, %v", err, client.Calls())
	}
}

func TestLookUpsEndInTime(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	_, hanging := record(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	addFault(t, sim.Server, cvmsim.Fault{Kind: cvmsim.FaultTimeout, Count: -1, Delay: cvmsim.Duration(time.Minute)})
	web := webIdentityConfig(t, sim.URL)
	cam := testConfig(sim.URL)
	cam.CamRoleName, cam.MetadataEndpoint = "gpu-node", hanging
	role := testConfig(sim.URL)
	role.AssumeRole.RoleARN = testRole
	for name, c := range map[string]Config{"web identity": web, "CVM role": cam, "role": role} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.LookupTimeout = 100 * time.Millisecond
			started := time.Now()
			_, err := New(t.Context(), c)
			if took := time.Since(started); took > 5*time.Second || err == nil || !strings.Contains(err.Error(), "within 100ms") {
				t.Errorf("after %s: %v", took, err)
			}
		})
	}
}

func TestCVMRoleMistakes(t *testing.T) {
	t.Parallel()
	tests := map[string]http.HandlerFunc{
		`no CAM role "gpu-node"`: http.NotFound,
		"answered HTTP 500":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"no JSON object":         func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`secret-text`)) },
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

func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	for _, secret := range [][2]string{{"AKIDnobody", "x"}, {cvmsim.DemoSecretID, "not-the-key"}} {
		c := testConfig(sim.URL)
		c.SecretID, c.SecretKey = secret[0], secret[1]
		_, err := newClient(t, c).Launch(t.Context(), testRequest())
		cloud := cloudError(t, err)
		if cloud.Class != spotpool.ClassAuthorisation || !cloud.NothingLaunched || cloud.Remedy == "" || cloud.RequestID == "" {
			t.Errorf("%+v", cloud)
		}
	}
	if len(callsOf(sim.Server, "RunInstances")) != 0 {
		t.Error("a launch was tried")
	}
}

func TestWrongAccount(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(*Config){
		"not allowed": func(c *Config) { c.AllowedAccountIDs = []string{"200000000002"} },
		"forbidden":   func(c *Config) { c.ForbiddenAccountIDs = []string{cvmsim.DemoAccountID} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, client := startSim(t, f)
			_, err := client.Launch(t.Context(), testRequest())
			if cloud := cloudError(t, err); cloud.Class != spotpool.ClassAuthorisation || !cloud.NothingLaunched || !strings.Contains(err.Error(), cvmsim.DemoAccountID) {
				t.Errorf("%+v", cloud)
			}
			if name == "not allowed" && !strings.Contains(err.Error(), "200000000002") {
				t.Errorf("the error names only one account: %v", err)
			}
			ids := seed(t, sim, cvmsim.SeedRequest{UID: "uid-1"})
			if _, err := client.Terminate(t.Context(), testRegion, []spotpool.Instance{{ID: ids[0], Region: testRegion}}); err == nil {
				t.Error("terminated in the wrong account")
			}
			if client.Tag(t.Context(), testRegion, ids, map[string]string{"a": "b"}) == nil {
				t.Error("tagged in the wrong account")
			}
			for _, call := range sim.Calls() {
				if call.Action != "GetCallerIdentity" {
					t.Errorf("%s was called", call.Action)
				}
			}
		})
	}
	_, client := startSim(t, func(c *Config) { c.AllowedAccountIDs = []string{"1", cvmsim.DemoAccountID} })
	if _, err := client.Launch(t.Context(), testRequest()); err != nil {
		t.Error(err)
	}
}

// Everything is exercised, faults included, with the log at its most verbose;
// no secret, token, signature or user data may be in it.
func TestNoSecretInLogs(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	wire, url := record(t, sim.Server)
	var log bytes.Buffer
	c := testConfig(url)
	c.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
	c.AssumeRole = AssumeRole{RoleARN: testRole, TokenCode: "314159"}
	client := newClient(t, c)
	for _, action := range []string{"RunInstances", "DescribeInstances", "TagResources"} {
		addFault(t, sim.Server, cvmsim.Fault{Kind: cvmsim.FaultError, Action: action, Code: "InternalError", Message: "we got " + cvmsim.DemoSecretKey})
	}
	exerciseAll(t, client)
	secret, err := client.keys.get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client.config.Logger.Debug("credentials", "are", secret)
	signature := wire.headers["RunInstances"].Get("Authorization")
	_, signature, _ = strings.Cut(signature, "Signature=")
	if len(signature) != 64 {
		t.Fatalf("no signature was seen: %q", signature)
	}
	for what, text := range map[string]string{
		"secret key": cvmsim.DemoSecretKey, "role's key": secret.secretKey, "role's token": secret.token, "MFA code": "314159",
		"signature": signature, "user data": "IyEvYmluL3No", "authorization": "TC3-HMAC",
	} {
		if strings.Contains(log.String(), text) {
			t.Errorf("the %s is in the log", what)
		}
	}
	type line struct {
		Action, Region, Code string
		RequestID            string `json:"request_id"`
	}
	seen := map[string]bool{}
	for text := range strings.Lines(log.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Action != "" && l.RequestID == "" {
			t.Errorf("no request id: %s", text)
		}
		seen[l.Action+" "+l.Code] = true
	}
	for _, want := range []string{"AssumeRole ", "RunInstances InternalError", "RunInstances "} {
		if !seen[want] {
			t.Errorf("%q is not in the log: %v", want, seen)
		}
	}
}

func TestRequestsAreLabelled(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	wire, url := record(t, sim.Server)
	c := testConfig(url)
	c.RequestClient = "gpupool/1.2 (ünusual)"
	if _, err := newClient(t, c).AccountID(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := wire.headers["GetCallerIdentity"]
	if got := h.Get("X-TC-Language"); got != "en-US" {
		t.Errorf("language %q", got)
	}
	if got := h.Get("X-TC-RequestClient"); !strings.HasSuffix(got, "gpupool-1.2 -nusual-") {
		t.Errorf("request client %q", got)
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

func FuzzLastRequestID(f *testing.F) {
	f.Add([]byte(`{"Response":{"LatestOperationRequestId":"a","RequestId": "b"}}`))
	f.Add([]byte(`"RequestId":"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if id := lastRequestID(data); strings.Contains(id, `"`) || len(id) > 64 {
			t.Errorf("%q", id)
		}
		_ = title(data)
	})
}
