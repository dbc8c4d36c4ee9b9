package decide

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestUnconfirmedUsageReachesNoLimit reports hours that only pods themselves claim, and enforces nothing
// because of them.
func TestUnconfirmedUsageReachesNoLimit(t *testing.T) {
	t.Parallel()
	for name, records := range map[string][]*ledger.Record{
		"while it runs":   {record("real", "1", ago(time.Hour), 0), ghost("9999", ago(time.Hour), 0)},
		"when it is gone": {record("real", "1", ago(time.Hour), 0), ghost("9999", ago(2*time.Hour), ago(time.Hour))},
	} {
		d := teamA()
		d.Enforce.Action, d.Enforce.GracePeriod = budget.Evict, "0s"
		r := judged(t, d, observed(), noon, records...)
		u := r.Usage
		if u.Consumed != 3_600_000 || u.Unconfirmed != 9999*3_600_000 || u.Estimated != 0 || u.Exceeded() || r.ExceededSince != nil {
			t.Errorf("%s: %+v, since %v", name, u, r.ExceededSince)
		}
		if u.ActivePods != 1 || u.BurnRate != 1000 {
			t.Errorf("%s: %d pods burn %d", name, u.ActivePods, u.BurnRate)
		}
		plan := Decide(Situation{Declaration: d, Result: r, Now: noon, RunID: "run"},
			&Observation{Pods: []budget.Pod{{Pod: gpu.Pod{UID: "real", Namespace: "ml", Name: "real"}}}})
		for _, decision := range plan.Decisions {
			t.Errorf("%s: it is decided to %s", name, decision.Kind)
		}
		if text := strings.Join(plan.Status.Warnings.Texts(), "; "); !strings.Contains(text, "nodes that were never observed") ||
			!strings.Contains(text, "With them, 10000.000 of 100.000 GPU-hours would be used") {
			t.Errorf("%s: the warnings are %q", name, text)
		}
	}
}

// ghost is a pod that claims to hold GPUs, on a node that was never observed.
func ghost(gpus string, start, end ledger.Time) *ledger.Record {
	r := record("ghost", gpus, start, end)
	r.Allocation.Shown = 0
	return r
}
