package serve

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/metrics"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// scrapeWithin is how long a scrape waits for observations. What takes longer is left out.
const scrapeWithin = 8 * time.Second

// scrape serves the metrics of the store to those who may read all of them.
func scrape(source *snapshot.Source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		may, err := access.UserOf(r.Context()).Allows(r.Context(), access.Get, access.Metrics, "")
		switch {
		case err != nil:
			problem(w, http.StatusServiceUnavailable, err.Error())
			return
		case !may:
			problem(w, http.StatusForbidden, "this user may not read metrics, which are of all namespaces")
			return
		}
		status := observe(r.Context(), source)
		if status.Budgets == nil {
			problem(w, http.StatusServiceUnavailable, "the store cannot be read")
			return
		}
		promhttp.HandlerFor(metrics.OfStatus(status), promhttp.HandlerOpts{DisableCompression: true}).ServeHTTP(w, r)
	}
}

// observe returns the state of each kind that can be observed in time.
func observe(ctx context.Context, source *snapshot.Source) (status metrics.Status) {
	ctx, cancel := context.WithTimeout(ctx, scrapeWithin)
	defer cancel()
	var all sync.WaitGroup
	for kind, to := range map[snapshot.Kind]**reconcile.StatusReport{
		snapshot.SpotPools: &status.SpotPools, snapshot.Budgets: &status.Budgets, snapshot.StockPools: &status.StockPools,
	} {
		all.Go(func() {
			if r, err := source.Current(ctx, kind); err == nil {
				*to = &r
			}
		})
	}
	all.Wait()
	return status
}
