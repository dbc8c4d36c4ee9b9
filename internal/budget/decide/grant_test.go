package decide

import (
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
)

// TestTheEndOfAGrantBeginsTheGraceAnew enforces no sooner than a grace period after the
// limit fell.
func TestTheEndOfAGrantBeginsTheGraceAnew(t *testing.T) {
	t.Parallel()
	d := enforcing(budget.Freeze)
	s := situation(d, 120*budget.Hour)
	if plan := Decide(s, nil); !slices.Contains(kinds(plan), budget.KindFreeze) {
		t.Fatalf("without a grant: %v", plan.Decisions)
	}
	s.Grants = budget.Grants{List: []budget.Grant{{
		Exception: exception.Exception{ID: "a", From: noon.Add(-2 * time.Hour), Until: noon.Add(-time.Minute), Who: "ann", Why: "night"}, GPUHours: "10",
	}}}
	plan := Decide(s, nil)
	if len(plan.Decisions) > 0 || !plan.Status.EnforceAt.Equal(noon.Add(9*time.Minute)) {
		t.Errorf("a minute after its end: %v, at %s", plan.Decisions, plan.Status.EnforceAt)
	}
	s.Now = noon.Add(9 * time.Minute)
	if plan := Decide(s, nil); !slices.Contains(kinds(plan), budget.KindFreeze) {
		t.Errorf("once the grace is over: %v", plan.Decisions)
	}
	s.Grants = budget.Grants{EndedAt: noon.Add(8 * time.Minute)} // dropped by a later one
	if plan := Decide(s, nil); len(plan.Decisions) > 0 {
		t.Errorf("a minute after the end of one that is dropped: %v", plan.Decisions)
	}
}
