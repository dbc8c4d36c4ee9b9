package usage

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

func TestUsageForPeople(t *testing.T) {
	t.Parallel()
	ptr := func(s string) *string { return &s }
	yes, no, end := true, false, clitest.At.Add(-time.Hour)
	pods := []usage.Pod{
		{UID: "u1", Namespace: "ml", Name: "train", GPUs: "2", Start: clitest.At.Add(-2 * time.Hour), GPUHours: "4.000"},
		{
			UID: "u2", Namespace: "ml-batch", Name: "slices", GPUs: "1/7", Start: clitest.At.Add(-8 * time.Hour), End: &end,
			EndSource: ptr("container_finished"), GPUHours: "1.000",
		},
	}
	within := Report{
		ConsumedGPUHours: "5.000", ConsumedMilliGPUSeconds: 5 * budget.Hour, RemainingGPUHours: ptr("5.000"), Exceeded: &no, TrackedPods: 2, Pods: pods,
	}
	beyond := within
	since := clitest.At.Add(-30 * time.Minute)
	beyond.Exceeded, beyond.ExceededSince, beyond.RemainingGPUHours = &yes, &since, ptr("0.000")
	for name, tt := range map[string]struct {
		style  terminal.Style
		report Report
		limit  int64
	}{
		"usage.txt":                 {clitest.Plain, within, 10 * budget.Hour},
		"usage_colors.txt":          {clitest.Colored, within, 10 * budget.Hour},
		"usage_exceeded_colors.txt": {clitest.Colored, beyond, 4 * budget.Hour},
		"usage_nothing.txt":         {clitest.Plain, Report{ConsumedGPUHours: "0.000"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.Golden(t, name, podsText(tt.style, tt.report,
				question{
					at: clitest.At, declared: budget.Declaration{Window: "7d"}, limit: tt.limit, listing: usage.Listing{By: usage.ByPod},
					clock: terminal.Clock{Now: clitest.At, Zone: time.UTC},
				}))
		})
	}
}

func TestUsageOfALimit(t *testing.T) {
	t.Parallel()
	no := false
	for _, tt := range []struct {
		used, limit int64
		want        string
	}{
		{0, 3600, "0.0%"},
		{3000, 3600, "83.3%"}, // of a thousandth of an hour
		{3599, 3600, "99.9%"}, // of it all but a millisecond
		{3600, 3600, "100.0%"},
		{45_000_000, 3_603_600, "1248.8%"},
		{1 << 62, budget.MaxGPUHours * budget.Hour, "128102.4%"},
	} {
		left := "0.000"
		r := Report{ConsumedMilliGPUSeconds: tt.used, RemainingGPUHours: &left, Exceeded: &no}
		if got := limitText(clitest.Plain, r, question{limit: tt.limit}); !strings.HasPrefix(got, tt.want+" of ") {
			t.Errorf("%d of %d: %s, want %s", tt.used, tt.limit, got, tt.want)
		}
	}
}
