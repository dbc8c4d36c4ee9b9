package cvmsimtest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// Client is a client of the wire protocol that shares no code with the server or the SDK. A test
// can change every part of its requests.
type Client struct {
	tb     testing.TB
	base   string
	Region string
	ID     string
	Key    string
	Token  string
	// Bend changes a signed request before it is sent.
	Bend func(*http.Request)
	Now  time.Time
}

// NewClient returns a client of the demo account in Singapore.
func NewClient(tb testing.TB, sim *Sim) *Client {
	tb.Helper()
	return &Client{tb: tb, base: sim.URL, Region: "ap-singapore", ID: cvmsim.DemoSecretID, Key: cvmsim.DemoSecretKey, Now: time.Now()}
}

// Object is a JSON object.
type Object = map[string]any

var versions = map[string]string{"cvm": "2017-03-12", "tag": "2018-08-13", "sts": "2018-08-13"}

// Call makes one call and returns the content of Response.
func (a *Client) Call(service, action string, params Object) Object {
	a.tb.Helper()
	return a.Response(a.Signed(service, action, params))
}

// OK makes a call that must succeed.
func (a *Client) OK(service, action string, params Object) Object {
	a.tb.Helper()
	answer := a.Call(service, action, params)
	if code := CodeOf(answer); code != "" {
		a.tb.Fatalf("%s: %v", action, answer["Error"])
	}
	return answer
}

// Refused makes a call that must fail with the code.
func (a *Client) Refused(code, service, action string, params Object) {
	a.tb.Helper()
	if got := CodeOf(a.Call(service, action, params)); got != code {
		a.tb.Errorf("%s %v: got %q, want %q", action, params, got, code)
	}
}

// Signed returns a TC3-signed POST.
func (a *Client) Signed(service, action string, params Object) *http.Request {
	a.tb.Helper()
	if params == nil {
		params = Object{}
	}
	body, err := json.Marshal(params)
	if err != nil {
		a.tb.Fatal(err)
	}
	r, err := http.NewRequestWithContext(a.tb.Context(), http.MethodPost, a.base+"/", bytes.NewReader(body))
	if err != nil {
		a.tb.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-TC-Action", action)
	r.Header.Set("X-TC-Version", versions[service])
	if a.Region != "" {
		r.Header.Set("X-TC-Region", a.Region)
	}
	if a.Token != "" {
		r.Header.Set("X-TC-Token", a.Token)
	}
	a.Sign(r, service, body, []string{"content-type", "host"})
	if a.Bend != nil {
		a.Bend(r)
	}
	return r
}

// Sign adds a TC3 signature of the named headers to a request.
func (a *Client) Sign(r *http.Request, service string, body []byte, headers []string) {
	timestamp := strconv.FormatInt(a.Now.Unix(), 10)
	r.Header.Set("X-TC-Timestamp", timestamp)
	values := map[string]string{"host": r.URL.Host}
	a.SignWith(r, service, body, headers, values, timestamp)
}

// SignWith signs header values and a time that may differ from those of the request.
func (a *Client) SignWith(r *http.Request, service string, body []byte, headers []string, values map[string]string, timestamp string) {
	date := a.Now.UTC().Format("2006-01-02")
	var canonical strings.Builder
	for _, name := range headers {
		value, given := values[name]
		if !given {
			value = r.Header.Get(name)
		}
		fmt.Fprintf(&canonical, "%s:%s\n", name, value)
	}
	names := strings.Join(headers, ";")
	request := strings.Join([]string{r.Method, "/", r.URL.RawQuery, canonical.String(), names, digest(body)}, "\n")
	scope := date + "/" + service + "/tc3_request"
	toSign := strings.Join([]string{"TC3-HMAC-SHA256", timestamp, scope, digest([]byte(request))}, "\n")
	key := mac(mac(mac([]byte("TC3"+a.Key), date), service), "tc3_request")
	r.Header.Set("Authorization", fmt.Sprintf("TC3-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
		a.ID, scope, names, hex.EncodeToString(mac(key, toSign))))
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Response sends a request and reads an envelope.
func (a *Client) Response(r *http.Request) Object {
	a.tb.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		a.tb.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		a.tb.Fatal(err)
	}
	var envelope struct{ Response Object }
	if err := json.Unmarshal(raw, &envelope); err != nil {
		a.tb.Fatalf("HTTP %d, no envelope: %.200s", resp.StatusCode, raw)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/json" {
		a.tb.Errorf("got HTTP %d with %q, want 200 with application/json", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	if id, _ := envelope.Response["RequestId"].(string); len(id) != 36 {
		a.tb.Errorf("RequestId is %q", id)
	}
	return envelope.Response
}

// Run launches and returns the IDs.
func (a *Client) Run(changes Object) []string {
	a.tb.Helper()
	return Texts(a.OK("cvm", "RunInstances", Launch(changes))["InstanceIdSet"])
}

// Describe lists instances and returns them.
func (a *Client) Describe(params Object) []Object {
	a.tb.Helper()
	var out []Object
	set, _ := a.OK("cvm", "DescribeInstances", params)["InstanceSet"].([]any)
	for _, item := range set {
		out = append(out, item.(Object))
	}
	return out
}

// Offers lists what is sold, by filters.
func (a *Client) Offers(pairs ...string) []Object {
	a.tb.Helper()
	var out []Object
	for _, item := range a.OK("cvm", "DescribeZoneInstanceConfigInfos", FilterBy(pairs...))["InstanceTypeQuotaSet"].([]any) {
		out = append(out, item.(Object))
	}
	return out
}

// As returns a client with temporary credentials.
func (a *Client) As(answer Object) *Client {
	keys := answer["Credentials"].(Object)
	other := *a
	other.ID, other.Key, other.Token = keys["TmpSecretId"].(string), keys["TmpSecretKey"].(string), keys["Token"].(string)
	return &other
}
