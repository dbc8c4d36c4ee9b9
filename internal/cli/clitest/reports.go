package clitest

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// EveryOutcome is a report that has every outcome.
func EveryOutcome(t *testing.T) reconcile.Report {
	t.Helper()
	offering := &spotpool.Offering{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-a1b2c3d4"}
	price := reason.Price{Amount: "1.90", Currency: string(currency)}
	each := reason.PriceEach(price)
	launch := func(object string, sequence int64, count int, reasons ...reason.Reason) spotpool.Decision {
		return spotpool.Decision{
			Kind: spotpool.KindLaunch, Object: object, Count: count, Offering: offering, ChargeType: spotpool.Spot, Sequence: sequence, Reasons: reasons,
		}
	}
	soldOut := outcome.NewErrorReport(&spotpool.CloudError{
		Class: errorclass.Capacity, Action: "RunInstances", Code: "ResourcesSoldOut.SpecifiedInstanceType", RequestID: "5b6e…",
		Message: "The resources are sold out.",
	})
	denied := outcome.NewErrorReport(Denied("7c1d…"))
	again := launch("spot_pool/ap-singapore/a-done", 3, 1,
		reason.UnknownOutcome(3, reason.Instant{Time: At.Add(-10 * time.Minute)}))
	again.Resume, again.InstanceIDs = true, []string{"ins-aaaaaaa3"}
	done := launch("spot_pool/ap-singapore/a-done", 4, 2, reason.BelowMinimum(2, 4), each)
	done.InstanceIDs = []string{"ins-aaaaaaa1", "ins-aaaaaaa2"}
	short := launch("spot_pool/ap-singapore/c-short", 3, 2, reason.BelowMinimum(1, 3), each)
	refused := launch("spot_pool/ap-singapore/d-failed", 3, 2, reason.BelowMinimum(1, 3), each)
	end := spotpool.Decision{
		Kind: spotpool.KindTerminate, Object: "spot_pool/ap-singapore/b-above", Count: 1, InstanceIDs: []string{"ins-bbbbbbb1"},
		Reasons: reason.Reasons{reason.AboveMaximum(5, 4), reason.Chosen(reason.Some{reason.ChosenInstance("ins-bbbbbbb1", reason.Facts{
			reason.OfOffering("spot", "GN7.2XLARGE32 in ap-singapore-2"), reason.Drifted(), reason.Costs(price),
		})})},
	}
	observed := func(minimum, maximum, capacity, total int, cost string, p spotpools.Report) spotpools.Report {
		p.Region, p.Observed, p.Bounds, p.Currency = "ap-singapore", true, spotpool.Bounds{Minimum: minimum, Maximum: maximum}, currency
		p.Counts = &spotpool.Counts{Capacity: capacity, Total: total, Shortfall: max(0, minimum-capacity), HourlyPrice: Price(t, cost)}
		return p
	}
	locked := &outcome.ErrorReport{Message: `the lock "spot_pool/ap-singapore/e-locked" is held by terraform (process 4711 on ci, since 2026-01-02T03:00:00Z)`}
	soldOutUntil := reason.OfferingSkipped("spot", "GN7.2XLARGE32 in ap-singapore-2",
		reason.CooldownDetailed("sold out", "ResourcesSoldOut.SpecifiedInstanceType", reason.Instant{Time: At.Add(20 * time.Minute)}))
	unreachable := outcome.NewErrorReport(Unreachable())
	unknown := &outcome.ErrorReport{Message: "launches are blocked: usage of budget/team-a is unknown: it has no status in the store " +
		"directory:.gpupool yet: run gpupool reconcile"}
	usedUp := &spotpools.GateReport{Budget: "team-a", Closed: true, Reason: reason.BudgetUsedUp("budget/team-a", "4.000", "4.000",
		reason.Instant{Time: At.Add(-5 * time.Second)})}
	return reconcile.Report{
		SchemaVersion: 1, RunID: "0123456789abcdef0123456789abcdef", StartedAt: At, FinishedAt: At.Add(3 * time.Second),
		Decisions: []outcome.Result{
			{Decision: again, Outcome: outcome.Done}, {Decision: done, Outcome: outcome.Done}, {Decision: end, Outcome: outcome.Done},
			{Decision: short, Outcome: outcome.Short, Error: soldOut},
			{Decision: refused, Outcome: outcome.Failed, Error: denied},
		},
		SpotPools: []spotpools.Report{
			observed(4, 6, 4, 4, "7.60", spotpools.Report{
				Name: "a-done", UID: "a", Outcome: outcome.Done,
				Messages: reason.Reasons{reason.Ended([]string{"ins-aaaaaaa0"}, "GN7.2XLARGE32 in ap-singapore-2", reason.GoneAsNoticed())},
			}),
			observed(2, 4, 4, 4, "7.60", spotpools.Report{Name: "b-above", UID: "b", Outcome: outcome.Done}),
			observed(3, 4, 1, 2, "3.80", spotpools.Report{
				Name: "c-short", UID: "c", Outcome: outcome.Short,
				Short:        []string{soldOutUntil.String()},
				ShortReasons: spotpool.Reasons{{Code: spotpool.BecauseCooldown, Why: soldOutUntil}},
				Warnings:     reason.Reasons{reason.Stopped([]string{"ins-ccccccc1"})},
			}),
			observed(3, 4, 1, 1, "1.90", spotpools.Report{Name: "d-failed", UID: "d", Outcome: outcome.Failed, Error: denied}),
			observed(1, 2, 0, 1, "1.90", spotpools.Report{Name: "e-locked", UID: "e", Outcome: outcome.Skipped, Error: locked}),
			observed(1, 2, 1, 1, "1.90", spotpools.Report{Name: "f-idle", UID: "f", Outcome: outcome.Done, Gate: usedUp}),
			{
				Region: "ap-singapore", Name: "g-unseen", UID: "g", Bounds: spotpool.Bounds{Minimum: 1, Maximum: 2}, Outcome: outcome.Failed,
				Error: unreachable,
			},
			{
				Region: "ap-singapore", Name: "h-unseen", UID: "h", Bounds: spotpool.Bounds{Minimum: 2, Maximum: 2}, Outcome: outcome.Failed,
				Error: unreachable,
			},
			observed(1, 2, 3, 3, "5.70", spotpools.Report{
				Name: "h-untrimmed", UID: "u", Outcome: outcome.Done,
				Warnings: reason.Reasons{reason.CannotTerminate(1, 2)},
			}),
			{
				Region: "ap-singapore", Name: "i-unknown", UID: "i", Observed: true, Bounds: spotpool.Bounds{Minimum: 1, Maximum: 2},
				Counts: &spotpool.Counts{Shortfall: 1}, Outcome: outcome.Failed, Short: []string{unknown.Message}, Error: unknown,
			},
		},
	}
}

// Denied is the error of a launch without a permission.
func Denied(requestID string) error {
	return &spotpool.CloudError{
		Class: errorclass.Authorization, Action: "RunInstances", Code: "UnauthorizedOperation", RequestID: requestID,
		Message: "You are not authorized.\nNo policy allows cvm:RunInstances.",
		Remedy:  reason.GrantPermission("qcs::cam::uin/100000000001:uin/100000000001", "cvm", "RunInstances"),
	}
}

// Unreachable is the error of an endpoint without a server.
func Unreachable() error {
	return &spotpool.CloudError{
		Class: errorclass.Transient, Action: "DescribeInstances", Code: "ClientError.Unreachable",
		Message: "no connection to cvm.tencentcloudapi.com: connection refused.",
		Remedy:  reason.CheckEndpoint(),
	}
}

// currency is that of the reports.
var currency = spotpool.CurrencyOf("")

// Price is a price.
func Price(t *testing.T, s string) spotpool.Price {
	t.Helper()
	p, err := spotpool.ParsePrice(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// BudgetUsed is a budget that has used this many of its 100 GPU-hours.
func BudgetUsed(name string, percent int64, change func(*budgets.Report)) budgets.Report {
	at := At.Add(-2 * time.Minute)
	u := budget.Usage{
		WindowStart: at.Add(-24 * time.Hour), WindowEnd: at, Limit: 100 * budget.Hour, Consumed: percent * budget.Hour,
		Coverage: 1000, TrackedPods: 12, ActivePods: 3, BurnRate: 1500,
	}
	var since *time.Time
	if u.Exceeded() { // at the rate of 1.5 GPUs
		crossed, recovers := at.Add(time.Duration(100-percent)*40*time.Minute), At.Add(19*time.Minute)
		since, u.RecoversAt = &crossed, &recovers
	}
	u.ByNamespace = map[string]int64{"ml": u.Consumed}
	b := budgets.Report{
		Name: name, UID: name, Action: budget.AlertOnly, Observed: true, Outcome: outcome.Done,
		UsageReport: budgets.NewUsageReport(u, at, since),
	}
	if change != nil {
		change(&b)
	}
	return b
}

// EveryBudget is a budget in each state that one can have.
func EveryBudget() []budgets.Report {
	hundred := "100.000"
	resumed := &budget.NotPausedError{
		Workload: budget.Workload{Namespace: "ml", Owner: ledger.Owner{Kind: "Deployment", Name: "serve"}},
		Why:      reason.RestartedByHand(),
	}
	return []budgets.Report{
		BudgetUsed("a-calm", 12, nil),
		BudgetUsed("b-warned", 85, func(b *budgets.Report) { b.Fired = []int{50, 80}; b.ErrorBoundGPUHours = "0.250" }),
		BudgetUsed("c-evicting", 103, func(b *budgets.Report) {
			b.Action, b.Enforced, b.Fired = budget.Evict, []budget.Action{budget.Freeze, budget.Evict}, []int{50, 80, 100}
			protected := reason.List([]reason.Item{{Name: "ml/notebook", Why: reason.Annotated(budget.ProtectedKey)}})
			b.Warnings = reason.Reasons{reason.ProtectedFrom(1, "eviction", protected)}
			b.ByNamespace = map[string]string{"ml": "61.000", "ops": "30.500", "web": "8.500", "lab": "2.000", "x": "1.000"}
			b.ByLabel = map[string]map[string]string{"team": {"a": "71.000", "": "32.000"}}
		}),
		BudgetUsed("d-alert-only", 100, func(b *budgets.Report) { b.Fired = []int{50, 80, 100} }),
		{Name: "e-elsewhere", UID: "e", Outcome: outcome.Failed, Error: outcome.NewErrorReport(&record.ClusterError{
			Object: "budget/e-elsewhere", Own: "9f1c2a54-0d3b-4c1e-8a77-5b2f6d0e4c11", AtHand: "3b7d1e90-62aa-4f0c-9c55-1e8f7a2b6d22",
		})},
		{
			Name: "f-locked", UID: "f", LimitGPUHours: &hundred, Outcome: outcome.Skipped,
			Error: &outcome.ErrorReport{Message: `the lock "budget/f-locked" is held by terraform (process 4711 on ci, since 2026-01-02T03:00:00Z)`},
		},
		{Name: "g-gone", UID: "g", Outcome: outcome.Done, Deleted: true, Messages: reason.Reasons{resumed.Because()}},
	}
}
