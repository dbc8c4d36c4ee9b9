package cli_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// usedBy returns the processor time and the peak memory of a process.
func usedBy(b *testing.B, pid int) (processor time.Duration, peakMB float64) {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	for _, field := range strings.Fields(rest)[11:13] { // in hundredths of a second
		ticks, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		processor += time.Duration(ticks) * 10 * time.Millisecond
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ = strings.Cut(string(status), "VmHWM:")
	kilobytes, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return processor, kilobytes / 1000
}

// BenchmarkServe measures a server with 1,000 budgets, as a process. After two runs, it is idle for two
// minutes, and reconciles every 40 seconds. Then a client reads all budgets, which an idle server has to collect.
// After that, clients read them by TLS 200 times a second for ten seconds, by HTTP/1.1 and by HTTP/2.
func BenchmarkServe(b *testing.B) {
	w, server := newWorld(b, b.TempDir()), kubetest.Start(b)
	declaring := w.process()
	cluster := adapter(b, server)
	declaring.Cluster = func(context.Context) (reconcile.Cluster, error) { return cluster, nil }
	for n := range 1000 {
		name := fmt.Sprintf("team-%03d", n)
		if _, err := declaring.Budgets().Create(b.Context(), budget.Declaration{
			Name: name, GPUHours: "100", Window: "24h", Selector: budget.Selector{Namespaces: []string{name}},
		}.WithDefaults()); err != nil {
			b.Fatal(err)
		}
	}
	cert, key, trusts := keyPair(b)
	p := w.start("serve", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--kubeconfig", server.Kubeconfig())
	url := ""
	for began := time.Now(); !strings.Contains(url, "http") && time.Since(began) < time.Minute; time.Sleep(50 * time.Millisecond) {
		_, url, _ = strings.Cut(strings.TrimSpace(p.stdout()), " at ")
	}
	time.Sleep(time.Minute) // for two runs: the second removes the events from statuses that the first reported
	before, _ := usedBy(b, p.Process.Pid)
	const idle = 2 * time.Minute
	time.Sleep(idle)
	after, peak := usedBy(b, p.Process.Pid)
	b.ReportMetric(100*(after-before).Seconds()/idle.Seconds(), "idle-core-%")
	b.ReportMetric(peak, "idle-MB")
	began := time.Now()
	if err := discard(b.Context(), &http.Client{Transport: &http.Transport{TLSClientConfig: trusts}}, url+"/api/v1/budgets"); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "first-ms")
	for prefix, choose := range map[string]func(*http.Protocols, bool){"": (*http.Protocols).SetHTTP1, "h2-": (*http.Protocols).SetHTTP2} {
		var protocols http.Protocols
		choose(&protocols, true)
		p50, p99 := load(b, url+"/api/v1/budgets", &http.Transport{MaxIdleConnsPerHost: 100, TLSClientConfig: trusts.Clone(), Protocols: &protocols})
		b.ReportMetric(p50, prefix+"p50-ms")
		b.ReportMetric(p99, prefix+"p99-ms")
	}
	_, peak = usedBy(b, p.Process.Pid)
	b.ReportMetric(peak, "load-MB")
}

// keyPair writes a certificate for 127.0.0.1 and its key, and returns the configuration of a client that trusts it.
func keyPair(b *testing.B) (cert, key string, trusts *tls.Config) {
	b.Helper()
	borrowed := httptest.NewTLSServer(http.NotFoundHandler())
	defer borrowed.Close()
	pair := borrowed.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AddCert(borrowed.Certificate())
	return cert, key, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// load reads a page 200 times a second for ten seconds, and returns latencies in milliseconds.
func load(b *testing.B, url string, by *http.Transport) (p50, p99 float64) {
	b.Helper()
	var mu sync.Mutex
	var took []float64
	var all sync.WaitGroup
	client := &http.Client{Transport: by}
	tick := time.NewTicker(time.Second / 200)
	defer tick.Stop()
	for range 2000 {
		<-tick.C
		all.Go(func() {
			began := time.Now()
			if err := discard(b.Context(), client, url); err != nil {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, float64(time.Since(began).Microseconds())/1000)
		})
	}
	all.Wait()
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100]
}

// discard reads a page as it is sent, compressed.
func discard(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
