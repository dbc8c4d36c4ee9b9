package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

var (
	plain    = style{}
	coloured = style{colour: true, width: 120, height: 40}
	at       = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

func price(t *testing.T, s string) spotpool.Price {
	t.Helper()
	p, err := spotpool.ParsePrice(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// everyOutcome is a report with all that can happen.
func everyOutcome(t *testing.T) reconcile.Report {
	t.Helper()
	offering := &spotpool.Offering{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-a1b2c3d4"}
	launch := func(object string, count int) spotpool.Decision {
		return spotpool.Decision{
			Kind: spotpool.Launch, Object: object, Count: count, Offering: offering, ChargeType: spotpool.Spot, Sequence: 3,
			Reasons: []string{"capacity 1 is below minimum 3", "1.90 CNY an hour each"},
		}
	}
	soldOut := &reconcile.ErrorReport{
		Class: spotpool.ClassCapacity, Code: "ResourcesSoldOut.SpecifiedInstanceType", RequestID: "5b6e…",
		Message: "RunInstances: ResourcesSoldOut.SpecifiedInstanceType: The resources are sold out. (RequestId 5b6e…)",
	}
	denied := &reconcile.ErrorReport{
		Class: spotpool.ClassAuthorisation, Code: "UnauthorizedOperation",
		Message: "RunInstances: UnauthorizedOperation: You are not authorized.\nAsk for cvm:RunInstances. (RequestId 7c1d…)",
	}
	done := launch("spot_pool/ap-singapore/a-done", 2)
	done.InstanceIDs = []string{"ins-aaaaaaa1", "ins-aaaaaaa2"}
	again := launch("spot_pool/ap-singapore/a-done", 1)
	again.Resume, again.InstanceIDs = true, []string{"ins-aaaaaaa3"}
	short, refused := launch("spot_pool/ap-singapore/c-short", 2), launch("spot_pool/ap-singapore/d-failed", 2)
	end := spotpool.Decision{
		Kind: spotpool.Terminate, Object: "spot_pool/ap-singapore/b-above", Count: 1, InstanceIDs: []string{"ins-bbbbbbb1"},
		Reasons: []string{"5 held is above maximum 4", "ins-bbbbbbb1 is outdated"},
	}
	counts := func(minimum, maximum, capacity, held int, cost string) spotpool.Counts {
		return spotpool.Counts{Minimum: minimum, Maximum: maximum, Capacity: capacity, Held: held, Shortfall: max(0, minimum-capacity), HourlyPrice: price(t, cost)}
	}
	locked := &reconcile.ErrorReport{Message: `the lock "spot_pool/ap-singapore/e-locked" is held by terraform (process 4711 on ci, since 2026-01-02T03:04:00Z)`}
	unknown := &reconcile.ErrorReport{Message: "nothing is launched, since what its budget team-a has used is unknown: it has no status in the store directory:.gpupool yet, which gpupool reconcile makes"}
	usedUp := &reconcile.GateReport{Budget: "team-a", Closed: true, Reason: "its budget team-a is used up: 4.000 of 4.000 GPU-hours as of 2026-01-02T03:04:00Z; launches go on by themselves once usage is below the limit"}
	return reconcile.Report{
		SchemaVersion: 1, RunID: "0123456789abcdef0123456789abcdef", StartedAt: at, FinishedAt: at.Add(3 * time.Second),
		Decisions: []reconcile.Result{
			{Pool: &again, Outcome: reconcile.Done}, {Pool: &done, Outcome: reconcile.Done}, {Pool: &end, Outcome: reconcile.Done},
			{Pool: &short, Outcome: reconcile.Short, Error: soldOut},
			{Pool: &refused, Outcome: reconcile.Failed, Error: denied},
		},
		SpotPools: []reconcile.PoolReport{
			{Region: "ap-singapore", Name: "a-done", UID: "a", Observed: true, Counts: counts(4, 6, 4, 4, "7.60"), Outcome: reconcile.Done, Notices: []string{"ins-aaaaaaa0 is gone: reclaimed by the cloud"}},
			{Region: "ap-singapore", Name: "b-above", UID: "b", Observed: true, Counts: counts(2, 4, 4, 4, "7.60"), Outcome: reconcile.Done},
			{Region: "ap-singapore", Name: "c-short", UID: "c", Observed: true, Counts: counts(3, 4, 1, 2, "3.80"), Outcome: reconcile.Short, Short: []string{"GN7.2XLARGE32 in ap-singapore-2 is sold out until 2026-01-02T03:24:05Z"}, Warnings: []string{"ins-ccccccc1 is stopped (STOPPED): it is held but is not capacity"}},
			{Region: "ap-singapore", Name: "d-failed", UID: "d", Observed: true, Counts: counts(3, 4, 1, 1, "1.90"), Outcome: reconcile.Failed, Error: denied},
			{Region: "ap-singapore", Name: "e-locked", UID: "e", Observed: true, Counts: counts(1, 2, 0, 1, "1.90"), Outcome: reconcile.Skipped, Error: locked},
			{Region: "ap-singapore", Name: "f-idle", UID: "f", Observed: true, Counts: counts(1, 2, 1, 1, "1.90"), Outcome: reconcile.Done, Gate: usedUp},
			{Region: "ap-singapore", Name: "g-unseen", UID: "g", Counts: spotpool.Counts{Minimum: 1, Maximum: 2}, Outcome: reconcile.Failed, Error: &reconcile.ErrorReport{Message: "the endpoint does not answer"}},
			{Region: "ap-singapore", Name: "h-unseen", UID: "h", Counts: spotpool.Counts{Minimum: 2, Maximum: 2}, Outcome: reconcile.Failed, Error: &reconcile.ErrorReport{Message: "the endpoint does not answer"}},
			{Region: "ap-singapore", Name: "h-untrimmed", UID: "u", Observed: true, Counts: counts(1, 2, 3, 3, "5.70"), Outcome: reconcile.Done, Warnings: []string{"3 instances are held, above maximum 2, and none of them can be ended"}},
			{Region: "ap-singapore", Name: "i-unknown", UID: "i", Observed: true, Counts: spotpool.Counts{Minimum: 1, Maximum: 2, Shortfall: 1}, Outcome: reconcile.Failed, Short: []string{unknown.Message}, Error: unknown},
		},
	}
}

func TestReportForPeople(t *testing.T) {
	t.Parallel()
	report := everyOutcome(t)
	planned := report
	planned.DryRun, planned.Decisions, planned.SpotPools = true, nil, nil
	for _, d := range report.Decisions[:3] {
		if !d.Pool.Resume && d.Pool.Kind == spotpool.Launch {
			unborn := *d.Pool
			unborn.InstanceIDs = nil
			d.Pool = &unborn
		}
		d.Outcome = reconcile.Planned
		planned.Decisions = append(planned.Decisions, d)
	}
	for _, p := range report.SpotPools[:2] {
		p.Outcome = reconcile.Planned
		planned.SpotPools = append(planned.SpotPools, p)
	}
	many := reconcile.Report{}
	for n := range 30 {
		p := reconcile.PoolReport{Region: "ap-singapore", Name: "pool-" + string(rune('a'+n%26)) + string(rune('a'+n/26)), UID: "u", Observed: true, Counts: spotpool.Counts{Minimum: 1, Maximum: 1, Capacity: 1, Held: 1}, Outcome: reconcile.Done}
		many.SpotPools = append(many.SpotPools, p)
	}
	allIdle := many
	many.SpotPools = append([]reconcile.PoolReport{report.SpotPools[2], report.SpotPools[8]}, many.SpotPools...)
	for name, tt := range map[string]struct {
		look   style
		report reconcile.Report
	}{
		"report.txt":                 {plain, report},
		"report_colours.txt":         {coloured, report},
		"report_dry_run.txt":         {plain, planned},
		"report_many.txt":            {plain, many},
		"report_all_idle.txt":        {plain, allIdle},
		"report_nothing.txt":         {plain, reconcile.Report{}},
		"report_budgets.txt":         {plain, withBudgets(report)},
		"report_budgets_colours.txt": {coloured, withBudgets(report)},
		"report_only_budgets.txt":    {plain, withBudgets(reconcile.Report{})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			writeReport(&out, tt.look, tt.report, "directory:.gpupool")
			golden(t, name, out.String())
		})
	}
}

func everyState(t *testing.T) reconcile.StatusReport {
	t.Helper()
	report := everyOutcome(t)
	status := reconcile.StatusReport{
		SchemaVersion: 1, At: at, Store: "directory:.gpupool",
		LastRun: &declaration.RunSummary{RunID: "r", FinishedAt: at.Add(-130 * time.Second), Decisions: 2, Failed: 1},
	}
	for _, p := range report.SpotPools {
		status.SpotPools = append(status.SpotPools, reconcile.PoolStatus{PoolReport: p, Phase: declaration.Active})
	}
	member := func(id string, c spotpool.Condition) spotpool.Member {
		return spotpool.Member{Instance: spotpool.Instance{
			ID: id, AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: spotpool.Spot,
			LaunchedAt: at.Add(-3 * time.Hour), PrivateIP: "10.0.0.7",
		}, Condition: c, Price: price(t, "1.90")}
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
		{Market: spotpool.Market{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32"}, Cause: spotpool.CausedBySoldOut, Until: at.Add(20 * time.Minute)},
		{Market: spotpool.Market{AvailabilityZone: "ap-singapore-3"}, Cause: spotpool.CausedByQuota, Until: at.Add(90 * time.Second)},
		{Market: spotpool.Market{AvailabilityZone: "ap-singapore-4", InstanceType: "GN7.2XLARGE32"}, Cause: spotpool.CausedByBatch, Batch: 4, Until: at.Add(20 * time.Minute)},
		{Market: spotpool.Market{AvailabilityZone: "ap-singapore-1"}, Cause: spotpool.CausedByQuota, Until: at},
	}
	idle := &status.SpotPools[5]
	idle.Decisions = []spotpool.Decision{*report.Decisions[2].Pool}
	b := &status.SpotPools[1]
	b.Machines = []spotpool.Member{member("ins-bbbbbbb1", spotpool.Launching)}
	return status
}

func TestStatusForPeople(t *testing.T) {
	t.Parallel()
	status := everyState(t)
	for name, tt := range map[string]struct {
		look     style
		machines bool
		report   reconcile.StatusReport
	}{
		"status.txt":          {plain, false, status},
		"status_machines.txt": {plain, true, status},
		"status_colours.txt":  {coloured, true, status},
		"status_budgets.txt":  {coloured, false, reconcile.StatusReport{Store: "directory:.gpupool", At: at, Budgets: budgetStatuses()}},
		"status_both.txt":     {plain, false, reconcile.StatusReport{Store: "directory:.gpupool", At: at, Budgets: budgetStatuses()[:1], SpotPools: status.SpotPools[5:6]}},
		"status_nothing.txt":  {plain, false, reconcile.StatusReport{Store: "directory:.gpupool"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, statusText(tt.look, tt.report, tt.machines))
		})
	}
}
