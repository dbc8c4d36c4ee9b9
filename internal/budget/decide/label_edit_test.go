package decide

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestLabelEditsMoveNoEnforcement: an edit of its labels hands a pod over to no other
// budget's enforcement, and the budget that is charged still finds it.
func TestLabelEditsMoveNoEnforcement(t *testing.T) {
	t.Parallel()
	other := teamA()
	other.Name, other.UID, other.Selector = "team-b", "uid-b", budget.Selector{MatchLabels: map[string]string{"team": "b"}}
	other.Enforce.Action, other.Enforce.GracePeriod, other.GPUHours = budget.Evict, "0s", "0.001"
	moved := pod("pod", 0)
	moved.Charged, moved.Set = set("ml", "team", "a"), set("ml", "team", "b")
	s := situation(other, 2*budget.Hour)
	s.Pods = []budget.Pod{moved}
	if p := Decide(s, nil); len(evicted(p)) != 0 {
		t.Errorf("%v", p.Decisions)
	}
	s = situation(enforcing(budget.Evict), 200*budget.Hour)
	s.Pods = []budget.Pod{moved}
	if p := Decide(s, nil); len(evicted(p)) != 1 {
		t.Errorf("%v", p.Decisions)
	}
}

// TestPodsOfANamespaceThatLostItsLabelStay, as its new pods are admitted. Their usage still counts.
func TestPodsOfANamespaceThatLostItsLabelStay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		labels map[string]string
		evicts int
	}{
		"labeled":   {map[string]string{"team": "a", "env": "test"}, 1},
		"unlabeled": {map[string]string{"env": "test"}, 0},
	} {
		d := enforcing(budget.Evict)
		d.Selector = budget.Selector{NamespaceLabels: map[string]string{"team": "a"}}
		p := pod("pod", 0)
		charged, now := *set("ml", "app", "train"), *set("ml", "app", "other")
		charged.NamespaceLabels, now.NamespaceLabels = ledger.LabelsOf(map[string]string{"team": "a"}), ledger.LabelsOf(tt.labels)
		p.Charged, p.Set = &charged, &now
		s := situation(d, 200*budget.Hour)
		s.Pods = []budget.Pod{p}
		if plan := Decide(s, nil); len(evicted(plan)) != tt.evicts {
			t.Errorf("%s: %v", name, plan.Decisions)
		}
	}
}
