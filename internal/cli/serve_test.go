package cli_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// server starts gpupool serve, and returns its address.
func (w *world) server(t *testing.T, flags ...string) (p *started, url string) {
	t.Helper()
	p = w.start(append([]string{"serve", "--listen", "127.0.0.1:0", "--every", "100ms"}, flags...)...)
	eventually(t, "the server listens", func() bool { return strings.Contains(p.stdout(), "\n") })
	_, url, found := strings.Cut(strings.TrimSpace(p.stdout()), " at ")
	if !found {
		t.Fatalf("standard output: %s%s", p.stdout(), p.stderr())
	}
	return p, url
}

func page(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url) //nolint:gosec // the test's own server
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// Two servers replace a reclaimed instance once, and serve the same. One that is killed leaves
// nothing behind, and one that is stopped finishes.
func TestServeReconcilesAndServes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	killed, _ := w.server(t)
	stopped, url := w.server(t)
	w.reclaim("train")
	eventually(t, "the instance is replaced", func() bool {
		_, text := page(t, url+"/api/v1/spotpools/"+region+"/train")
		return strings.Contains(text, `"capacity":1`)
	})
	killed.signal(t, syscall.SIGKILL)
	again, second := w.server(t)
	for _, at := range []string{url, second} {
		code, text := page(t, at+"/metrics")
		if code != 200 || !strings.Contains(text, "\ngpupool_pool_capacity{") || !strings.Contains(text, "\ngpupool_runs_total ") {
			t.Errorf("GET /metrics: %d %s", code, text)
		}
	}
	for _, p := range []*started{stopped, again} {
		p.signal(t, syscall.SIGTERM)
		if code := p.exitCode(t); code != 143 {
			t.Errorf("the exit code is %d: %s", code, p.stderr())
		}
	}
	if n := w.calls("RunInstances"); n != 2 {
		t.Errorf("%d launches, want one and its replacement", n)
	}
	if text := again.stderr() + stopped.stderr(); secretIn(text) != "" {
		t.Errorf("standard error has the %s", secretIn(text))
	}
}

func TestServeRefusesUnprotectedAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	tokens := filepath.Join(w.dir, "tokens")
	if err := os.WriteFile(tokens, []byte("alice abc reader ml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.process()
	for flags, says := range map[string]string{
		"--listen 0.0.0.0:0":                          "add --tls-cert and --tls-key, or --behind-proxy",
		"--listen :0 --behind-proxy":                  "add --tokens-file, or --token-review",
		"--behind-proxy":                              "others reach the server by the proxy, so add --tokens-file",
		"--listen localhost":                          "use HOST:PORT",
		"--tls-cert a":                                "need each other",
		"--tls-cert a --tls-key b":                    "cannot read the certificate",
		"--tokens-file " + tokens:                     "the SHA-256 of alice is invalid",
		"--tokens-file " + tokens + " --token-review": "exclude each other",
		"--every 0s":                                  "must be longer than 0",
		"--read-only --every 10s":                     "exclude each other",
		"--listen :0 --behind-proxy --tokens-file " + w.dir + "": "cannot read the tokens",
	} {
		p := w.start(append([]string{"serve"}, strings.Fields(flags)...)...)
		if code := p.exitCode(t); code == 0 || !strings.Contains(p.stderr(), says) {
			t.Errorf("serve %s: %d %s", flags, code, p.stderr())
		}
	}
}

// A cloud that hangs does not keep budgets and probes from being served.
func TestServeWhileTheCloudHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	w.fault(cvmsim.Fault{Kind: cvmsim.FaultSlow, Delay: cvmsim.Duration(30e9), Action: "*", Count: -1})
	p, url := w.server(t, "--timeout", "2s")
	for _, path := range []string{"/livez", "/readyz", "/api/v1/budgets", "/api/v1/health"} {
		if code, text := page(t, url+path); code != 200 {
			t.Errorf("GET %s: %d %s", path, code, text)
		}
	}
	p.signal(t, syscall.SIGTERM)
	p.exitCode(t)
}

// A request for a run is done at once, and by the server itself.
func TestServeRunsRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	_, url := w.server(t, "--every", "1h")
	eventually(t, "the first run ends", func() bool {
		_, text := page(t, url+"/api/v1/status")
		return strings.Contains(text, `"finished_at"`)
	})
	w.reclaim("train")
	response, err := http.Post(url+"/api/v1/runs", "application/json", strings.NewReader("{}")) //nolint:gosec // the test's own server
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		t.Fatalf("POST runs: %s", response.Status)
	}
	eventually(t, "the instance is replaced", func() bool { return w.calls("RunInstances") == 2 })
	eventually(t, "the job succeeded", func() bool {
		_, text := page(t, url+response.Header.Get("Location"))
		return strings.Contains(text, `"state":"succeeded"`)
	})
}
