package reconcile

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

func TestReportForPeople(t *testing.T) {
	t.Parallel()
	report := clitest.EveryOutcome(t)
	planned := report
	planned.DryRun, planned.Decisions, planned.SpotPools = true, nil, nil
	for _, d := range report.Decisions[:3] {
		if unborn := d.Decision.(spotpool.Decision); !unborn.Resume && unborn.Kind == spotpool.KindLaunch {
			unborn.InstanceIDs = nil
			d.Decision = unborn
		}
		d.Outcome = outcome.Planned
		planned.Decisions = append(planned.Decisions, d)
	}
	for _, p := range report.SpotPools[:2] {
		p.Outcome = outcome.Planned
		planned.SpotPools = append(planned.SpotPools, p)
	}
	many := reconcile.Report{}
	for n := range 30 {
		p := spotpools.Report{
			Region: "ap-singapore", Name: "pool-" + string(rune('a'+n%26)) + string(rune('a'+n/26)), UID: "u",
			Bounds: spotpool.Bounds{Minimum: 1, Maximum: 1}, Counts: &spotpool.Counts{Capacity: 1, Total: 1}, Outcome: outcome.Done,
		}
		many.SpotPools = append(many.SpotPools, p)
	}
	allIdle := many
	many.SpotPools = append([]spotpools.Report{report.SpotPools[2], report.SpotPools[8]}, many.SpotPools...)
	for name, tt := range map[string]struct {
		style  terminal.Style
		report reconcile.Report
	}{
		"report.txt":                {clitest.Plain, report},
		"report_colors.txt":         {clitest.Colored, report},
		"report_dry_run.txt":        {clitest.Plain, planned},
		"report_many.txt":           {clitest.Plain, many},
		"report_all_idle.txt":       {clitest.Plain, allIdle},
		"report_nothing.txt":        {clitest.Plain, reconcile.Report{}},
		"report_budgets.txt":        {clitest.Plain, withBudgets(report)},
		"report_budgets_colors.txt": {clitest.Colored, withBudgets(report)},
		"report_victims.txt":        {clitest.Plain, victims()},
		"report_victims_narrow.txt": {terminal.Style{Width: 60}, victims()},
		"report_nodes.txt":          {clitest.Plain, withNodes(t)},
		"report_only_budgets.txt":   {clitest.Plain, withBudgets(reconcile.Report{})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			writeReport(&out, tt.style, terminal.Clock{Now: clitest.At}.WithZone(), tt.report, "directory:.gpupool")
			clitest.Golden(t, name, out.String())
		})
	}
}

// withNodes is a report of pools whose instances become nodes.
func withNodes(t *testing.T) reconcile.Report {
	t.Helper()
	var r reconcile.Report
	for _, p := range clitest.PoolsWithNodes(t) {
		r.SpotPools = append(r.SpotPools, p.Report)
		for _, d := range p.Decisions {
			if d.Kind == spotpool.KindDrain { // its Node was replaced before the cordon
				r.Decisions = append(r.Decisions, outcome.Of(d, outcome.Short, fmt.Errorf("node %s: %w", d.Node.Name, node.ErrChanged)))
				continue
			}
			r.Decisions = append(r.Decisions, outcome.Of(d, outcome.Done, nil))
		}
	}
	return r
}

// TestDecisionsReadByTheirOutcome: each kind of decision, with each outcome, in the
// words of a report.
func TestDecisionsReadByTheirOutcome(t *testing.T) {
	t.Parallel()
	offering := &spotpool.Offering{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32"}
	var decisions []outcome.Decision
	for _, of := range spotpool.Kinds() {
		d := spotpool.Decision{Kind: of.Kind, Count: 1, InstanceIDs: []string{"ins-1"}}
		if of.Kind != spotpool.KindLaunch && of.Kind != spotpool.KindTerminate {
			d.Node = &node.Node{Name: "gpu-1"}
		}
		if of.Kind == spotpool.KindLaunch {
			d = spotpool.Decision{Kind: of.Kind, Count: 2, Offering: offering, ChargeType: spotpool.Spot, Sequence: 7}
		}
		if of.Kind == spotpool.KindEndToken {
			d = spotpool.Decision{Kind: of.Kind, Count: 1, Sequence: 7, BootstrapTokenID: "k3j9xa"}
		}
		decisions = append(decisions, d)
		if of.Kind == spotpool.KindLaunch {
			d.Resume = true
			decisions = append(decisions, d)
		}
	}
	for _, of := range budget.Kinds() {
		decisions = append(decisions, budget.Decision{
			Kind: of.Kind, Object: "budget/team-a", Thresholds: []int{80}, Namespaces: []string{"ml"},
			Pod:   &budget.Pod{Pod: gpu.Pod{Namespace: "ml", Name: "train-0"}},
			Owner: &budget.Workload{Namespace: "ml", Owner: ledger.Owner{Kind: "Job", Name: "train"}},
		})
	}
	for _, of := range stockpool.Kinds() {
		decisions = append(decisions, stockpool.Decision{Kind: of.Kind, Object: "stock_pool/ml/pool-g1", Was: 2, Replicas: 5, Spared: []string{"pool-g1-a"}})
	}
	decisions = append(decisions, stockpool.Decision{Kind: stockpool.KindSpare, Released: []string{"pool-g1-a", "pool-g1-b"}})
	var out bytes.Buffer
	for _, d := range decisions {
		for _, o := range []outcome.Outcome{outcome.Planned, outcome.Done, outcome.Short, outcome.Skipped, outcome.Failed} {
			fmt.Fprintf(&out, "%-8s %s\n", o, decisionText(clitest.Plain, outcome.Of(d, o, nil)))
		}
	}
	clitest.Golden(t, "decisions.txt", out.String())
}

func withBudgets(r reconcile.Report) reconcile.Report {
	decide := func(kind budget.Kind, became outcome.Outcome, change func(*budget.Decision)) outcome.Result {
		d := budget.Decision{Kind: kind, Object: "budget/c-evicting", Reasons: reason.Reasons{reason.Used("103.000", "100.000", 103)}}
		change(&d)
		return outcome.Result{Decision: d, Outcome: became}
	}
	pod := func(name string) func(*budget.Decision) {
		return func(d *budget.Decision) { d.Pod = &budget.Pod{Pod: gpu.Pod{Namespace: "ml", Name: name, UID: name}} }
	}
	blocked := decide(budget.KindEvict, outcome.Skipped, pod("serve-1"))
	blocked.Error = &outcome.ErrorReport{Message: "the eviction of the pod ml/serve-1 is blocked: the disruption budget serve needs 2 healthy pods"}
	r.Budgets = clitest.EveryBudget()
	r.Decisions = append([]outcome.Result{
		decide(budget.KindAlert, outcome.Done, func(d *budget.Decision) { d.Thresholds, d.Namespaces = []int{50, 80, 100}, []string{"ml"} }),
		decide(budget.KindFreeze, outcome.Done, func(*budget.Decision) {}),
		blocked,
		decide(budget.KindEvict, outcome.Done, pod("train-1")),
	}, r.Decisions...)
	return r
}

// victims returns the report of a run that evicted nine pods of a budget and three waiting
// pods. It could not evict two pods, and failed to pause two workloads of another budget.
func victims() reconcile.Report {
	r := reconcile.Report{Budgets: []budgets.Report{
		clitest.BudgetUsed("c-evicting", 103, func(b *budgets.Report) {
			b.Action, b.Enforced, b.Fired = budget.Evict, []budget.Action{budget.Evict}, []int{50, 80, 100}
		}),
		clitest.BudgetUsed("d-pausing", 103, func(b *budgets.Report) { b.Action, b.Fired = budget.Pause, []int{50, 80, 100} }),
	}}
	since := time.Date(2026, 1, 2, 1, 2, 5, 0, time.UTC)
	because := reason.Reasons{
		reason.UsedSince("103.000", "100.000", 103, reason.Instant{Time: since}),
		reason.GraceEnded(reason.Duration(10*time.Minute), reason.Instant{Time: since.Add(10 * time.Minute)}),
	}
	add := func(object string, kind budget.Kind, became outcome.Outcome, why string, own reason.Reasons, change func(*budget.Decision)) {
		d := budget.Decision{Kind: kind, Object: object, Reasons: append(slices.Clone(because), own...)}
		change(&d)
		result := outcome.Result{Decision: d, Outcome: became}
		if why != "" {
			result.Error = &outcome.ErrorReport{Message: why}
		}
		r.Decisions = append(r.Decisions, result)
	}
	evict := func(n int, became outcome.Outcome, why string) {
		rank := &budget.Rank{Number: n, Of: 11, Order: budget.NewestStart}
		rank.Why = reason.Holds("1", reason.Instant{Time: since.Add(time.Duration(28-n) * time.Minute)})
		add("budget/c-evicting", budget.KindEvict, became, why, reason.Reasons{rank.Reason()}, func(d *budget.Decision) {
			d.Pod, d.Rank = &budget.Pod{Pod: gpu.Pod{Namespace: "ml", Name: fmt.Sprintf("train-%d", n)}}, rank
		})
	}
	for n := range 3 {
		add("budget/c-evicting", budget.KindEvict, outcome.Done, "", reason.Reasons{reason.WaitsFor("1")},
			func(d *budget.Decision) {
				d.Pod = &budget.Pod{Pod: gpu.Pod{Namespace: "ml", Name: fmt.Sprintf("waits-%d", n)}}
			})
	}
	for n := 1; n <= 11; n++ {
		switch n {
		case 4, 7:
			evict(n, outcome.Skipped, fmt.Sprintf("the eviction of the pod ml/train-%d is blocked: the disruption budget train needs 2 healthy pods", n))
		default:
			evict(n, outcome.Done, "")
		}
	}
	for _, name := range []string{"serve", "train"} {
		add("budget/d-pausing", budget.KindPause, outcome.Failed, "the API server does not answer", nil, func(d *budget.Decision) {
			d.Owner = &budget.Workload{Namespace: "ml", Owner: ledger.Owner{Kind: "Job", Name: name}}
		})
	}
	return r
}
