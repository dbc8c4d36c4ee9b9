package status

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TestStockPoolsAreShown: the worst first, each with what keeps it from being as it
// should.
func TestStockPoolsAreShown(t *testing.T) {
	t.Parallel()
	pool := func(name string, phase stockpool.Phase, available int, conditions ...stockpool.Condition) stockpools.Description {
		return stockpools.Description{RecordPhase: declaration.Active, Report: stockpools.Report{
			Name: name, Namespace: "ml", UID: "u", Observed: true, Outcome: outcome.Done,
			Status: stockpool.Status{Phase: phase, Desired: 2, Replicas: 2, Available: available, Conditions: conditions},
		}}
	}
	report := reconcile.StatusReport{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), StockPools: []stockpools.Description{
		pool("calm", stockpool.Ready, 2),
		pool("short", stockpool.Pending, 0, stockpool.Condition{
			Type: stockpool.Scheduled, Status: "False", Reason: "NoRoom", Message: "2 pods wait for a node",
		}),
		pool("paused", stockpool.Paused, 0, stockpool.Condition{
			Type: stockpool.WithinBudget, Status: "False", Reason: "Exceeded", Message: "its budget team-a is used up",
		}),
		pool("kept", stockpool.Degraded, 2, stockpool.Condition{
			Type: stockpool.WithinBudget, Status: "Unknown", Reason: "UnknownUse", Message: "what its budget team-a has used is unknown",
		}),
	}}
	got := text(view{zone: time.UTC}, report)
	for _, want := range []string{
		"STOCK POOL", "ml/short", "ml/paused", "ml/calm", "no room: 2 pods wait for a node", "held back: its budget team-a is used up",
		"ml/kept     held back    Degraded",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Index(got, "ml/short") > strings.Index(got, "ml/paused") || strings.Index(got, "ml/paused") > strings.Index(got, "ml/calm") {
		t.Errorf("the worst is not first:\n%s", got)
	}
}
