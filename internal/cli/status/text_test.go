package status

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// budgetStatuses are every budget as a status shows them.
func budgetStatuses() []budgets.Overview {
	var list []budgets.Overview
	for n, b := range clitest.EveryBudget() {
		s := budgets.Overview{Report: b, Phase: declaration.Active, Window: "24h"}
		if n == 1 {
			exhausted := clitest.At.Add(10 * time.Hour)
			s.ProjectedExhaustion, s.Coverage = &exhausted, "0.973"
		}
		if n == 0 {
			s.LastRunError = "budget/a-calm belongs to another cluster: nothing was touched"
		}
		if n == 2 {
			due := clitest.At.Add(5 * time.Minute)
			s.Enforced, s.EnforceAt = nil, &due
			s.Coverage, s.Withheld = "0.973", "nothing was observed for too long"
		}
		if n == 3 {
			end, began := clitest.At.AddDate(0, 0, 8), clitest.At.Add(-7*time.Hour)
			s.WindowEnd, s.RecoversAt, s.Coverage, s.KnownSince = end, &end, "0.291", &began
		}
		if b.Deleted {
			s.Deleted, s.Phase = false, declaration.Deleting
		}
		if b.UsageReport == nil && b.Outcome == outcome.Skipped {
			s.Error = nil
		}
		list = append(list, s)
	}
	return list
}

func everyState(t *testing.T) reconcile.StatusReport {
	t.Helper()
	report := clitest.EveryOutcome(t)
	status := reconcile.StatusReport{
		SchemaVersion: 1, At: clitest.At, Store: "directory:.gpupool",
		LastRun: &declaration.RunSummary{RunID: "r", FinishedAt: clitest.At.Add(-130 * time.Second), Decisions: 2, Failed: 1},
	}
	for _, p := range report.SpotPools {
		status.SpotPools = append(status.SpotPools, spotpools.Overview{Report: p, Phase: declaration.Active})
	}
	member := func(id string, c spotpool.Condition) spotpool.Member {
		return spotpool.Member{Instance: spotpool.Instance{
			ID: id, AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: spotpool.Spot,
			LaunchedAt: clitest.At.Add(-3 * time.Hour), PrivateIP: "10.0.0.7",
		}, Condition: c, Price: clitest.Price(t, "1.90")}
	}
	a, c := &status.SpotPools[0], &status.SpotPools[2]
	a.Phase = declaration.Deleting
	starting, failed := member("ins-aaaaaaa1", spotpool.Launching), member("ins-aaaaaaa2", spotpool.Failed)
	starting.Outdated, starting.Protected, starting.ChargeType, starting.PublicIP = true, true, spotpool.OnDemand, "203.0.113.7"
	failed.OperationError, failed.PrivateIP, failed.LaunchedAt, failed.Price = "no\nresources", "", time.Time{}, 0
	a.Machines = []spotpool.Member{starting, failed, member("ins-aaaaaaa3", spotpool.Terminating)}
	c.Machines = []spotpool.Member{member("ins-ccccccc1", spotpool.Stopped), member("ins-ccccccc2", spotpool.Running)}
	c.Intents = 2
	c.Cooldowns = []spotpool.Cooldown{
		{Market: spotpool.Market{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32"}, Cause: spotpool.CausedBySoldOut, Until: clitest.At.Add(20 * time.Minute)},
		{Market: spotpool.Market{AvailabilityZone: "ap-singapore-3"}, Cause: spotpool.CausedByQuota, Until: clitest.At.Add(90 * time.Second)},
		{Market: spotpool.Market{AvailabilityZone: "ap-singapore-4", InstanceType: "GN7.2XLARGE32"}, Cause: spotpool.CausedByBatch, Batch: 4, Until: clitest.At.Add(20 * time.Minute)},
		{Market: spotpool.Market{AvailabilityZone: "ap-singapore-1"}, Cause: spotpool.CausedByQuota, Until: clitest.At},
	}
	idle := &status.SpotPools[5]
	idle.Decisions = []spotpool.Decision{report.Decisions[2].Decision.(spotpool.Decision)}
	b := &status.SpotPools[1]
	b.Machines = []spotpool.Member{member("ins-bbbbbbb1", spotpool.Launching)}
	return status
}

func TestStatusForPeople(t *testing.T) {
	t.Parallel()
	status := everyState(t)
	for name, tt := range map[string]struct {
		style    terminal.Style
		machines bool
		report   reconcile.StatusReport
	}{
		"status.txt":          {clitest.Plain, false, status},
		"status_machines.txt": {clitest.Plain, true, status},
		"status_colours.txt":  {clitest.Coloured, true, status},
		"status_budgets.txt":  {clitest.Coloured, false, reconcile.StatusReport{Store: "directory:.gpupool", At: clitest.At, Budgets: budgetStatuses()}},
		"status_both.txt":     {clitest.Plain, false, reconcile.StatusReport{Store: "directory:.gpupool", At: clitest.At, Budgets: budgetStatuses()[:1], SpotPools: status.SpotPools[5:6]}},
		"status_nothing.txt":  {clitest.Plain, false, reconcile.StatusReport{Store: "directory:.gpupool"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.Golden(t, name, text(view{style: tt.style, machines: tt.machines}, tt.report))
		})
	}
}

// TestStatusOnANarrowTerminal shows how everything stands, however little room there
// is for numbers.
func TestStatusOnANarrowTerminal(t *testing.T) {
	t.Parallel()
	report := everyState(t)
	report.Budgets = budgetStatuses()
	stopped := &report.Budgets[3]
	stopped.Action, stopped.Enforced = budget.Pause, []budget.Action{budget.Pause}
	for _, width := range []int{200, 100, 80, 60, 50} {
		style := terminal.Style{Width: width, Height: 100}
		shown := text(view{style: style, machines: true, width: width - 1}, report)
		lines := strings.Split(shown, "\n")
		tables := 0
		for n, line := range lines {
			title := strings.TrimSpace(line)
			budgets, pools := strings.HasPrefix(title, "BUDGET"), strings.HasPrefix(title, "POOL")
			if !budgets && !pools && !strings.HasPrefix(title, "INSTANCE") {
				continue
			}
			tables++
			if width >= 100 != strings.Contains(line, "OUTDATED") && pools {
				t.Errorf("%d: %s", width, line)
			}
			for ; n < len(lines) && strings.TrimSpace(lines[n]) != "" && !strings.Contains(lines[n], ": "); n++ {
				if clipped := style.Clip(lines[n]); clipped != lines[n] {
					t.Errorf("%d: cut to %s", width, clipped)
				}
			}
		}
		if tables != 5 {
			t.Errorf("%d: there are %d tables:\n%s", width, tables, shown)
		}
		if bars := strings.Contains(shown, "█ 100%"); bars != (width >= 200) || !strings.Contains(shown, " 100%") {
			t.Errorf("%d: of budgets, bars are shown: %t\n%s", width, bars, shown)
		}
		for _, state := range []string{"exceeded, paused\n", "within its limit\n", "above maximum\n", "launching, outdated, protected\n"} {
			if !strings.Contains(shown, state) {
				t.Errorf("%d: %q is not shown:\n%s", width, state, shown)
			}
		}
		if bars := strings.Contains(shown, "█"); bars != (width >= 100) {
			t.Errorf("%d: bars are shown: %t\n%s", width, bars, shown)
		}
	}
}
