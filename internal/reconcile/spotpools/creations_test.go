package spotpools_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
)

// TestAForgottenCreationFails has a creation stand still for longer than any apply
// takes: runs pass it over first, and then count it as failed.
func TestAForgottenCreationFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cutCreate()
	after := func(later time.Duration) spotpools.Report {
		process := w.Process(nil)
		process.Clock = func() time.Time { return time.Now().Add(later) }
		report, err := process.Runner().Run(context.Background(), reconcile.RunOptions{})
		if err != nil || len(report.SpotPools) != 1 {
			t.Fatalf("%+v, %v", report.SpotPools, err)
		}
		return report.SpotPools[0]
	}
	if p := after(50 * time.Minute); p.Outcome != outcome.Skipped {
		t.Errorf("after 50 minutes it is %s", p.Outcome)
	}
	if p := after(70 * time.Minute); p.Outcome != outcome.Failed || !contains(p.Error.Reason.String(), "terraform apply", "terraform import") {
		t.Errorf("after 70 minutes it is %s: %+v", p.Outcome, p.Error)
	}
}
