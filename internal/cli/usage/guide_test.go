package usage

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// TestBudgetExample has the guide about budgets show what is printed.
func TestBudgetExample(t *testing.T) {
	t.Parallel()
	page, declared := clitest.Section(t, clitest.Guide(t, "budgets.md"), "## Observation"), clitest.GuideBudget()
	now := time.Date(2026, 11, 21, 7, 31, 55, 0, time.UTC)
	live := budgets.LiveUsage{Declaration: declared, At: now, Usage: clitest.Judged(t, now).Usage}
	counts, err := meter.New(declared, now, nil, time.LoadLocation)
	if err != nil {
		t.Fatal(err)
	}
	for r := range clitest.GuidePods(now) {
		used, _ := counts.Pod(r)
		live.Pods = append(live.Pods, budgets.PodUsed{Record: *r, PodUsage: used})
	}
	pods := usage.Listing{By: usage.ByPod}
	if diff := cmp.Diff(clitest.Printed(t, page, "gpupool usage team-a"),
		liveText(clitest.Plain, usage.NewReport(live, pods), live, textOptions{listing: pods, clock: terminal.Clock{Now: now}})); diff != "" {
		t.Errorf("what the page shows (-) and what is printed (+):\n%s", diff)
	}
}
