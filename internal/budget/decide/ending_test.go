package decide

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestSlowlyTerminatingPodsGetAShorterGracePeriod has deleted pods that take years to terminate and hold
// their GPUs until then. Each run reports a pod that exceeds the shorter period.
func TestSlowlyTerminatingPodsGetAShorterGracePeriod(t *testing.T) {
	t.Parallel()
	ends := func(name string, in time.Duration) budget.Pod {
		p := pod(name, 0)
		p.Deletion = ledger.TimeOf(noon.Add(in))
		return p
	}
	kept, others, idle := ends("kept", time.Hour), ends("others", time.Hour), ends("idle", time.Hour)
	kept.Annotations = map[string]string{budget.ProtectedKey: "true"}
	others.Set, idle.MilliGPUs = set("ml", "team", "b"), 0
	pods := []budget.Pod{ends("years", 87600*time.Hour), ends("soon", 5*time.Minute), ends("late", -time.Minute), kept, others, idle}
	for action, want := range map[budget.Action][]string{
		budget.Evict: {"block new GPU pods", "shorten the end of the pod ml/years"}, budget.Pause: nil,
		budget.Freeze: {"block new GPU pods"}, budget.AlertOnly: nil,
	} {
		s := situation(enforcing(action), 100*budget.Hour)
		s.Pods = pods
		p := Decide(s, nil)
		if diff := cmp.Diff(want, summaries(p)); diff != "" {
			t.Errorf("%s: %s", action, diff)
		}
		warnings := strings.Join(p.Status.Warnings.Texts(), "\n")
		if told := strings.Contains(warnings, "ml/late (due at 2026-07-15T11:59:00Z)"); told != (action == budget.Evict || action == budget.Pause) {
			t.Errorf("%s: %q", action, warnings)
		}
		if told := strings.Contains(warnings, "ml/years (due at"); told != (action == budget.Pause) {
			t.Errorf("%s: %q", action, warnings)
		}
	}
}
