package cli_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
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
// After that, clients read them 200 times a second, for ten seconds.
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
	p := w.start("serve", "--listen", "127.0.0.1:0", "--kubeconfig", server.Kubeconfig())
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
	if err := discard(b.Context(), http.DefaultClient, url+"/api/v1/budgets"); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "first-ms")
	p50, p99 := load(b, url+"/api/v1/budgets")
	_, peak = usedBy(b, p.Process.Pid)
	b.ReportMetric(p50, "p50-ms")
	b.ReportMetric(p99, "p99-ms")
	b.ReportMetric(peak, "load-MB")
}

// load reads a page 200 times a second for ten seconds, and returns latencies in milliseconds.
func load(b *testing.B, url string) (p50, p99 float64) {
	b.Helper()
	var mu sync.Mutex
	var took []float64
	var all sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
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
