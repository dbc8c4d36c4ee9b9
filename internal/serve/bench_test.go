package serve_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// BenchmarkBudgets reads 1,000 budgets by the API, and from a bare handler that encodes the same
// values.
func BenchmarkBudgets(b *testing.B) {
	d := reconciletest.NewFixture(b)
	for n := range 1000 {
		d.Declare(func(of *budget.Declaration) {
			of.Name, of.Selector = fmt.Sprintf("team-%03d", n), budget.Selector{Namespaces: []string{fmt.Sprintf("team-%03d", n)}}
		})
	}
	d.Run()
	status, err := d.Runner().Status(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	list := status.NoNulls().Budgets
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"budgets": list})
	})
	for name, h := range map[string]http.Handler{"bare": bare, "api": handler(d.Process())} {
		b.Run(name, func(b *testing.B) {
			url := listen(b, h)
			fetch(b, url+"/api/v1/budgets")
			b.ReportAllocs()
			for b.Loop() {
				if code, _ := fetch(b, url+"/api/v1/budgets"); code != http.StatusOK {
					b.Fatal(code)
				}
			}
		})
	}
}
