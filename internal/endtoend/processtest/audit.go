package processtest

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// Audit is each call of gpupool that changes something, in the order of their answers. It
// is safe for concurrent use.
type Audit struct {
	mu    sync.Mutex
	lines []string
}

// Note writes a call down.
func (a *Audit) Note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
}

// Taken returns what was written down since it was asked last. What was asked again and
// again stands there once.
func (a *Audit) Taken() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	lines := slices.Compact(a.lines)
	a.lines = nil
	return lines
}

// Wants compares what was asked since the last time.
func (a *Audit) Wants(t *testing.T, when string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, a.Taken()); diff != "" {
		t.Errorf("calls %s (-want +got):\n%s", when, diff)
	}
}

// Between stands between gpupool and the cluster's API server, and hands all calls on by
// a transport, which hears them.
func Between(t *testing.T, c *kubetest.Cluster, transport http.RoundTripper) http.Handler {
	t.Helper()
	to, err := url.Parse(c.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: transport, FlushInterval: -1,
	}
}
