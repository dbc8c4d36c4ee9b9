// Package cvmsimtest starts a local CVM for a test. It is apart from package
// cvmsim so that a binary that serves one doesn't link testing and httptest.
package cvmsimtest

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// Sim is a local CVM that listens on loopback until its test ends.
type Sim struct {
	Server *cvmsim.Server
	// URL is its base, like http://127.0.0.1:45678.
	URL string
}

// Start starts a local CVM that is fast: launches and terminations settle in
// milliseconds, tags are never late, and there are no rate limits. Each opt
// may change its options.
func Start(tb testing.TB, opts ...func(*cvmsim.Options)) *Sim {
	tb.Helper()
	options := cvmsim.Options{LaunchDelay: 5 * time.Millisecond, TerminateDelay: 5 * time.Millisecond}
	for _, opt := range opts {
		opt(&options)
	}
	server, err := cvmsim.New(options)
	if err != nil {
		tb.Fatalf("starting a local CVM: %v", err)
	}
	return Serve(tb, server)
}

// Serve serves a local CVM that exists already on loopback, until the test
// ends.
func Serve(tb testing.TB, server *cvmsim.Server) *Sim {
	tb.Helper()
	listener := httptest.NewServer(server)
	tb.Cleanup(func() {
		if err := server.Close(); err != nil { // first, since it ends the calls that a fault holds back
			tb.Errorf("closing the local CVM: %v", err)
		}
		listener.CloseClientConnections()
		listener.Close()
	})
	return &Sim{Server: server, URL: listener.URL}
}
