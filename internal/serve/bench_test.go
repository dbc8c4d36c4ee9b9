package serve_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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

// get reads all budgets, and returns how long that took.
func get(b *testing.B, client *http.Client, url string) time.Duration {
	b.Helper()
	began := time.Now()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url+"/api/v1/budgets", http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		b.Fatal(response.Status, err)
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
