package explain

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// explainedStock returns a stock pool that another client scaled and whose pods wait, one that a
// budget pauses, and one that could not be observed.
func explainedStock() []stockpools.Description {
	status := decide.Status{
		Phase: decide.Progressing, Desired: 3, Replicas: 4, Available: 1, Allocated: 1, Waiting: 2, ObservedGeneration: 3,
		SyncedAt: at.Add(-time.Hour), DeploymentUID: "u",
		Conditions: []decide.Condition{
			{
				Type: decide.WithinBudget, Status: "False", Reason: "Exceeded",
				Message: reason.OtherVersion("budget/week is exceeded; usage of budget/new is unknown"),
			},
			{
				Type: decide.Scheduled, Status: "False", Reason: "NoRoom",
				Message: reason.PodsUnscheduled(2, "0/2 nodes are available: 2 Insufficient nvidia.com/gpu"),
			},
		},
	}
	rooms := []stockpool.Room{{
		Pool: "ap-singapore/train", ClusterUID: "c", Labels: map[string]string{"gpu": "t4"},
		Why: "it has its minimum of 2, the number that gpupool keeps. Raise minimum",
	}}
	status = status.WithRooms(stockpool.Declaration{ClusterUID: "c", NodeSelector: map[string]string{"gpu": "t4"}}, rooms, nil)
	revert := stockpool.Decision{
		Kind: stockpool.KindRevert, Object: "stock_pool/ml/g1", Replicas: 3, Was: 4,
		Reasons: reason.Reasons{reason.FieldDrifted("spec.replicas", "4", "3"), reason.LastWrittenBy(reason.Names{"kubectl (scale)"})},
	}
	declared := stockpools.Declared{
		Generation: 3, Image: "registry.example.com/team/runtime:1", Memory: "16Gi", CPU: "4", GPU: 1, GPUResource: "nvidia.com/gpu", Replicas: 2,
		ReplicasPolicy: stockpool.ReplicasAvailable, Maximum: 8, NodeSelector: map[string]string{"gpu": "t4"}, AllocatedSelector: "session", MinAvailable: 1,
	}
	return []stockpools.Description{{
		RecordPhase: declaration.Active, Decisions: []stockpool.Decision{revert},
		Report: stockpools.Report{Name: "g1", Namespace: "ml", UID: "s", SpecName: "g1.1", Status: &status, Outcome: outcome.Planned},
		Why: &stockpools.Why{
			Declared: declared,
			Budgets: []decide.Cover{
				{Budget: "team-a"}, {Budget: "week", Exceeded: true}, {Budget: "new", Unknown: true},
			},
			Standings: []decide.Standing{
				{Pod: "g1-a", Node: "gpu-1", CountsAs: decide.CountsInUse, Why: reason.PodSelected()},
				{Pod: "g1-b", Node: "gpu-1", CountsAs: decide.CountsAvailable, Why: reason.PodIdle()},
				{Pod: "g1-c", CountsAs: decide.CountsPending, Why: reason.PodUnfit()},
				{Pod: "g1-d", CountsAs: decide.CountsPending, Why: reason.PodUnfit()},
			},
			Writers: []drift.Writer{
				{Manager: "kubectl", Subresource: "scale", Fields: []string{"spec.replicas"}},
				{Manager: stockpool.FieldManager, At: at.Add(-time.Hour), Fields: []string{
					"metadata.labels.a", "spec.replicas", "spec.selector", "spec.template",
				}},
			},
		},
	}, {
		RecordPhase: declaration.Active,
		Report: stockpools.Report{
			Name: "asleep", Namespace: "ml", UID: "p", SpecName: "g1.1", Outcome: outcome.Done, Status: &decide.Status{
				Phase: decide.Paused, ObservedGeneration: 3, SyncedAt: at.Add(-time.Hour), DeploymentUID: "p",
				Conditions: []decide.Condition{{
					Type: decide.WithinBudget, Status: "False", Reason: "Exceeded", Message: reason.OtherVersion("budget/night is exceeded"),
				}},
			},
		},
		Why: &stockpools.Why{Declared: declared, Budgets: []decide.Cover{{Budget: "night", Exceeded: true, Pauses: true}}},
	}, {
		RecordPhase: declaration.Active, Report: stockpools.Report{
			Name: "unseen", Namespace: "ml", SpecName: "g1.1", Outcome: outcome.Failed,
			Error: &outcome.ErrorReport{
				Message: "the cluster cannot be reached: cannot list pods: connection refused",
				Remedy:  "check the address of the API server, and that it can be reached from here",
			},
		},
		Why: &stockpools.Why{Declared: declared},
	}}
}

// TestAStockPoolIsExplained, also to a person whose terminal is narrow.
func TestAStockPoolIsExplained(t *testing.T) {
	t.Parallel()
	x := reconcile.Explanation{StatusReport: reconcile.StatusReport{At: at, StockPools: explainedStock()}, Events: []history.Event{
		{
			At: at.Add(-time.Hour), Kind: history.Scale, Object: "stock_pool/ml/g1",
			Reasons:   reason.Reasons{reason.Scaled(1, 3), reason.DeclarationChanged(3)},
			Workloads: []history.Identity{{Namespace: "ml", Name: "Deployment/g1"}},
		},
	}}
	clitest.Golden(t, "explain_stock.txt", text(clitest.Plain, described(x), time.UTC))
	for line := range strings.Lines(text(terminal.Style{Width: 80}, x, time.UTC)) {
		if width := utf8.RuneCountInString(strings.TrimRight(line, "\n")); width > 80 {
			t.Errorf("it is %d wide: %s", width, line)
		}
	}
}
