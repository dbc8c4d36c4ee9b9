package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// at is when it was explained: at noon, wherever the test runs.
var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)

func yuan(t *testing.T, s string) spotpool.Price { return clitest.Price(t, s) }

// shortPool is a pool whose offerings are passed over for many reasons.
func shortPool(t *testing.T) spotpools.Description {
	t.Helper()
	place := func(zone, instanceType, limit string) spotpool.Offering {
		return spotpool.Offering{AvailabilityZone: "ap-singapore-" + zone, InstanceType: instanceType, SpotMaxPrice: yuan(t, limit)}
	}
	d := spotpool.Declaration{
		Name: "train", Region: "ap-singapore", UID: "u", AccountID: "1", Currency: "CNY", Minimum: 4, Maximum: 6,
		MaxHourlyCost: yuan(t, "12"), Budget: "team-b",
		Offerings: []spotpool.Offering{
			place("2", "GN7.2XLARGE32", "2"), place("3", "GN7.2XLARGE32", "2"), place("2", "GN10X.2XLARGE40", "9"), place("4", "GN7.2XLARGE32", "2"),
			place("3", "PNV4.7XLARGE116", "9"),
		},
		OnDemandFallback: &spotpool.OnDemandFallback{After: spotpool.Duration(30 * time.Minute), Maximum: 1},
	}.WithDefaults()
	offer := func(o spotpool.Offering, price string, vCPUs int, stock spotpool.Stock) spotpool.Offer {
		return spotpool.Offer{Market: o.Market(spotpool.Spot), Price: yuan(t, price), VCPUs: vCPUs, Stock: stock}
	}
	running := func(id string, state spotpool.State, launched time.Time) spotpool.Instance {
		return spotpool.Instance{
			ID: id, Region: d.Region, AccountID: "1", PoolUID: "u", PoolName: "train", AvailabilityZone: "ap-singapore-4", InstanceType: "GN7.2XLARGE32",
			ChargeType: spotpool.Spot, State: state, LaunchedAt: launched, ConfigurationTag: "1:00000000deadbeef",
		}
	}
	s := decide.Situation{
		Declaration: d, Now: at,
		Journal: journal.Journal{Launches: launches.Launches{Salt: "s"}, ShortSince: at.Add(-40 * time.Minute), Cooldowns: []markets.Cooldown{{
			Market: d.Offerings[3].Market(spotpool.Spot), Cause: markets.CausedBySoldOut, Detail: "ResourcesSoldOut",
			Until: at.Add(20 * time.Minute),
		}}},
		Observation: spotpool.Observation{
			At: at, Region: d.Region, AccountID: "1",
			Instances: []spotpool.Instance{
				running("ins-a", spotpool.StateRunning, at.Add(-time.Hour)), running("ins-b", spotpool.StatePending, at.Add(-time.Hour)),
			},
			Offers: []spotpool.Offer{
				offer(d.Offerings[0], "2.09", 8, spotpool.StockEnough), offer(d.Offerings[1], "1.90", 8, spotpool.StockNone),
				offer(d.Offerings[2], "8.40", 8, spotpool.StockLow), offer(d.Offerings[3], "1.95", 8, spotpool.StockEnough),
			},
			SpotVCPUs: map[string]int{"ap-singapore-2": 40, "ap-singapore-4": 16},
		},
	}
	plan := decide.Decide(s)
	e := spotpools.Description{
		Report: spotpools.Report{
			Name: "train", Region: d.Region, UID: "u", Bounds: plan.Bounds, Currency: plan.Currency, Counts: &plan.Counts,
			Gate:         &spotpools.GateReport{Budget: "team-b"},
			ShortReasons: plan.Short, Warnings: plan.Warnings,
		},
		Phase: declaration.Active, Decisions: plan.Decisions, Machines: plan.Members, Mixed: true, ShortSince: s.Journal.ShortSince,
		Why: &spotpools.Why{
			Declared: spotpools.Declared{
				AllocationStrategy: d.AllocationStrategy, InstanceChargeType: d.InstanceChargeType, MaxHourlyCost: d.MaxHourlyCost, Currency: d.Currency,
				MaxLaunchesPerRun: d.MaxLaunchesPerRun, LaunchTimeout: d.LaunchTimeout, OnDemandFallback: d.OnDemandFallback,
			},
			Offerings: decide.Appraise(s, plan),
		},
	}
	for _, m := range plan.Members {
		e.Standings = append(e.Standings, m.Standing(d.LaunchTimeout))
	}
	return e
}

// exceededBudget is a budget that is exceeded, with a victim chosen.
func exceededBudget() budgets.Description {
	since := at.Add(-2 * time.Hour) // at the rate of 10 GPUs
	graceEnd := since.Add(10 * time.Minute)
	u := budget.Usage{
		WindowStart: at.Add(-12 * time.Hour), WindowEnd: at.Add(12 * time.Hour), Limit: 100 * budget.Hour, Consumed: 120 * budget.Hour, Coverage: 990,
		TrackedPods: 9, ActivePods: 3, BurnRate: 10_000, ByNamespace: map[string]int64{"ml": 100 * budget.Hour, "web": 20 * budget.Hour},
		ByLabel: map[string]map[string]int64{"user": {"alice": 90 * budget.Hour, "bob": 30 * budget.Hour}},
	}
	e := budgets.Description{
		Phase: declaration.Active, Window: "day", Why: &budgets.Why{
			Declared:   budgets.Declared{GracePeriod: "10m"},
			Thresholds: []budgets.Threshold{{Percent: 80, GPUHours: "80.000"}, {Percent: 150, GPUHours: "150.000"}},
		},
	}
	victim := budget.Decision{
		Kind: budget.KindEvict, Object: "budget/team-a",
		Reasons: reason.Reasons{reason.Used("120.000", "100.000", 120), reason.OtherVersion("it started last")},
		Pod:     &budget.Pod{Pod: gpu.Pod{Namespace: "ml", Name: "train-0"}, MilliGPUs: 4000},
	}
	e.Update(budgets.Report{
		Name: "team-a", UID: "b", Action: budget.Evict, Observed: true, UsageReport: budgets.NewUsageReport(u, at, &since), Fired: []int{80},
		EnforceAt: &graceEnd, Enforced: []budget.Action{budget.Freeze, budget.Evict}, Outcome: outcome.Planned,
	}, []outcome.Result{{Decision: victim, Outcome: outcome.Planned}})
	return e
}

func TestOneGPUIsSingular(t *testing.T) {
	t.Parallel()
	e := exceededBudget()
	e.ActivePods, e.BurnRateGPUs = 1, "1"
	got := text(clitest.Plain, reconcile.Explanation{StatusReport: reconcile.StatusReport{At: at, Budgets: []budgets.Description{e}}}, time.Local)
	if !strings.Contains(got, "\n  1 pod with 1 GPU now; 9 pods in the window\n") {
		t.Errorf("got:\n%s", got)
	}
}

// described has the states of the objects, as Explain sets them.
func described(x reconcile.Explanation) reconcile.Explanation {
	x.Complete()
	return x
}

func TestExplanationsForPeople(t *testing.T) {
	t.Parallel()
	x := reconcile.Explanation{
		StatusReport: reconcile.StatusReport{
			At: at, Store: "directory:.gpupool",
			SpotPools: []spotpools.Description{shortPool(t)}, Budgets: []budgets.Description{exceededBudget()},
		},
		Events: []history.Event{
			{
				At: at.Add(-time.Hour), Kind: history.Kind("evict"), Object: "budget/team-a", Pods: []history.Identity{{Namespace: "ml", Name: "train-1"}},
				Outcome: history.Requested, Reasons: reason.Reasons{reason.OtherVersion("it started last")},
			},
			{
				At: at.Add(-20 * time.Minute), Kind: history.Kind("reclaim"), Object: "spot_pool/ap-singapore/train", Count: 1, InstanceIDs: []string{"ins-c"},
				Offering: &history.Offering{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32"},
			},
			{
				At: at.Add(-time.Minute), Kind: history.Kind("refused"), Object: "spot_pool/ap-singapore/train",
				Error: &history.Error{Message: "RunInstances: LimitExceeded"},
			},
		},
	}
	clitest.Golden(t, "explain.txt", text(clitest.Plain, described(x), time.Local))
	nodes := reconcile.Explanation{StatusReport: reconcile.StatusReport{
		At: clitest.At, Store: "directory:.gpupool", SpotPools: clitest.PoolsWithNodes(t),
	}, Events: []history.Event{
		{
			At: clitest.At.Add(-4 * time.Minute), Kind: history.Drain, Object: "spot_pool/ap-singapore/b-draining", Count: 1,
			InstanceIDs: []string{"ins-b000003"}, Node: "10.0.0.3", Outcome: history.Requested, Reasons: reason.Reasons{reason.AboveMaximum(3, 2)},
		},
		{
			At: clitest.At.Add(-3 * time.Minute), Kind: history.Drained, Object: "spot_pool/ap-singapore/a-calm", Count: 1,
			InstanceIDs: []string{"ins-a000003"}, Node: "10.0.0.3", Outcome: "timed_out", Reasons: reason.Reasons{reason.PodsLeft(2)},
		},
		{
			At: clitest.At, Kind: history.Notice, Object: "spot_pool/ap-singapore/g-noticed", Count: 1, InstanceIDs: []string{"ins-g000002"}, Node: "10.0.0.2",
			Until: clitest.At.Add(90 * time.Second),
		},
	}}
	clitest.Golden(t, "explain_nodes.txt", text(clitest.Plain, described(nodes), time.Local))
}

// TestADeletedPoolIsSaidToLaunchNothing: neither its gate nor its offerings say otherwise.
func TestADeletedPoolIsSaidToLaunchNothing(t *testing.T) {
	t.Parallel()
	pool := shortPool(t)
	pool.Phase, pool.Decisions, pool.ShortReasons = declaration.Deleting, nil, nil
	pool.Deletion = record.NewDeletion(pool.Phase, at.Add(-time.Hour), reason.DeletionTerminates())
	got := text(clitest.Plain, reconcile.Explanation{StatusReport: reconcile.StatusReport{At: at, SpotPools: []spotpools.Description{pool}}}, time.Local)
	if !strings.Contains(got, "the next run terminates its instances") || strings.Contains(got, "may launch") || strings.Contains(got, "launches allowed") {
		t.Errorf("explained as\n%s", got)
	}
}

// TestWhatARunWouldDoIsOnlySaidIfItIsKnown: without the cluster, a budget has no decisions; without a
// measurement, it is unknown which thresholds it reaches.
func TestWhatARunWouldDoIsOnlySaidIfItIsKnown(t *testing.T) {
	t.Parallel()
	e := exceededBudget()
	explained := func(r budgets.Report, decisions []outcome.Result) string {
		e.Update(r, decisions)
		return text(clitest.Plain, reconcile.Explanation{StatusReport: reconcile.StatusReport{At: at, Budgets: []budgets.Description{e}}}, time.Local)
	}
	const nothing, unknown = "a run would change nothing now", "80%        80.000     -        -"
	judged, away, unmeasured := explained(e.Report, []outcome.Result{}), explained(e.Report, nil), explained(budgets.Report{Name: "team-a"}, nil)
	if !strings.Contains(judged, nothing) || strings.Contains(away, nothing) || strings.Contains(unmeasured, nothing) {
		t.Errorf("judged, without the cluster, and not measured:\n%s\n%s\n%s", judged, away, unmeasured)
	}
	if strings.Contains(away, unknown) || !strings.Contains(unmeasured, unknown) {
		t.Errorf("the thresholds, without the cluster, and not measured:\n%s\n%s", away, unmeasured)
	}
}

// TestARefusedDecisionIsNotSaidToBeMade: it has its reason, and what no pause reaches is listed.
func TestARefusedDecisionIsNotSaidToBeMade(t *testing.T) {
	t.Parallel()
	e := exceededBudget()
	w := budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}
	d := budget.Decision{Kind: budget.KindPause, Object: "budget/team-a", Owner: &w, Reasons: reason.Reasons{reason.OtherVersion("its limit is reached")}}
	e.Decisions = []outcome.Result{outcome.Of(d, outcome.Skipped, &budget.NotPausedError{Workload: w, Why: budget.Obstacle("a webhook says no")})}
	e.Effects = []budget.Effect{budget.Unreached(budget.Pause, "Pod ml/bare", "uid", nil, reason.NoOwner(), at)}
	got := text(clitest.Plain, reconcile.Explanation{StatusReport: reconcile.StatusReport{At: at, Budgets: []budgets.Description{e}}}, time.Local)
	for _, want := range []string{
		"a run would not pause Deployment ml/web\n", "skipped: Deployment ml/web: a webhook says no\n", "Pod ml/bare: it has no owner\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "a run would pause") {
		t.Errorf("explained as\n%s", got)
	}
}

// TestAnIneffectiveBudgetIsExplained: only what could not be observed makes the command fail.
func TestAnIneffectiveBudgetIsExplained(t *testing.T) {
	t.Parallel()
	for observed, fails := range map[bool]bool{true: false, false: true} {
		b := budgets.Description{Report: budgets.Report{Observed: observed, Outcome: outcome.Failed}}
		x := reconcile.Explanation{StatusReport: reconcile.StatusReport{Budgets: []budgets.Description{b}}}
		if err := verdict(x); (err != nil) != fails {
			t.Errorf("observed (%t): %v", observed, err)
		}
	}
}
