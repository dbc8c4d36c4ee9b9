// Package cvmsimtest starts a local CVM for a test. It is separate from package cvmsim so that a
// binary with a local CVM does not link testing and httptest.
package cvmsimtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
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

// Start starts a fast local CVM: launches and terminations settle in milliseconds, tags are never
// late, and there are no rate limits. Each opt may change its options.
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

// Serve serves an existing local CVM on loopback until the test ends.
func Serve(tb testing.TB, server *cvmsim.Server) *Sim {
	tb.Helper()
	listener := httptest.NewServer(server)
	tb.Cleanup(func() {
		if err := server.Close(); err != nil { // first, since it ends the delays of faults
			tb.Errorf("closing the local CVM: %v", err)
		}
		listener.CloseClientConnections()
		listener.Close()
	})
	return &Sim{Server: server, URL: listener.URL}
}

// Step advances the world's clock.
func Step(tb testing.TB, sim *Sim, by time.Duration) {
	tb.Helper()
	if _, err := sim.Server.StepClock(by); err != nil {
		tb.Fatal(err)
	}
}

// Slow makes launches and terminations last until the clock is stepped.
func Slow(o *cvmsim.Options) { o.LaunchDelay, o.TerminateDelay = time.Minute, time.Minute }

// Seed creates instances, by default GN7 in Singapore zone 2.
func Seed(tb testing.TB, sim *Sim, r cvmsim.SeedRequest) []string {
	tb.Helper()
	if r.AvailabilityZone == "" {
		r.AvailabilityZone = "ap-singapore-2"
	}
	if r.InstanceType == "" {
		r.InstanceType = "GN7.2XLARGE32"
	}
	ids, err := sim.Server.Seed(r)
	if err != nil {
		tb.Fatal(err)
	}
	return ids
}

// AddFault adds a fault.
func AddFault(t *testing.T, sim *Sim, f cvmsim.Fault) {
	t.Helper()
	if _, err := sim.Server.AddFault(f); err != nil {
		t.Fatal(err)
	}
}

// Control calls an endpoint of the control surface.
func Control(t *testing.T, sim *Sim, method, path, body string) (int, Object) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, sim.URL+"/_sim/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer Object
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatalf("%s %s: HTTP %d: %v", method, path, resp.StatusCode, err)
	}
	return resp.StatusCode, answer
}

// Frozen stops the base clock, so that the world's clock moves by steps only.
func Frozen(o *cvmsim.Options) {
	now := time.Now()
	o.Clock = func() time.Time { return now }
}

// CopyOf copies a state directory in the state after a crash.
func CopyOf(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
