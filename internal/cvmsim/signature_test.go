package cvmsim_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

func TestTC3Refusals(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	replace := func(old, by string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), old, by, 1))
		}
	}
	for name, test := range map[string]struct {
		change func(*api)
		code   string
	}{
		"wrong key":          {func(a *api) { a.key = "another" }, "AuthFailure.SignatureFailure"},
		"unknown id":         {func(a *api) { a.id = "AKIDsomebody" }, "AuthFailure.SecretIdNotFound"},
		"no id":              {func(a *api) { a.id = "" }, "AuthFailure.InvalidSecretId"},
		"too old":            {func(a *api) { a.now = a.now.Add(-6 * time.Minute) }, "AuthFailure.SignatureExpire"},
		"too young":          {func(a *api) { a.now = a.now.Add(6 * time.Minute) }, "AuthFailure.SignatureExpire"},
		"foreign token":      {func(a *api) { a.token = "not.a-token" }, "AuthFailure.TokenFailure"},
		"other body":         {func(a *api) { a.bend = func(r *http.Request) { r.Body = body(`{"Limit":1}`); r.ContentLength = 11 } }, "AuthFailure.SignatureFailure"},
		"other algorithm":    {func(a *api) { a.bend = replace("TC3-HMAC-SHA256", "TC3-HMAC-SM3") }, "AuthFailure.InvalidAuthorization"},
		"no signed host":     {func(a *api) { a.bend = replace("content-type;host", "content-type") }, "AuthFailure.InvalidAuthorization"},
		"malformed scope":    {func(a *api) { a.bend = replace("/tc3_request", "") }, "AuthFailure.InvalidAuthorization"},
		"short signature":    {func(a *api) { a.bend = replace("Signature=", "Signature=ab, X=") }, "AuthFailure.InvalidAuthorization"},
		"no authorization":   {func(a *api) { a.bend = func(r *http.Request) { r.Header.Del("Authorization") } }, "AuthFailure.InvalidAuthorization"},
		"unsigned":           {func(a *api) { a.bend = header("Authorization", "SKIP") }, "AuthFailure.InvalidAuthorization"},
		"no timestamp":       {func(a *api) { a.bend = func(r *http.Request) { r.Header.Del("X-TC-Timestamp") } }, "MissingParameter"},
		"no action":          {func(a *api) { a.bend = func(r *http.Request) { r.Header.Del("X-TC-Action") } }, "MissingParameter"},
		"unknown action":     {func(a *api) { a.bend = header("X-TC-Action", "StopTheWorld") }, "InvalidAction"},
		"no version":         {func(a *api) { a.bend = func(r *http.Request) { r.Header.Del("X-TC-Version") } }, "MissingParameter"},
		"other version":      {func(a *api) { a.bend = header("X-TC-Version", "2015-01-01") }, "NoSuchVersion"},
		"no region":          {func(a *api) { a.region = "" }, "MissingParameter"},
		"unknown region":     {func(a *api) { a.region = "mars-north" }, "UnsupportedRegion"},
		"unsupported method": {func(a *api) { a.bend = func(r *http.Request) { r.Method = http.MethodPut } }, "UnsupportedProtocol"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, sim)
			test.change(a)
			if got := codeOf(a.call("cvm", "DescribeInstances", object{})); got != test.code {
				t.Errorf("got %q, want %q", got, test.code)
			}
		})
	}
}

func body(text string) *readCloser { return &readCloser{strings.NewReader(text)} }

type readCloser struct{ *strings.Reader }

func (*readCloser) Close() error { return nil }

// Other SDKs sign other things: the host without its port, the first label of
// the host as the service (Node.js), more headers, or values in lower case.
func TestTC3Dialects(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	bare := strings.Split(strings.TrimPrefix(sim.URL, "http://"), ":")[0]
	for name, test := range map[string]struct {
		service string
		headers []string
		values  map[string]string
		code    string
	}{
		"as documented":             {"cvm", []string{"content-type", "host"}, nil, ""},
		"host without port":         {"cvm", []string{"content-type", "host"}, map[string]string{"host": bare}, ""},
		"service from the address":  {"127", []string{"content-type", "host"}, map[string]string{"host": bare}, ""},
		"the action signed, too":    {"cvm", []string{"content-type", "host", "x-tc-action"}, nil, ""},
		"the action in lower case":  {"cvm", []string{"content-type", "host", "x-tc-action"}, map[string]string{"x-tc-action": "describeinstances"}, ""},
		"another service":           {"sts", []string{"content-type", "host"}, nil, "AuthFailure.SignatureFailure"},
		"a service that isn't here": {"cbs", []string{"content-type", "host"}, nil, "AuthFailure.SignatureFailure"},
		"another host":              {"cvm", []string{"content-type", "host"}, map[string]string{"host": "cvm.tencentcloudapi.com"}, "AuthFailure.SignatureFailure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, sim)
			a.bend = func(r *http.Request) {
				values := map[string]string{"host": r.URL.Host}
				for k, v := range test.values {
					values[k] = v
				}
				a.signWith(r, test.service, []byte(`{}`), test.headers, values, r.Header.Get("X-TC-Timestamp"))
			}
			if got := codeOf(a.call("cvm", "DescribeInstances", object{})); got != test.code {
				t.Errorf("got %q, want %q", got, test.code)
			}
		})
	}
}

func TestUnsignedPayload(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	a.bend = func(r *http.Request) {
		r.Header.Set("X-TC-Content-SHA256", "UNSIGNED-PAYLOAD")
		a.sign(r, "cvm", []byte("UNSIGNED-PAYLOAD"), []string{"content-type", "host"})
	}
	a.ok("cvm", "DescribeInstances", object{"Limit": 1})
}

func TestV1Refusals(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	for name, test := range map[string]struct {
		form url.Values
		code string
	}{
		"no signature":     {url.Values{"Action": {"DescribeZones"}, "Version": {"2017-03-12"}, "Timestamp": {"1"}, "Nonce": {"1"}, "SecretId": {"x"}}, "MissingParameter"},
		"old":              {url.Values{"Action": {"DescribeZones"}, "Version": {"2017-03-12"}, "Timestamp": {"1"}, "Nonce": {"1"}, "SecretId": {"x"}, "Signature": {"x"}}, "AuthFailure.SignatureExpire"},
		"no timestamp":     {url.Values{"Action": {"DescribeZones"}, "Version": {"2017-03-12"}}, "MissingParameter"},
		"twice the action": {url.Values{"Action": {"DescribeZones", "RunInstances"}}, "InvalidParameter"},
		"no action":        {url.Values{}, "MissingParameter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequest(http.MethodPost, sim.URL, strings.NewReader(test.form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if got := codeOf(newAPI(t, sim).response(r)); got != test.code {
				t.Errorf("got %q, want %q", got, test.code)
			}
		})
	}
}

// A step of the world's clock shows in Date, and leaves signatures alone.
func TestStepKeepsSignatures(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	step(t, sim, 240*time.Hour)
	resp, err := http.DefaultClient.Do(newAPI(t, sim).signed("cvm", "DescribeInstances", object{}))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var envelope struct{ Response object }
	if err := json.NewDecoder(resp.Body).Decode(&envelope); err != nil || codeOf(envelope.Response) != "" {
		t.Fatalf("%v %v", err, envelope)
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || date.Before(time.Now().Add(239*time.Hour)) {
		t.Errorf("Date is %v (%v), want ten days ahead", date, err)
	}
}

func TestRequestLimits(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	a.bend = func(r *http.Request) {
		big := bytes.Repeat([]byte(" "), 10<<20+1)
		r.Body, r.ContentLength = body(string(big)), int64(len(big))
	}
	a.refused("RequestSizeLimitExceeded", "cvm", "DescribeInstances", object{})
	r, err := http.NewRequest(http.MethodGet, sim.URL+"/?Action=DescribeZones&x="+strings.Repeat("y", 33<<10), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := codeOf(newAPI(t, sim).response(r)); got != "RequestSizeLimitExceeded" {
		t.Errorf("long query: %q", got)
	}
}

// Parameters are taken strictly: names, types, and nothing after the object.
func TestStrictParameters(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	a.refused("UnknownParameter", "cvm", "DescribeInstances", object{"Limitt": 1})
	a.refused("UnknownParameter", "cvm", "DescribeInstances", object{"limit": 1})
	a.refused("UnknownParameter", "cvm", "RunInstances", launch(object{"Placement": object{"Zone": "ap-singapore-2", "Rack": "7"}}))
	a.refused("UnknownParameter", "sts", "GetCallerIdentity", object{"Zone": "x"})
	a.refused("InvalidParameter", "cvm", "DescribeInstances", object{"Limit": "1"})
	a.refused("InvalidParameter", "cvm", "DescribeInstances", object{"Limit": 1.5})
	a.refused("InvalidParameter", "cvm", "DescribeInstances", object{"InstanceIds": "ins-a1b2c3d4"})
	a.refused("InvalidParameter", "cvm", "DescribeInstances", object{"InstanceIds": []any{nil}})
	a.refused("InvalidParameter", "cvm", "RunInstances", launch(object{"DryRun": "true"}))
	a.ok("cvm", "DescribeInstances", object{"Limit": nil, "Filters": []any{}})
	for _, text := range []string{"", "null", "[]", `{"Limit":1}{}`, `{"Limit":`} {
		a.bend = func(r *http.Request) {
			r.Body, r.ContentLength = body(text), int64(len(text))
			a.sign(r, "cvm", []byte(text), []string{"content-type", "host"})
		}
		a.refused("InvalidParameter", "cvm", "DescribeInstances", object{})
	}
}

func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	sim := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.CallLog = &log })
	a := newAPI(t, sim)
	a.run(object{"UserData": "c2VjcmV0LWluLXVzZXItZGF0YQ==", "LoginSettings": object{"Password": "Secret-Password-1"}})
	a.key = "wrong"
	a.refused("AuthFailure.SignatureFailure", "cvm", "DescribeInstances", object{})
	text := log.String()
	if strings.Count(text, "\n") != 2 || !strings.Contains(text, `"action":"RunInstances"`) {
		t.Errorf("the log has no line for each call:\n%s", text)
	}
	for _, secret := range []string{cvmsim.DemoSecretKey, "c2VjcmV0LWluLXVzZXItZGF0YQ", "secret-in-user-data", "Secret-Password-1", "TC3-HMAC"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}
