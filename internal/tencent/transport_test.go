package tencent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// exerciseAll uses every call that there is; whether it succeeds matters not.
func exerciseAll(t *testing.T, c *Client) {
	t.Helper()
	ctx := t.Context()
	ids, _, err := c.Launch(ctx, testRequest())
	if err != nil {
		t.Error(err)
	}
	_, _, _ = c.ObserveRegion(ctx, testRegion)
	list, _, _ := c.ObservePool(ctx, testRegion, "uid-1", ids)
	_, _, _ = c.ObserveNamed(ctx, testRegion, "train")
	_, _ = c.Markets(ctx, testRegion)
	_ = c.Tag(ctx, testRegion, ids, map[string]string{"a": "b"})
	_ = c.Untag(ctx, testRegion, ids, []string{"a"})
	_, _ = c.Terminate(ctx, testRegion, list)
	for _, action := range []string{
		"RunInstances", "DescribeInstances", "DescribeZoneInstanceConfigInfos", "DescribeAccountQuota", "TagResources", "UnTagResources",
	} {
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
		t.Error("nothing was dialed")
	}
	for _, address := range a.list {
		if "http://"+address != url {
			t.Errorf("%s was dialed, and only %s may be", address, url)
		}
	}
}

// With an endpoint, nothing else is called even if something tries to.
func TestNoOtherHostIsCalled(t *testing.T) {
	t.Parallel()
	var dialed addresses
	sim := cvmsimtest.Start(t)
	c := testConfig(sim.URL)
	c.dial = dialed.dial
	client := newClient(t, c)
	for _, address := range []string{
		"https://cvm.tencentcloudapi.com/", "https://sts.tencentcloudapi.com/", "http://metadata.tencentyun.com/", "http://127.0.0.1:1/",
	} {
		status, _, err := client.api.get(t.Context(), address)
		var refused *refusedHostError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %d, %v", address, status, err)
		}
	}
	if len(dialed.list) != 0 {
		t.Errorf("dialed %v", dialed.list)
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
		{
			Config{Domain: "internal.example", Protocol: "http", MetadataEndpoint: "http://127.0.0.1:80"}, "http",
			[]string{"cvm.internal.example", "tag.internal.example", "sts.internal.example", "127.0.0.1:80"},
		},
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
			t.Errorf("dialed %v, want %s among them", asked, want)
		}
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

func TestRequestsAreLabeled(t *testing.T) {
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
