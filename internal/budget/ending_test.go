package budget

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestPodsGetNoMoreTimeThanTheBudgetLetsThem: a grace of zero would delete by force.
func TestPodsGetNoMoreTimeThanTheBudgetLetsThem(t *testing.T) {
	t.Parallel()
	for asked, want := range map[int64]int64{0: 1, 1: 1, 30: 30, 300: 300, 301: 300, 315360000: 300, -5: 1} {
		if got := (Enforcement{}).GraceOf(asked); got != want {
			t.Errorf("of %d s it gets %d, want %d", asked, got, want)
		}
	}
	if got := (Enforcement{MaxGracePeriod: "1s"}).GraceOf(30); got != 1 {
		t.Errorf("of a second it gets %d", got)
	}
}

// TestWhatEndsTooSlowlyIsHurried: whoever deleted it, a pod that ends in years holds
// its GPUs until then. One that outlasts its time is told of in each run.
func TestWhatEndsTooSlowlyIsHurried(t *testing.T) {
	t.Parallel()
	ends := func(name string, in time.Duration) Pod {
		p := pod(name, 0)
		p.Deletion = ledger.TimeOf(noon.Add(in))
		return p
	}
	kept, others, idle := ends("kept", time.Hour), ends("others", time.Hour), ends("idle", time.Hour)
	kept.Annotations = map[string]string{ProtectedKey: "true"}
	others.Set, idle.MilliGPUs = set("ml", "team", "b"), 0
	pods := []Pod{ends("years", 87600*time.Hour), ends("soon", 5*time.Minute), ends("late", -time.Minute), kept, others, idle}
	for action, want := range map[Action][]string{
		Evict: {"freeze: no new GPU pods", "shorten the end of the pod ml/years"}, Pause: nil, Freeze: {"freeze: no new GPU pods"}, AlertOnly: nil,
	} {
		s := situation(enforcing(action), 100*Hour)
		s.Pods = pods
		p := Decide(s, nil)
		if diff := cmp.Diff(want, summaries(p)); diff != "" {
			t.Errorf("%s: %s", action, diff)
		}
		warnings := strings.Join(p.Status.Warnings, "\n")
		if told := strings.Contains(warnings, "ml/late (was to end at 2026-07-15T11:59:00Z)"); told != (action == Evict || action == Pause) {
			t.Errorf("%s: %q", action, warnings)
		}
		if told := strings.Contains(warnings, "ml/years (is to end at"); told != (action == Pause) {
			t.Errorf("%s: %q", action, warnings)
		}
	}
}
