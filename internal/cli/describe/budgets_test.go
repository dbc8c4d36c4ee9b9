package describe_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

func TestSharesOfUsersSumToTheWhole(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]budgets.UsageReport{
		"by namespace: ml 0.505 (51%), web 0.495 (49%)": {
			ByNamespace: map[string]string{"ml": "0.505", "web": "0.495"}, ConsumedMilliGPUSeconds: 3_600_000,
		},
		"by namespace: ml 0.001 (100%)": { // 0.0006, which is rounded
			ByNamespace: map[string]string{"ml": "0.001"}, ConsumedMilliGPUSeconds: 2_000,
		},
		"by namespace: a 0.335 (34%), b 0.335 (34%), c 0.165 (16%), 2 others 0.165 (16%)": {
			ByNamespace: map[string]string{"a": "0.335", "b": "0.335", "c": "0.165", "d": "0.100", "e": "0.065"}, ConsumedMilliGPUSeconds: 3_600_000,
		},
		"by namespace: ml 0.000": {ByNamespace: map[string]string{"ml": "0.000"}},
	} {
		d := &describe.Details{}
		if d.Users(&u, 1); !slices.Equal(d.Lines, []string{want}) {
			t.Errorf("got %q, want %q", d.Lines, want)
		}
	}
}

func TestPausedWorkloadsAreListed(t *testing.T) {
	t.Parallel()
	clock := terminal.Clock{Now: clitest.At, Zone: time.UTC}
	b := clitest.BudgetUsed("team-a", 103, func(b *budgets.Report) {
		for _, kind := range []string{"CronJob", "Deployment", "Job"} {
			b.Paused = append(b.Paused, budget.PausedWorkload{Workload: budget.Workload{Namespace: "ml", Owner: ledger.Owner{Kind: kind, Name: "train"}}})
		}
		b.Paused[1].Replicas, b.Paused[1].Since, b.PausedLeftOut = 4, clitest.At.Add(-time.Hour), 2
	})
	for most, want := range map[int][]string{
		5: {
			"paused: 5 workloads as of 2m ago, 03:02", "  - CronJob ml/train", "  - Deployment ml/train since 60m ago, 02:04; it resumes with 4 replicas",
			"  - Job ml/train", "  - and 2 more",
		},
		1: {"paused: 5 workloads as of 2m ago, 03:02", "  - CronJob ml/train", "  - and 4 more"},
	} {
		d := &describe.Details{}
		if d.Paused(b, clock, most); !slices.Equal(d.Lines, want) {
			t.Errorf("got %q, want %q", d.Lines, want)
		}
	}
}
