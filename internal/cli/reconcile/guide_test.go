package reconcile

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// TestBudgetExample has the guide about budgets show what is printed.
func TestBudgetExample(t *testing.T) {
	t.Parallel()
	page, declared := clitest.Section(t, clitest.Guide(t, "budgets.md"), "## Thresholds"), clitest.GuideBudget()
	now := time.Date(2026, 11, 21, 7, 32, 8, 0, time.UTC)
	result := clitest.Judged(t, now)
	plan := decide.Decide(decide.Situation{Declaration: declared, Result: result, Now: now, RunID: "r"}, nil)
	report := reconcile.Report{Budgets: []budgets.Report{{
		Name: declared.Name, Action: declared.Enforce.Action, Observed: true, Outcome: outcome.Done,
		UsageReport: budgets.NewUsageReport(result.Usage, now, nil), Fired: plan.Status.Fired,
	}}}
	for _, d := range plan.Decisions {
		report.Decisions = append(report.Decisions, outcome.Result{Decision: d, Outcome: outcome.Done})
	}
	var out bytes.Buffer
	writeReport(&out, clitest.Plain, terminal.Clock{Now: now}.WithZone(), report, "")
	if diff := cmp.Diff(clitest.Printed(t, page, "gpupool reconcile"), out.String()); diff != "" {
		t.Errorf("what the page shows (-) and what is printed (+):\n%s", diff)
	}
}
