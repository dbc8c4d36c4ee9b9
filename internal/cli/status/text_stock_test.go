package status

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestStockPoolsAreShown: the worst first, each with what keeps it from being as it
// should.
func TestStockPoolsAreShown(t *testing.T) {
	t.Parallel()
	pool := func(name string, phase decide.Phase, available int, conditions ...decide.Condition) stockpools.Description {
		return stockpools.Description{RecordPhase: declaration.Active, Report: stockpools.Report{
			Name: name, Namespace: "ml", UID: "u", Outcome: outcome.Done,
			Status: &decide.Status{Phase: phase, Desired: 2, Replicas: 2, Available: available, Conditions: conditions},
		}}
	}
	report := reconcile.StatusReport{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), StockPools: []stockpools.Description{
		pool("calm", decide.Ready, 2),
		pool("short", decide.Pending, 0, decide.Condition{
			Type: decide.Scheduled, Status: "False", Reason: "NoRoom", Message: reason.OtherVersion("2 pods wait for a node"),
		}),
		pool("paused", decide.Paused, 0, decide.Condition{
			Type: decide.WithinBudget, Status: "False", Reason: "Exceeded", Message: reason.OtherVersion("budget/team-a is used up"),
		}),
		pool("kept", decide.Degraded, 2, decide.Condition{
			Type: decide.WithinBudget, Status: "Unknown", Reason: "UnknownUse", Message: reason.OtherVersion("usage of budget/team-a is unknown"),
		}),
	}}
	got := show(layout{zone: time.UTC}, report)
	for _, want := range []string{
		"STOCK POOL", "ml/short", "ml/paused", "ml/calm", "unschedulable: 2 pods wait for a node", "blocked: budget/team-a is used up",
		"ml/kept     Blocked",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Index(got, "ml/short") > strings.Index(got, "ml/paused") || strings.Index(got, "ml/paused") > strings.Index(got, "ml/calm") {
		t.Errorf("the worst is not first:\n%s", got)
	}
}
