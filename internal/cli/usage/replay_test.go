package usage

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// replayed is one in which a limit of 50 GPU-hours was exceeded so many times.
func replayed(times int) budgets.LiveReplay {
	hour := budget.Hour
	r := budgets.LiveReplay{
		Declaration: budget.Declaration{Name: "team-a", Window: "24h", GPUHours: "50"}, Coverage: 1000, CompleteFrom: clitest.At.AddDate(0, 0, -34),
		Replayed: meter.Replayed{
			From: clitest.At.AddDate(0, 0, -35), Until: clitest.At, Limit: 50 * hour, Peak: 61_200_000 * hour / 1_000_000,
			PeakAt: clitest.At.Add(-2 * time.Hour),
			Thresholds: []meter.ReplayedThreshold{
				{Percent: 50, Amount: 25 * hour, Before: true, ReachedAt: []time.Time{clitest.At.AddDate(0, 0, -20), clitest.At.Add(-30 * time.Hour)}},
				{Percent: 80, Amount: 40 * hour, ReachedAt: []time.Time{clitest.At.Add(-27 * time.Hour)}},
				{Percent: 150, Amount: 75 * hour},
			},
		},
	}
	for n := times; n > 0; n-- {
		since := clitest.At.Add(-time.Duration(n)*24*time.Hour - 2*time.Hour)
		e := meter.Excess{
			Since: since, Until: since.Add(90 * time.Minute), Length: 90 * time.Minute, Peak: 55 * hour, PeakAt: since.Add(time.Hour),
			ByNamespace: map[string]int64{"ml": 12 * hour, "web": 3 * hour},
			ByLabel:     map[string]map[string]int64{"example.com/team": {"research": 10 * hour, "": 5 * hour}},
		}
		if n == 1 {
			e.Until, e.Length = time.Time{}, clitest.At.Sub(since)
			e.ByNamespace = map[string]int64{"ml": 12 * hour, "web": 3 * hour, "batch": 2 * hour, "ops": hour}
		}
		r.Exceeded = append(r.Exceeded, e)
	}
	if times > 0 {
		r.ByNamespace = map[string]int64{"ml": 60 * hour, "web": 20 * hour, "batch": 9 * hour, "ops": 8 * hour, "a": 2 * hour, "b": hour}
		r.ByLabel = map[string]map[string]int64{"example.com/team": {"research": 70 * hour, "": 30 * hour}}
	}
	return r
}

// TestReplaysForPeople has a golden file of each.
func TestReplaysForPeople(t *testing.T) {
	t.Parallel()
	narrow := terminal.Style{Width: 80, Height: 24}
	early := replayed(0)
	early.CompleteFrom, early.Coverage, early.Thresholds = clitest.At.Add(time.Hour), 994, nil
	for name, tt := range map[string]struct {
		style  terminal.Style
		replay budgets.LiveReplay
		how    textOptions
	}{
		"replay_never.txt": {clitest.Plain, early,
			textOptions{listing: usage.Listing{By: usage.ByPod}, clock: terminal.Clock{Now: clitest.At, Zone: time.UTC}}},
		"replay_once.txt": {
			clitest.Colored, replayed(1),
			textOptions{listing: usage.Listing{By: usage.ByPod}, clock: terminal.Clock{Now: clitest.At, Zone: time.FixedZone("JST", 9*3600)}},
		},
		"replay_often.txt": {narrow, replayed(12),
			textOptions{listing: usage.Listing{By: usage.ByNamespace, Top: 2}, clock: terminal.Clock{Now: clitest.At, Zone: time.UTC}}},
		"replay_by_label.txt": {narrow, replayed(2), textOptions{
			listing: usage.Listing{By: "label:example.com/team", Label: "example.com/team"}, clock: terminal.Clock{Now: clitest.At, Zone: time.UTC},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.Golden(t, name, replayText(tt.style, tt.replay, tt.how))
		})
	}
}

func TestLengths(t *testing.T) {
	t.Parallel()
	for length, want := range map[time.Duration]string{
		0: "less than 1s", 999 * time.Millisecond: "less than 1s", 42 * time.Second: "42s", 90 * time.Second: "1m30s",
		2 * time.Hour: "2h", 2*time.Hour + 59*time.Second: "2h", 50*time.Hour + time.Minute: "2d2h", 35 * 24 * time.Hour: "35d",
	} {
		if got := lengthText(length); got != want {
			t.Errorf("%s is written %s, want %s", length, got, want)
		}
	}
}

func TestSharesSumToTheWhole(t *testing.T) {
	t.Parallel()
	if got, want := sharesText(map[string]int64{"ml": 505, "web": 495}), "ml 51%, web 49%"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var out bytes.Buffer
	groups := usage.Listed{By: usage.ByNamespace, Groups: []usage.Group{{Name: "ml", MilliGPUSeconds: 3335}, {Name: "web", MilliGPUSeconds: 3335}}}
	groupsTable(&out, clitest.Plain, Report{ConsumedMilliGPUSeconds: 10_000, Listed: groups}, usage.Listing{By: usage.ByNamespace})
	if got := strings.Fields(out.String()); !slices.Contains(got, "33.4%") || !slices.Contains(got, "33.3%") {
		t.Errorf("33.35%% and 33.35%% of 100%% are:\n%s", &out)
	}
}
