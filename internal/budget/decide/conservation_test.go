package decide

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestEvictionErasesNothing: the pod is gone, its interval stays, and the budget
// stays exceeded, frozen, and without a pod to evict.
func TestEvictionErasesNothing(t *testing.T) {
	t.Parallel()
	d := enforcing(budget.Evict)
	running := record("pod", "8", ago(13*time.Hour), 0)
	before := judged(t, d, observed(), noon, running)
	s := situation(d, 100*budget.Hour)
	s.Result, s.Pods = before, []budget.Pod{pod("pod", 0)}
	plan := Decide(s, nil)
	if len(evicted(plan)) != 1 {
		t.Fatalf("%v", plan.Decisions)
	}

	gone := *running
	gone.End = ledger.ExactEnd(ms(noon.Add(30*time.Second)), ledger.ContainerFinished)
	later := noon.Add(5 * time.Minute)
	after := judged(t, d, observed(), later, &gone)
	if after.Usage.Consumed < before.Usage.Consumed || !after.Usage.Exceeded() || after.Usage.ActivePods != 0 {
		t.Errorf("%+v", after.Usage)
	}
	s.Result, s.Pods, s.Previous, s.Now, s.Frozen = after, nil, &plan.Status, later, true
	next := Decide(s, nil)
	if len(next.Decisions) != 0 || !cmp.Equal(next.Status.Enforced, []budget.Action{budget.Freeze}) {
		t.Errorf("%v, %v", next.Decisions, next.Status.Enforced)
	}
}
