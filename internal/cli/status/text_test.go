package status

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// budgetStatuses are every budget as a status shows them.
func budgetStatuses() []budgets.Description {
	var list []budgets.Description
	for n, b := range clitest.EveryBudget() {
		s := budgets.Description{Report: b, Phase: declaration.Active, Window: "24h"}
		if n == 1 {
			exhausted := clitest.At.Add(10 * time.Hour)
			s.ProjectedExhaustion, s.Coverage = &exhausted, "0.973"
		}
		if n == 2 {
			due := clitest.At.Add(5 * time.Minute)
			s.Enforced, s.EnforceAt = nil, &due
			s.Coverage, s.Withheld = "0.973", reason.UncertainGap("90.000", "100.000", reason.Duration(time.Hour), reason.Duration(15*time.Minute))
		}
		if n == 3 {
			end, began := clitest.At.AddDate(0, 0, 8), clitest.At.Add(-7*time.Hour)
			s.WindowEnd, s.RecoversAt, s.Coverage, s.KnownSince = end, &end, "0.291", &began
		}
		if b.Deleted {
			s.Deleted, s.Phase = false, declaration.Deleting
			s.Deletion = record.NewDeletion(s.Phase, clitest.At.Add(-5*time.Minute), reason.DeletionLifts())
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
		LastRun: &declaration.RunSummary{RunID: "r", FinishedAt: clitest.At.Add(-130 * time.Second), Decisions: 2, Failed: 2},
	}
	for _, p := range report.SpotPools {
		status.SpotPools = append(status.SpotPools, spotpools.Description{Report: p, Phase: declaration.Active})
	}
	member := func(id string, c decide.Condition) decide.Member {
		return decide.Member{Instance: spotpool.Instance{
			ID: id, AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: spotpool.Spot,
			LaunchedAt: clitest.At.Add(-3 * time.Hour), PrivateIP: "10.0.0.7",
		}, Condition: c, Price: clitest.Price(t, "1.90"), Currency: "CNY"}
	}
	a, b, c, d, e := &status.SpotPools[0], &status.SpotPools[1], &status.SpotPools[2], &status.SpotPools[3], &status.SpotPools[4]
	a.Phase = declaration.Deleting
	a.Counts = &spotpool.Counts{Capacity: 1, Total: 1, Shortfall: 3, Drifted: 1, HourlyPrice: clitest.Price(t, "1.90")}
	a.Deletion = record.NewDeletion(a.Phase, clitest.At.Add(-2*time.Hour), reason.DeletionTerminates())
	starting, failed := member("ins-aaaaaaa1", decide.Launching), member("ins-aaaaaaa2", decide.Failed)
	starting.Drifted, starting.Protected, starting.ChargeType, starting.PublicIP = true, true, spotpool.OnDemand, "203.0.113.7"
	failed.OperationError, failed.PrivateIP, failed.LaunchedAt, failed.Price = "no\nresources", "", time.Time{}, 0
	a.Machines = []decide.Member{starting, failed, member("ins-aaaaaaa3", decide.Terminating)}
	c.Machines = []decide.Member{member("ins-ccccccc1", decide.Stopped), member("ins-ccccccc2", decide.Running)}
	c.Pending, c.Total = new(2), 4
	c.Mixed = true
	c.Cooldowns = []markets.Cooldown{
		{
			Market: spotpool.Market{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32"}, Cause: markets.CausedBySoldOut,
			Until: clitest.At.Add(20 * time.Minute),
		},
		{Market: spotpool.Market{AvailabilityZone: "ap-singapore-3"}, Cause: markets.CausedByQuota, Until: clitest.At.Add(90 * time.Second)},
		{
			Market: spotpool.Market{AvailabilityZone: "ap-singapore-4", InstanceType: "GN7.2XLARGE32"}, Cause: markets.CausedByBatch, Batch: 4,
			Until: clitest.At.Add(20 * time.Minute),
		},
		{Market: spotpool.Market{AvailabilityZone: "ap-singapore-1"}, Cause: markets.CausedByQuota, Until: clitest.At},
	}
	c.ShortSince = clitest.At.Add(-time.Hour)
	idle := &status.SpotPools[5]
	idle.Counts = &spotpool.Counts{Capacity: 3, Total: 3, Drifted: 1, HourlyPrice: clitest.Price(t, "5.70")}
	idle.Decisions = []spotpool.Decision{{
		Kind: spotpool.KindTerminate, Object: "spot_pool/ap-singapore/f-idle", Count: 1, InstanceIDs: []string{"ins-fffffff3"},
		Reasons: reason.Reasons{reason.AboveMaximum(3, 2), reason.Chosen(reason.Some{reason.ChosenInstance("ins-fffffff3", reason.Facts{
			reason.OfOffering("spot", "GN7.2XLARGE32 in ap-singapore-2"), reason.Drifted(), reason.Costs(reason.Price{Amount: "1.90", Currency: "CNY"}),
		})})},
	}}
	refused, unreachable := failedRuns(clitest.Denied("7c1d-1")), failedRuns(clitest.Unreachable())
	d.Failing, d.Error, d.Outcome = refused, nil, outcome.Done
	status.SpotPools[6].Failing = unreachable
	status.LastRun.Failing = declaration.Failures{"spot_pool/ap-singapore/d-failed": *refused, "spot_pool/ap-singapore/g-unseen": *unreachable}
	e.PassedOver = &declaration.Failing{
		Since: clitest.At.Add(-130 * time.Second), Runs: 1, LastAt: clitest.At.Add(-130 * time.Second), Error: history.Error{Message: e.Error.Message},
	}
	e.Error, e.Outcome = nil, outcome.Done
	status.UnderWay = &store.Holder{Command: "gpupool reconcile", PID: 12, Host: "ci", Since: clitest.At.Add(-20 * time.Second)}
	b.Machines = []decide.Member{
		member("ins-bbbbbbb1", decide.Launching), member("ins-bbbbbbb2", decide.Running), member("ins-bbbbbbb3", decide.Running),
		member("ins-bbbbbbb4", decide.Running),
	}
	return status
}

// failedRuns are the last 14 runs, which failed with an error.
func failedRuns(err error) *declaration.Failing {
	r := outcome.NewErrorReport(err)
	return &declaration.Failing{Since: clitest.At.Add(-50 * time.Minute), Runs: 14, LastAt: clitest.At.Add(-130 * time.Second), Error: history.Error{
		Class: string(r.Class), Code: r.Code, RequestID: r.RequestID, Message: r.Message, Remedy: r.Remedy,
	}}
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
		"status_colors.txt":   {clitest.Colored, true, status},
		"status_budgets.txt":  {clitest.Colored, false, reconcile.StatusReport{Store: "directory:.gpupool", At: clitest.At, Budgets: budgetStatuses()}},
		"status_80.txt":       {terminal.Style{Width: 80, Height: 24}, false, status},
		"status_overdue.txt":  {terminal.Style{Width: 80, Height: 24}, false, troubled(status)},
		"status_many.txt":     {terminal.Style{Width: 80, Height: 24}, false, manyPools(t, 1)},
		"status_all.txt":      {terminal.Style{Width: 80, Height: 24}, false, manyPools(t, 31)},
		"status_both.txt": {
			clitest.Plain, false, reconcile.StatusReport{
				Store: "directory:.gpupool", At: clitest.At, Budgets: budgetStatuses()[:1], SpotPools: status.SpotPools[5:6],
			},
		},
		"status_nodes.txt":   {terminal.Style{Width: 80, Height: 24}, true, withNodes(t)},
		"status_nothing.txt": {clitest.Plain, false, reconcile.StatusReport{Store: "directory:.gpupool"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			width := max(0, tt.style.Width-1)
			clitest.Golden(t, name, show(layout{style: tt.style, machines: tt.machines, width: width}, tt.report))
		})
	}
}

// show returns the text of a status with the states and totals that Status sets. Tests that run
// at once share parts of a status.
func show(v layout, r reconcile.StatusReport) string {
	r.SpotPools, r.Budgets, r.StockPools = slices.Clone(r.SpotPools), slices.Clone(r.Budgets), slices.Clone(r.StockPools)
	r.Complete()
	return text(v, r)
}

// withNodes is a status of pools whose instances become nodes.
func withNodes(t *testing.T) reconcile.StatusReport {
	t.Helper()
	return reconcile.StatusReport{
		Store: "directory:.gpupool", At: clitest.At, SpotPools: clitest.PoolsWithNodes(t),
		LastRun: &declaration.RunSummary{FinishedAt: clitest.At.Add(-20 * time.Second), Decisions: 2},
	}
}

// TestGuideShowsNodes compares what the guide about nodes shows with what is printed.
func TestGuideShowsNodes(t *testing.T) {
	t.Parallel()
	r := reconcile.StatusReport{Store: "directory:.gpupool", At: clitest.At, SpotPools: []spotpools.Description{clitest.GuideNodes(t)}}
	_, got, _ := strings.Cut(show(layout{style: terminal.Style{Width: 80, Height: 40}, machines: true, named: true, width: 79}, r), "\n\n")
	shown := clitest.Printed(t, clitest.Guide(t, "nodes.md.tmpl"), "gpupool status train --machines")
	if diff := cmp.Diff(shown, got); diff != "" {
		t.Errorf("what the guide shows (-) and what is printed (+):\n%s\n%s", diff, got)
	}
}

// TestPoolsWithoutNodesSayNothingOfThem: what is not asked for is not told.
func TestPoolsWithoutNodesSayNothingOfThem(t *testing.T) {
	t.Parallel()
	r := withNodes(t)
	r.SpotPools = r.SpotPools[len(r.SpotPools)-1:]
	got := show(layout{machines: true}, r)
	for _, word := range []string{"NODE", "node", "HEALTH", "GPU PODS", "drain", "cluster"} {
		if strings.Contains(got, word) {
			t.Errorf("it says %q:\n%s", word, got)
		}
	}
}

// A repeated status has charts of the worst objects over the last day, if they fit.
func TestCharts(t *testing.T) {
	t.Parallel()
	r := manyPools(t, 1)
	r.SpotPools = r.SpotPools[28:]
	r.SpotPools[2].Shortfall, r.SpotPools[2].Capacity = 1, 1
	used := int64(112)
	r.Budgets = budgetStatuses()[2:3]
	for q := range 96 {
		at := clitest.At.Add(time.Duration(q-95) * 15 * time.Minute)
		capacity := int64(2)
		if q%40 > 30 {
			capacity = int64(q % 2)
		}
		r.LastDay, _ = r.LastDay.After(at, []declaration.Size{
			{Object: "budget/c-evicting", Value: used * int64(q) / 95, Of: 100},
			{Object: "spot_pool/ap-singapore/team-30", Value: capacity, Of: 2},
			{Object: "spot_pool/ap-singapore/team-29", Value: 2, Of: 2},
		}, func(string) bool { return false })
	}
	v := layout{style: terminal.Style{Width: 80, Height: 40}, width: 79}
	r.Complete()
	drawn := charts(v, r, 30)
	for _, line := range drawn {
		if v.style.Clip(line) != line {
			t.Errorf("too wide: %q", line)
		}
	}
	clitest.Golden(t, "charts.txt", strings.Join(drawn, "\n")+"\n")
	if few := charts(v, r, 8); len(few) != 5 {
		t.Errorf("in 8 rows there are %d:\n%s", len(few), strings.Join(few, "\n"))
	}
	if none := charts(v, r, 4); len(none) != 0 {
		t.Errorf("in 4 rows there are %d", len(none))
	}
}

// manyPools returns 31 pools. The last ones fail with the same error.
func manyPools(t *testing.T, failing int) reconcile.StatusReport {
	t.Helper()
	r := reconcile.StatusReport{
		At: clitest.At, Store: "directory:.gpupool",
		LastRun: &declaration.RunSummary{FinishedAt: clitest.At.Add(-20 * time.Second), Failed: failing, Failing: declaration.Failures{}},
	}
	for n := range 31 {
		p := spotpools.Description{Phase: declaration.Active, Report: spotpools.Report{
			Name: fmt.Sprintf("team-%02d", n), Region: "ap-singapore", UID: "u", Bounds: spotpool.Bounds{Minimum: 2, Maximum: 4}, Currency: "CNY",
			Counts: &spotpool.Counts{Total: 2, Capacity: 2, HourlyPrice: clitest.Price(t, "3.80")}, Outcome: outcome.Done,
		}}
		if n >= 31-failing {
			p.Failing = &declaration.Failing{Since: clitest.At.Add(-52 * time.Minute), Runs: 52, LastAt: clitest.At.Add(-30 * time.Second),
				Error: history.Error{
					Class: "authorization", Code: "AuthFailure.SecretIdNotFound", RequestID: "r",
					Remedy: "Check secret_id and secret_key (or the profile, role or token in use): they must be active and belong together.",
					Message: fmt.Sprintf("GetCallerIdentity: AuthFailure.SecretIdNotFound: The SecretId is not found. Check secret_id and secret_key (or "+
						"the profile, role or token in use): they must be active and belong together. (RequestId 5b6e-%d)", n),
				}}
		}
		r.SpotPools = append(r.SpotPools, p)
		if p.Failing != nil {
			r.LastRun.Failing[p.Summary().Object()] = *p.Failing
		}
	}
	return r
}

// troubled is a status after runs that failed as a whole, and then stopped coming.
func troubled(status reconcile.StatusReport) reconcile.StatusReport {
	last := *status.LastRun
	for n := range 6 {
		last.Starts = append(last.Starts, clitest.At.Add(-time.Hour+time.Duration(n)*time.Minute))
	}
	last.StartedAt = last.Starts[5]
	status.LastRun, status.UnderWay, status.Store = &last, nil, "kubernetes:gpupool-system"
	status.Overdue = last.Overdue(clitest.At)
	status.Failing = &declaration.Failing{Since: last.Starts[2], Runs: 4, LastAt: last.StartedAt, Error: history.Error{
		Class: "authorization", Message: "TENCENTCLOUD_SECRET_ID is not set",
		Remedy: "Give gpupool credentials that are valid and may do this.",
	}}
	status.SpotPools = status.SpotPools[5:6]
	return status
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
		shown := show(layout{style: style, machines: true, named: true, width: width - 1}, report)
		lines := strings.Split(shown, "\n")
		tables := 0
		for n, line := range lines {
			title := strings.TrimSpace(line)
			budgets, pools := strings.HasPrefix(title, "BUDGET"), strings.HasPrefix(title, "POOL")
			if !budgets && !pools && !strings.HasPrefix(title, "INSTANCE") {
				continue
			}
			tables++
			if width >= 100 != strings.Contains(line, "DRIFTED") && pools {
				t.Errorf("%d: %s", width, line)
			}
			for ; n < len(lines) && strings.TrimSpace(lines[n]) != "" && !strings.Contains(lines[n], ": "); n++ {
				if clipped := style.Clip(lines[n]); clipped != lines[n] {
					t.Errorf("%d: cut to %s", width, clipped)
				}
			}
		}
		for _, line := range lines {
			if clipped := style.Clip(line); width >= 80 && clipped != line {
				t.Errorf("%d: cut to %s", width, clipped)
			}
		}
		if tables != 5 {
			t.Errorf("%d: there are %d tables:\n%s", width, tables, shown)
		}
		if bars := strings.Contains(shown, "█ 100%"); bars != (width >= 200) || !strings.Contains(shown, " 100%") {
			t.Errorf("%d: of budgets, bars are shown: %t\n%s", width, bars, shown)
		}
		for _, state := range []string{"  Exceeded,Paused  ", "  WithinLimit  ", "  Short  ", "  Failing  ", "launching, drifted, protected\n"} {
			if !strings.Contains(shown, state) {
				t.Errorf("%d: %q is not shown:\n%s", width, state, shown)
			}
		}
		if bars := strings.Contains(shown, "█"); bars != (width >= 100) {
			t.Errorf("%d: bars are shown: %t\n%s", width, bars, shown)
		}
	}
}
