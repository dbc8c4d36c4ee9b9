package usage

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// guideReplay is a budget that two teams used up twice in November.
func guideReplay() budgets.LiveReplay {
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC) }
	hours := func(n int64) int64 { return n * budget.Hour / 1000 }
	first := meter.Excess{
		Since: at(10, 14, 20), Until: at(11, 3, 5), Length: 12*time.Hour + 45*time.Minute, Peak: hours(61_200), PeakAt: at(10, 20, 0),
		ByNamespace: map[string]int64{"ml": hours(38_000), "ml-batch": hours(4_000)},
	}
	second := meter.Excess{
		Since: at(17, 9, 40), Until: at(17, 18, 10), Length: 8*time.Hour + 30*time.Minute, Peak: hours(54_000), PeakAt: at(17, 14, 0),
		ByNamespace: map[string]int64{"ml-batch": hours(20_000), "ml": hours(5_000)},
	}
	return budgets.LiveReplay{
		Declaration: budget.Declaration{Name: "team-a", Window: "24h"}, CompleteFrom: at(2, 8, 0), Coverage: 1000,
		Replayed: meter.Replayed{
			From: at(1, 8, 0), Until: at(21, 7, 30), Limit: 50 * budget.Hour, Peak: first.Peak, PeakAt: first.PeakAt,
			Thresholds: []meter.ReplayedThreshold{
				{Percent: 50, Amount: 25 * budget.Hour, ReachedAt: []time.Time{at(3, 16, 0), at(10, 6, 30), at(17, 1, 15)}},
				{Percent: 80, Amount: 40 * budget.Hour, ReachedAt: []time.Time{at(10, 11, 10), at(17, 6, 50)}},
				{Percent: 100, Amount: 50 * budget.Hour, ReachedAt: []time.Time{first.Since, second.Since}},
			},
			Exceeded:    []meter.Excess{first, second},
			ByNamespace: map[string]int64{"ml": hours(43_000), "ml-batch": hours(24_000)},
		},
	}
}

// TestReplayExample has the guide about budgets show what is printed.
func TestReplayExample(t *testing.T) {
	t.Parallel()
	got := replayText(clitest.Plain, guideReplay(),
		textOptions{listing: usage.Listing{By: usage.ByPod}, clock: terminal.Clock{Now: clitest.At, Zone: time.UTC}})
	page := clitest.Guide(t, "budgets.md")
	if diff := cmp.Diff(clitest.Printed(t, page, "gpupool usage team-a --replay --gpu-hours 50"), got); diff != "" {
		t.Errorf("what the page shows (-) and what is printed (+):\n%s", diff)
	}
}
