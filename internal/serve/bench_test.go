package serve_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// thousand is a store with 1,000 budgets that were reconciled once.
func thousand(b *testing.B) *reconciletest.Fixture {
	b.Helper()
	d := reconciletest.NewFixture(b)
	for n := range 1000 {
		d.Declare(func(of *budget.Declaration) {
			of.Name, of.Selector = fmt.Sprintf("team-%03d", n), budget.Selector{Namespaces: []string{fmt.Sprintf("team-%03d", n)}}
		})
	}
	d.Run()
	return d
}

// get reads a page as it is sent, and returns how long that took.
func get(b *testing.B, client *http.Client, url string) time.Duration {
	b.Helper()
	began := time.Now()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url+"/api/v1/budgets", http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	if !client.Transport.(*http.Transport).DisableCompression {
		request.Header.Set("Accept-Encoding", "gzip") // as it is sent, which the client then leaves
	}
	response, err := client.Do(request)
	if err != nil {
		b.Error(err)
		return 0
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		b.Error(response.Status, err)
	}
	return time.Since(began)
}

// BenchmarkBudgets reads 1,000 budgets by the API, and from a bare handler that encodes the same
// values. It reports the rate of the API as a multiple of the bare one, without compression.
func BenchmarkBudgets(b *testing.B) {
	d := thousand(b)
	status, err := d.Runner().Status(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	list := status.NoNulls().Budgets
	bare := listen(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"budgets": list})
	}))
	url := listen(b, handler(d.Process()))
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	get(b, client, url)
	var ofBare, ofAPI time.Duration
	for b.Loop() {
		ofBare += get(b, client, bare)
		ofAPI += get(b, client, url)
	}
	b.ReportMetric(ofBare.Seconds()/ofAPI.Seconds(), "x-bare")
}

// BenchmarkBudgetsUnderLoad reads 1,000 budgets 200 times a second, and reports the latencies.
func BenchmarkBudgetsUnderLoad(b *testing.B) {
	d := thousand(b)
	url := listen(b, handler(d.Process()))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	get(b, client, url)
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	tick := time.NewTicker(time.Second / 200)
	defer tick.Stop()
	for b.Loop() {
		<-tick.C
		all.Go(func() {
			t := get(b, client, url)
			mu.Lock()
			defer mu.Unlock()
			took = append(took, t)
		})
	}
	all.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
