package cvmsim_test

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
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// api is a client of the wire protocol that shares no code with the server or
// the SDK, so that a test can bend whatever it likes.
type api struct {
	tb     testing.TB
	base   string
	region string
	id     string
	key    string
	token  string
	// bend changes a signed request before it is sent.
	bend func(*http.Request)
	now  time.Time
}

func newAPI(tb testing.TB, sim *cvmsimtest.Sim) *api {
	tb.Helper()
	return &api{tb: tb, base: sim.URL, region: "ap-singapore", id: cvmsim.DemoSecretID, key: cvmsim.DemoSecretKey, now: time.Now()}
}

type object = map[string]any

var versions = map[string]string{"cvm": "2017-03-12", "tag": "2018-08-13", "sts": "2018-08-13"}

// call makes one call and returns the content of Response.
func (a *api) call(service, action string, params object) object {
	a.tb.Helper()
	return a.response(a.signed(service, action, params))
}

// ok makes a call that must succeed.
func (a *api) ok(service, action string, params object) object {
	a.tb.Helper()
	answer := a.call(service, action, params)
	if code := codeOf(answer); code != "" {
		a.tb.Fatalf("%s: %v", action, answer["Error"])
	}
	return answer
}

// refused makes a call that must be answered with the code.
func (a *api) refused(code, service, action string, params object) {
	a.tb.Helper()
	if got := codeOf(a.call(service, action, params)); got != code {
		a.tb.Errorf("%s %v: got %q, want %q", action, params, got, code)
	}
}

func codeOf(answer object) string {
	failure, _ := answer["Error"].(object)
	code, _ := failure["Code"].(string)
	return code
}

// signed is a TC3-signed POST.
func (a *api) signed(service, action string, params object) *http.Request {
	a.tb.Helper()
	if params == nil {
		params = object{}
	}
	body, err := json.Marshal(params)
	if err != nil {
		a.tb.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, a.base+"/", bytes.NewReader(body))
	if err != nil {
		a.tb.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-TC-Action", action)
	r.Header.Set("X-TC-Version", versions[service])
	if a.region != "" {
		r.Header.Set("X-TC-Region", a.region)
	}
	if a.token != "" {
		r.Header.Set("X-TC-Token", a.token)
	}
	a.sign(r, service, body, []string{"content-type", "host"})
	if a.bend != nil {
		a.bend(r)
	}
	return r
}

// sign puts a TC3 signature over the named headers on a request.
func (a *api) sign(r *http.Request, service string, body []byte, headers []string) {
	timestamp := strconv.FormatInt(a.now.Unix(), 10)
	r.Header.Set("X-TC-Timestamp", timestamp)
	values := map[string]string{"host": r.URL.Host}
	a.signWith(r, service, body, headers, values, timestamp)
}

func (a *api) signWith(r *http.Request, service string, body []byte, headers []string, values map[string]string, timestamp string) {
	date := a.now.UTC().Format("2006-01-02")
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
	key := mac(mac(mac([]byte("TC3"+a.key), date), service), "tc3_request")
	r.Header.Set("Authorization", fmt.Sprintf("TC3-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
		a.id, scope, names, hex.EncodeToString(mac(key, toSign))))
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

// response sends a request and reads an envelope.
func (a *api) response(r *http.Request) object {
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
	var envelope struct{ Response object }
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

// launch is a well-formed RunInstances for a spot GN7 in Singapore zone 2, with
// changes.
func launch(changes object) object {
	params := object{
		"InstanceChargeType": "SPOTPAID",
		"Placement":          object{"Zone": "ap-singapore-2"},
		"InstanceType":       "GN7.2XLARGE32",
		"ImageId":            "img-a1b2c3d4",
		"LoginSettings":      object{"KeyIds": []string{"skey-a1b2c3d4"}},
		"TagSpecification":   tagSpec("gpupool/pool", "train"),
	}
	for name, value := range changes {
		if value == nil {
			delete(params, name)
			continue
		}
		params[name] = value
	}
	return params
}

func tagSpec(pairs ...string) []object {
	tags := []object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		tags = append(tags, object{"Key": pairs[i], "Value": pairs[i+1]})
	}
	return []object{{"ResourceType": "instance", "Tags": tags}}
}

// run launches and returns the ids.
func (a *api) run(changes object) []string {
	a.tb.Helper()
	return texts(a.ok("cvm", "RunInstances", launch(changes))["InstanceIdSet"])
}

// describe lists instances and returns them.
func (a *api) describe(params object) []object {
	a.tb.Helper()
	var out []object
	set, _ := a.ok("cvm", "DescribeInstances", params)["InstanceSet"].([]any)
	for _, item := range set {
		out = append(out, item.(object))
	}
	return out
}

func texts(list any) []string {
	var out []string
	items, _ := list.([]any)
	for _, item := range items {
		out = append(out, item.(string))
	}
	return out
}

func filterBy(pairs ...string) object {
	filters := []object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		filters = append(filters, object{"Name": pairs[i], "Values": []string{pairs[i+1]}})
	}
	return object{"Filters": filters}
}

// step moves the world's clock.
func step(tb testing.TB, sim *cvmsimtest.Sim, by time.Duration) {
	tb.Helper()
	if _, err := sim.Server.StepClock(by); err != nil {
		tb.Fatal(err)
	}
}

// slow makes launches and terminations take so long that only a step ends
// them.
func slow(o *cvmsim.Options) { o.LaunchDelay, o.TerminateDelay = time.Minute, time.Minute }
