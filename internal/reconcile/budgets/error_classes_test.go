package budgets_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// classed is an error of the cluster that says what helps.
type classed errorclass.Class

func (classed) Error() string                  { return "cannot create pods/eviction ml/a: forbidden" }
func (c classed) ErrorClass() errorclass.Class { return errorclass.Class(c) }

// TestErrorsOfTheClusterHaveAClass is about the decision that failed, and the
// budget that it leaves failed, as much as about a cluster that can't be reached.
func TestErrorsOfTheClusterHaveAClass(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	for _, c := range []struct {
		method string
		class  errorclass.Class
	}{{"UID", errorclass.Transient}, {"LivePods", errorclass.Transient}, {"Evict", errorclass.Authorization}} {
		d.Cluster.Failing[c.method] = fmt.Errorf("team-a: %w", classed(c.class))
		report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if b := report.Budgets[0]; b.Outcome != outcome.Failed || b.Error == nil || b.Error.Class != c.class {
			t.Errorf("%s: the budget is %s: %+v", c.method, b.Outcome, b.Error)
		}
		for _, r := range report.Decisions {
			if r.Outcome == outcome.Failed && r.Error.Class != c.class {
				t.Errorf("%s: to %s failed: %+v", c.method, r.Kind(), r.Error)
			}
		}
		delete(d.Cluster.Failing, c.method)
	}
}
