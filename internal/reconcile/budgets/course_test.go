package budgets_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// TestRecordedUsageIsThatOfTheLastRun: the numbers are those of the status, without an observation.
func TestRecordedUsageIsThatOfTheLastRun(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"2", "20"} {
		d := newFixture(t)
		d.Declare(func(b *budget.Declaration) { b.GPUHours = limit })
		d.Run()
		d.Cluster.Start("ml", "train", 4)
		d.Cluster.Step(30 * time.Minute)
		d.Run()
		d.Cluster.Step(15 * time.Minute)
		report := d.Run()
		flow := d.Budgets()
		flow.Cluster = func(context.Context) (budgets.Cluster, error) {
			t.Error("the cluster is observed")
			return nil, nil
		}
		r, err := flow.Recorded(t.Context(), report.Budgets[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		got := budgets.NewUsageReport(r.Usage, r.At, r.ExceededSince)
		if diff := cmp.Diff(report.Budgets[0].UsageReport, got); diff != "" {
			t.Errorf("the run (-) and its record (+):\n%s", diff)
		}
		now, last := -1, r.Course[len(r.Course)-3] // before those after the end
		for n, s := range r.Course {
			if n > 0 && !s.At.After(r.Course[n-1].At) {
				t.Errorf("the samples %d and %d are at %s and %s", n-1, n, r.Course[n-1].At, s.At)
			}
			if s.At.Equal(r.At) {
				now = n
			}
		}
		if now < 10 || r.Course[0].Used != 0 || r.Course[now].Used != r.Usage.Consumed || len(r.Course) > 450 {
			t.Errorf("%d samples, from %d to %d now", len(r.Course), r.Course[0].Used, r.Course[max(0, now)].Used)
		}
		reaches := last.Used
		if r.Usage.RecoversAt != nil {
			reaches = last.Idle
		}
		if off := reaches - r.Usage.Limit; off < -budget.Hour/100 || off > budget.Hour/100 {
			t.Errorf("at %s %s are used, of %s", last.At, budget.Hours(reaches), budget.Hours(r.Usage.Limit))
		}
	}
}

func TestRecordedUsageNeedsARun(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	if _, err := d.Budgets().Recorded(t.Context(), "team-a"); err == nil {
		t.Error("usage is known without a run")
	}
}
