package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// FuzzRequest sends whatever as a request: it is answered with an envelope,
// and launches nothing that wasn't asked for with a valid signature.
func FuzzRequest(f *testing.F) {
	f.Add("POST", "", "application/json", "TC3-HMAC-SHA256 Credential=a/2026-01-01/cvm/tc3_request, SignedHeaders=content-type;host, Signature=00",
		"1767225600", "RunInstances", `{"InstanceCount":1}`)
	f.Add("GET", "Action=RunInstances&Version=2017-03-12&Timestamp=1&Nonce=1&SecretId=x&Signature=y&Filters.0.Name=zone", "", "", "", "", "")
	f.Add("POST", "", "application/x-www-form-urlencoded", "", "", "", "Action=DescribeInstances&Version=2017-03-12&Region=ap-singapore")
	f.Add("POST", "", "application/json", "SKIP", "1767225600", "AssumeRoleWithWebIdentity",
		`{"ProviderId":"p","WebIdentityToken":"t","RoleArn":"qcs::cam::uin/1:roleName/r","RoleSessionName":"s"}`)
	server, err := cvmsim.New(cvmsim.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, query, contentType, authorization, timestamp, action, body string) {
		r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:9170/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Method, r.URL.RawQuery = method, query
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Authorization", authorization)
		r.Header.Set("X-TC-Timestamp", timestamp)
		r.Header.Set("X-TC-Action", action)
		r.Header.Set("X-TC-Version", "2017-03-12")
		r.Header.Set("X-TC-Region", "ap-singapore")
		checkEnvelope(t, server, r)
		if n := len(server.Instances()); n != 0 {
			t.Fatalf("launched %d instances", n)
		}
	})
}

// FuzzParameters sends arbitrary signed parameters of each action. There must be no server
// error, and the world must stay readable.
func FuzzParameters(f *testing.F) {
	f.Add("RunInstances",
		`{"Placement":{"Zone":"ap-singapore-2"},"ImageId":"img-a1b2c3d4","InstanceType":"GN7.2XLARGE32","InstanceCount":2,"InstanceName":"x{R:999999999}"}`)
	f.Add("DescribeInstances", `{"Filters":[{"Name":"tag:gpupool/pool","Values":["a","b"]}],"Offset":9223372036854775807,"Limit":100}`)
	f.Add("GetResources", `{"PaginationToken":"OTk5","ResourceList":["qcs::cvm:ap-singapore:uin/:instance/ins-a1b2c3d4"]}`)
	f.Add("DescribeZoneInstanceConfigInfos", `{"Filters":[{"Name":"sort-keys","Values":["cpu:desc"]}]}`)
	services := map[string]string{"GetResources": "tag", "TagResources": "tag", "UnTagResources": "tag", "ModifyResourceTags": "tag", "AssumeRole": "sts"}
	f.Fuzz(func(t *testing.T, action, body string) {
		server, err := cvmsim.New(cvmsim.Options{LaunchDelay: -1})
		if err != nil {
			t.Fatal(err)
		}
		a := cvmsimtest.NewClient(t, &cvmsimtest.Sim{URL: "http://127.0.0.1:9170"})
		service := services[action]
		if service == "" {
			service = "cvm"
		}
		for _, call := range []struct{ action, body string }{{action, body}, {"DescribeInstances", `{"Limit":100}`}} {
			r := a.Signed(service, "DescribeInstances", nil)
			r.Header.Set("X-TC-Action", call.action)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(call.body)), int64(len(call.body))
			a.Sign(r, service, []byte(call.body), []string{"content-type", "host"})
			checkEnvelope(t, server, r)
			service = "cvm"
		}
		server.Instances()
	})
}

func checkEnvelope(t *testing.T, server http.Handler, r *http.Request) {
	t.Helper()
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	var envelope struct {
		Response struct {
			RequestID string `json:"RequestId"`
			Error     *struct{ Code, Message string }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &envelope); err != nil || w.Code != http.StatusOK || envelope.Response.RequestID == "" {
		t.Fatalf("HTTP %d: %v: %.300s", w.Code, err, w.Body)
	}
	if failure := envelope.Response.Error; failure != nil && (failure.Code == "" || strings.HasPrefix(failure.Code, "Internal")) {
		t.Fatalf("%+v", failure)
	}
}
