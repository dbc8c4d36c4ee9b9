package serve_test

import (
	"context"
	"encoding/json"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// ledgerReads is a store that counts how often its ledger is read.
type ledgerReads struct {
	store.Store
	count atomic.Int64
}

func (s *ledgerReads) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	if kind == store.Ledger {
		s.count.Add(1)
	}
	return s.Store.List(ctx, kind)
}

var charted = regexp.MustCompile(`<script type="application/json" id="chart-budget/[^"]*">(.*)</script>`)

// TestBudgetPageChartsUsage with the forecast. The ledger is read once for each run, also if a reader
// reloads the page all the time.
func TestBudgetPageChartsUsage(t *testing.T) {
	t.Parallel()
	d := teams(t)
	for range 3 {
		d.Cluster.Step(20 * time.Minute)
		d.Run()
	}
	w := d.Process()
	reads := &ledgerReads{Store: w.Store}
	w.Store = reads
	h := handler(w)
	text := page(t, h, "/budgets/budget-ml")
	wantIn(t, text, "GPU-hours of 35 days", "The highest usage since", "ml/")
	found := charted.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no chart in %s", text)
	}
	var chart struct {
		Times  []int64
		Series []struct {
			Name   string
			Values []*float64
		}
		Level struct{ Values []float64 }
		Marks []struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(found[1]), &chart); err != nil {
		t.Fatal(err)
	}
	used, ahead := chart.Series[0].Values, chart.Series[1].Values
	if len(used) != len(chart.Times) || used[0] == nil || *used[0] != 0 || ahead[0] != nil || used[len(used)-1] != nil || chart.Level.Values[0] != 4 {
		t.Errorf("%d values, limit %g", len(used), chart.Level.Values[0])
	}
	// Four GPUs for an hour have used the limit. Without more usage, it recovers.
	if chart.Series[1].Name != "without more usage" || chart.Marks[len(chart.Marks)-1].Kind != "recovers" {
		t.Errorf("the forecast is %q, marks %v", chart.Series[1].Name, chart.Marks)
	}
	wantIn(t, page(t, h, "/teams/ml"), "This budget only alerts: pods can run.")
	before := reads.count.Load()
	for range 5 {
		page(t, h, "/budgets/budget-ml")
	}
	if reads.count.Load() != before {
		t.Errorf("the ledger is read again, %d times", reads.count.Load()-before)
	}
	d.Cluster.Step(20 * time.Minute)
	d.Run()
	h = handler(w)
	page(t, h, "/budgets/budget-ml")
	wantIn(t, page(t, h, "/budgets/budget-ml"), "was 5.333 GPU-hours")
	if reads.count.Load() != before+1 {
		t.Errorf("the ledger is read %d times after a run", reads.count.Load()-before)
	}
}
