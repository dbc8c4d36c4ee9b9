package page

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// TestSizesFollowEvents goes back from the size of now over each event.
func TestSizesFollowEvents(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	of := func(kind history.Kind, hours int, ids ...string) event {
		return event{Event: history.Event{Kind: kind, At: now.Add(-time.Duration(hours) * time.Hour), InstanceIDs: ids}}
	}
	newest := []event{
		of(history.Begin, 2, "ins-4"), of(history.Reclaim, 3, "ins-1"), of(history.Price, 4), of(history.Adopt, 10, "ins-2", "ins-3"),
		of(history.Begin, 20, "ins-1"), of(history.Terminate, 30, "ins-0"),
	}
	var p spotpools.Description
	p.Minimum, p.Counts = 3, &spotpool.Counts{Total: 3}
	c := sizes(p, newest, now)
	var got [][2]int
	for n, at := range c.Times {
		got = append(got, [2]int{int((now.Unix() - at) / 3600), int(*c.Series[0].Values[n])})
	}
	if diff := cmp.Diff([][2]int{{20, 1}, {10, 3}, {3, 2}, {2, 3}, {0, 3}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(c.Marks) != 2 {
		t.Errorf("the marks are %v", c.Marks)
	}
	if none := sizes(p, nil, now); none != nil {
		t.Errorf("without events, there is a chart: %v", none)
	}
}

// TestAGrantRaisesTheLimitWhileItIsInForce, and not before it began or after it ends.
func TestAGrantRaisesTheLimitWhileItIsInForce(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	grant := budget.Grant{GPUHours: "5", Exception: exception.Exception{From: now.Add(-time.Hour), Until: now.Add(time.Hour)}}
	u := BudgetUsage{Limit: 12 * budget.Hour, Report: usage.Report{UsageReport: &budgets.UsageReport{AsOf: now}, Grants: []budget.Grant{grant}}}
	for _, hour := range []int{-2, -1, 0, 1} {
		u.Course = append(u.Course, budgets.Sample{At: now.Add(time.Duration(hour) * time.Hour)})
	}
	if diff := cmp.Diff(level{"limit", []float64{7, 12, 12, 7}}, course(u, nil).Level); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
