package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/klog/v2"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

func TestTheClientLibraryWritesNothingByItself(t *testing.T) {
	t.Parallel()
	if klog.Background().Enabled() {
		t.Error("client-go writes to standard error, past the logger that was handed in")
	}
}

func TestTheClockIsTheServers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", "Sun, 06 Nov 2033 08:49:37 GMT")
		_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"u-1"}}`)
	}))
	defer server.Close()
	c, err := kubeclient.Open(kubeclient.Config{Host: server.URL}, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	if now := c.Now(); !now.IsZero() {
		t.Errorf("before the first answer it is %v", now)
	}
	if uid, err := c.UID(t.Context()); err != nil || uid != "u-1" {
		t.Fatal(uid, err)
	}
	if now := c.Now(); now.Year() != 2033 || now.Minute() != 49 {
		t.Errorf("it is %v, want the server's Date", now)
	}
}
