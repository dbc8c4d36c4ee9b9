package wire_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

type object = map[string]any

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
		change func(*cvmsimtest.Client)
		code   string
	}{
		"wrong key":     {func(a *cvmsimtest.Client) { a.Key = "another" }, "AuthFailure.SignatureFailure"},
		"unknown id":    {func(a *cvmsimtest.Client) { a.ID = "AKIDsomebody" }, "AuthFailure.SecretIdNotFound"},
		"no id":         {func(a *cvmsimtest.Client) { a.ID = "" }, "AuthFailure.InvalidSecretId"},
		"too old":       {func(a *cvmsimtest.Client) { a.Now = a.Now.Add(-6 * time.Minute) }, "AuthFailure.SignatureExpire"},
		"too young":     {func(a *cvmsimtest.Client) { a.Now = a.Now.Add(6 * time.Minute) }, "AuthFailure.SignatureExpire"},
		"foreign token": {func(a *cvmsimtest.Client) { a.Token = "not.a-token" }, "AuthFailure.TokenFailure"},
		"other body": {func(a *cvmsimtest.Client) {
			a.Bend = func(r *http.Request) { r.Body = body(`{"Limit":1}`); r.ContentLength = 11 }
		}, "AuthFailure.SignatureFailure"},
		"other algorithm": {func(a *cvmsimtest.Client) { a.Bend = replace("TC3-HMAC-SHA256", "TC3-HMAC-SM3") }, "AuthFailure.InvalidAuthorization"},
		"no signed host":  {func(a *cvmsimtest.Client) { a.Bend = replace("content-type;host", "content-type") }, "AuthFailure.InvalidAuthorization"},
		"malformed scope": {func(a *cvmsimtest.Client) { a.Bend = replace("/tc3_request", "") }, "AuthFailure.InvalidAuthorization"},
		"short signature": {func(a *cvmsimtest.Client) { a.Bend = replace("Signature=", "Signature=ab, X=") }, "AuthFailure.InvalidAuthorization"},
		"no authorization": {
			func(a *cvmsimtest.Client) { a.Bend = func(r *http.Request) { r.Header.Del("Authorization") } }, "AuthFailure.InvalidAuthorization",
		},
		"unsigned":           {func(a *cvmsimtest.Client) { a.Bend = header("Authorization", "SKIP") }, "AuthFailure.InvalidAuthorization"},
		"no timestamp":       {func(a *cvmsimtest.Client) { a.Bend = func(r *http.Request) { r.Header.Del("X-TC-Timestamp") } }, "MissingParameter"},
		"no action":          {func(a *cvmsimtest.Client) { a.Bend = func(r *http.Request) { r.Header.Del("X-TC-Action") } }, "MissingParameter"},
		"unknown action":     {func(a *cvmsimtest.Client) { a.Bend = header("X-TC-Action", "StopTheWorld") }, "InvalidAction"},
		"no version":         {func(a *cvmsimtest.Client) { a.Bend = func(r *http.Request) { r.Header.Del("X-TC-Version") } }, "MissingParameter"},
		"other version":      {func(a *cvmsimtest.Client) { a.Bend = header("X-TC-Version", "2015-01-01") }, "NoSuchVersion"},
		"no region":          {func(a *cvmsimtest.Client) { a.Region = "" }, "MissingParameter"},
		"unknown region":     {func(a *cvmsimtest.Client) { a.Region = "mars-north" }, "UnsupportedRegion"},
		"unsupported method": {func(a *cvmsimtest.Client) { a.Bend = func(r *http.Request) { r.Method = http.MethodPut } }, "UnsupportedProtocol"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := cvmsimtest.NewClient(t, sim)
			test.change(a)
			if got := cvmsimtest.CodeOf(a.Call("cvm", "DescribeInstances", object{})); got != test.code {
				t.Errorf("got %q, want %q", got, test.code)
			}
		})
	}
}

func body(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }

// Other SDKs sign the host without its port, more headers, or values in lower case. Node.js signs
// the first label of the host as the service.
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
		"another host": {
			"cvm", []string{"content-type", "host"}, map[string]string{"host": "cvm.tencentcloudapi.com"}, "AuthFailure.SignatureFailure",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := cvmsimtest.NewClient(t, sim)
			a.Bend = func(r *http.Request) {
				values := map[string]string{"host": r.URL.Host}
				for k, v := range test.values {
					values[k] = v
				}
				a.SignWith(r, test.service, []byte(`{}`), test.headers, values, r.Header.Get("X-TC-Timestamp"))
			}
			if got := cvmsimtest.CodeOf(a.Call("cvm", "DescribeInstances", object{})); got != test.code {
				t.Errorf("got %q, want %q", got, test.code)
			}
		})
	}
}

func TestUnsignedPayload(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	a.Bend = func(r *http.Request) {
		r.Header.Set("X-TC-Content-SHA256", "UNSIGNED-PAYLOAD")
		a.Sign(r, "cvm", []byte("UNSIGNED-PAYLOAD"), []string{"content-type", "host"})
	}
	a.OK("cvm", "DescribeInstances", object{"Limit": 1})
}

// A form, as the older signature methods send it, is refused with the method to use.
func TestFormIsRefused(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	form := url.Values{"Action": {"DescribeInstances"}, "Version": {"2017-03-12"}, "SignatureMethod": {"HmacSHA256"}, "Signature": {"x"}}
	r, err := http.NewRequest(http.MethodPost, sim.URL, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	failure, _ := cvmsimtest.NewClient(t, sim).Response(r)["Error"].(object)
	if message, _ := failure["Message"].(string); !strings.Contains(message, "TC3-HMAC-SHA256") {
		t.Errorf("got %v, want the signature method to use", failure)
	}
}

// A step of the world's clock changes Date, but not signatures.
func TestStepKeepsSignatures(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	cvmsimtest.Step(t, sim, 240*time.Hour)
	resp, err := http.DefaultClient.Do(cvmsimtest.NewClient(t, sim).Signed("cvm", "DescribeInstances", object{}))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var envelope struct{ Response object }
	if err := json.NewDecoder(resp.Body).Decode(&envelope); err != nil || cvmsimtest.CodeOf(envelope.Response) != "" {
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
	a := cvmsimtest.NewClient(t, sim)
	a.Bend = func(r *http.Request) {
		big := bytes.Repeat([]byte(" "), 10<<20+1)
		r.Body, r.ContentLength = body(string(big)), int64(len(big))
	}
	a.Refused("RequestSizeLimitExceeded", "cvm", "DescribeInstances", object{})
	r, err := http.NewRequest(http.MethodGet, sim.URL+"/?x="+strings.Repeat("y", 33<<10), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := cvmsimtest.CodeOf(cvmsimtest.NewClient(t, sim).Response(r)); got != "RequestSizeLimitExceeded" {
		t.Errorf("long query: %q", got)
	}
}

// Parameters are taken strictly: names, types, and nothing after the object.
func TestStrictParameters(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	a.Refused("UnknownParameter", "cvm", "DescribeInstances", object{"Limitt": 1})
	a.Refused("UnknownParameter", "cvm", "DescribeInstances", object{"limit": 1})
	a.Refused("UnknownParameter", "cvm", "RunInstances", cvmsimtest.Launch(object{"Placement": object{"Zone": "ap-singapore-2", "Rack": "7"}}))
	a.Refused("UnknownParameter", "sts", "GetCallerIdentity", object{"Zone": "x"})
	a.Refused("InvalidParameter", "cvm", "DescribeInstances", object{"Limit": "1"})
	a.Refused("InvalidParameter", "cvm", "DescribeInstances", object{"Limit": 1.5})
	a.Refused("InvalidParameter", "cvm", "DescribeInstances", object{"InstanceIds": "ins-a1b2c3d4"})
	a.Refused("InvalidParameter", "cvm", "DescribeInstances", object{"InstanceIds": []any{nil}})
	a.Refused("InvalidParameter", "cvm", "RunInstances", cvmsimtest.Launch(object{"DryRun": "true"}))
	a.OK("cvm", "DescribeInstances", object{"Limit": nil, "Filters": []any{}})
	for _, text := range []string{"", "null", "[]", `{"Limit":1}{}`, `{"Limit":`} {
		a.Bend = func(r *http.Request) {
			r.Body, r.ContentLength = body(text), int64(len(text))
			a.Sign(r, "cvm", []byte(text), []string{"content-type", "host"})
		}
		a.Refused("InvalidParameter", "cvm", "DescribeInstances", object{})
	}
}

func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	sim := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.CallLog = &log })
	a := cvmsimtest.NewClient(t, sim)
	a.Run(object{"UserData": "c2VjcmV0LWluLXVzZXItZGF0YQ==", "LoginSettings": object{"Password": "Secret-Password-1"}})
	a.Key = "wrong"
	a.Refused("AuthFailure.SignatureFailure", "cvm", "DescribeInstances", object{})
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
