package budgets_test

import (
	"slices"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// TestAStatusWarnsOfWhatTheLastRunFoundOfAnOlderGpupool until a run finds it removed.
func TestAStatusWarnsOfWhatTheLastRunFoundOfAnOlderGpupool(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	left := budget.Unrecognized{Object: "deployment/serve in the namespace ml", Label: "gpupool/paused-by", Means: reason.LeftPause(),
		Commands: []string{"kubectl …"}}
	for _, there := range []bool{true, false} {
		if d.Cluster.Unknown = nil; there {
			d.Cluster.Unknown = []budget.Unrecognized{left}
		}
		run := d.Run()
		status, err := d.Runner().Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		runs := slices.Contains(run.Warnings.Texts(), left.Warning().String())
		shows := slices.Contains(status.Warnings.Texts(), "as of the last run, "+left.Warning().String())
		if runs != there || shows != there {
			t.Errorf("found: %v; the run warns of it: %v; the status warns of it: %v: %q", there, runs, shows, status.Warnings)
		}
		named, err := d.Runner().Status(t.Context(), "team-a")
		if err != nil || len(named.Warnings) > 0 {
			t.Errorf("the status of one budget warns of %q, %v", named.Warnings, err)
		}
	}
}
