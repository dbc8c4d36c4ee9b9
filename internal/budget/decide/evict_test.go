package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

func TestVictimsGoInTheOrderThatIsDeclared(t *testing.T) {
	t.Parallel()
	young, old, spot, big, important := pod("young", 0), pod("old", 0), pod("spot", 5), pod("big", 3), pod("important", 9)
	young.Scheduled.At, old.Scheduled.At, spot.Scheduled.At, big.Scheduled.At, important.Scheduled.At = ago(time.Minute), ago(5*time.Hour), ago(2*time.Hour),
		ago(time.Hour), ago(3*time.Hour)
	spot.Spot, big.MilliGPUs = true, 8000
	tests := map[budget.EvictionOrder][]string{
		budget.LowestPriority: {"young", "old", "big", "spot", "important"},
		budget.NewestStart:    {"young", "big", "spot", "important", "old"},
		budget.SpotFirst:      {"spot", "young", "old", "big", "important"},
		budget.LargestUsage:   {"big", "old", "important", "spot", "young"},
	}
	for order, want := range tests {
		s := situation(enforcing(budget.Evict), 100*budget.Hour)
		s.Declaration.Enforce.EvictionOrder = order
		s.Pods = []budget.Pod{important, big, spot, old, young}
		p := Decide(s, nil)
		if diff := cmp.Diff(want, evicted(p)); diff != "" {
			t.Errorf("%s: %s", order, diff)
		}
		if last := p.Decisions[len(p.Decisions)-1].String(); !strings.Contains(last, "number 5 of 5 by "+string(order)) {
			t.Error(last)
		}
		for _, d := range p.Decisions {
			if d.Kind == budget.KindEvict && strings.Contains(d.String(), "holds 1 GPU since") == (d.Pod.Name == "big") {
				t.Error(d)
			}
		}
	}
}

func TestTiesAreBrokenByName(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Evict), 100*budget.Hour)
	s.Pods = []budget.Pod{pod("c", 0), pod("a", 0), pod("b", 0)}
	if diff := cmp.Diff([]string{"a", "b", "c"}, evicted(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
}

// TestLargestUsageIsThatOfTheWindow: what a pod used before it counts no more.
func TestLargestUsageIsThatOfTheWindow(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Evict), 100*budget.Hour)
	s.Declaration.Enforce.EvictionOrder = budget.LargestUsage
	ancient, wide := pod("ancient", 0), pod("wide", 0)
	ancient.Scheduled.At, wide.Scheduled.At, wide.MilliGPUs = ago(1000*time.Hour), ago(20*time.Hour), 2000
	s.Pods = []budget.Pod{ancient, wide}
	if diff := cmp.Diff([]string{"wide", "ancient"}, evicted(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
}

// TestVictimsAreNeverFinished: a pod that ended holds nothing, and its eviction
// would free nothing; so it is with one that is on its way out already.
func TestVictimsAreNeverFinished(t *testing.T) {
	t.Parallel()
	finished, deleting, mirror, idle, running := pod("finished", -9), pod("deleting", -9), pod("mirror", -9), pod("idle", -9), pod("running", 0)
	finished.End, deleting.Deletion, mirror.Mirror, idle.MilliGPUs = ledger.ExactEnd(ago(time.Minute), ledger.ContainerFinished), ago(time.Minute), true, 0
	s := situation(enforcing(budget.Evict), 100*budget.Hour)
	s.Pods = []budget.Pod{finished, deleting, mirror, idle, running}
	if diff := cmp.Diff([]string{"running"}, evicted(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
}

// TestABlockedVictimDoesNotHoldUpTheOthers: those that a disruption budget
// protects are passed over, and count for nothing.
func TestABlockedVictimDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Evict), 100*budget.Hour)
	s.Declaration.Enforce.MaxEvictionsPerRun = 2
	s.Pods = []budget.Pod{pod("a", 0), pod("b", 0), pod("c", 0), pod("d", 0)}
	p := Decide(s, nil)
	if diff := cmp.Diff([]string{"a", "b"}, evicted(p)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"c", "d"}, names(p.Reserves)); diff != "" {
		t.Error(diff)
	}
	if settled := p.Settle(p.Reserves[:1]); !cmp.Equal(settled.Enforced, []budget.Action{budget.Evict}) {
		t.Errorf("%+v", settled)
	}
	if settled := p.Settle(nil); settled.Enforced != nil {
		t.Errorf("%+v", settled)
	}
}

// TestAnEvictionThatFailsAJobSaysSo: of the pods of one Job, those after the failures that it survives.
func TestAnEvictionThatFailsAJobSaysSo(t *testing.T) {
	t.Parallel()
	of := func(name, job string, left int, tolerates bool) budget.Pod {
		p := owned(pod(name, 0), "batch/v1", "Job", job)
		p.Of.FailuresLeft, p.Of.ToleratesDisruption = left, tolerates
		return p
	}
	const fails = "it fails its Job ml/%s for good: no podFailurePolicy ignores DisruptionTarget, and the Job survives no further failure"
	for _, pauses := range []bool{false, true} {
		s := situation(enforcing(budget.Evict), 100*budget.Hour)
		if pauses {
			s.Declaration.Enforce.Action, s.Declaration.Enforce.OnIneffective, s.Owned = budget.Pause, budget.FallbackEvict, true
		}
		s.Declaration.Enforce.MaxEvictionsPerRun = 5
		s.Pods = []budget.Pod{
			of("last", "strict", 0, false), of("a", "patient", 1, false), of("b", "patient", 1, false), of("ignored", "tolerant", 0, true), pod("web", 0),
		}
		for n := range s.Pods {
			s.Pods[n].Of.Obstacle = reason.QueuedByKueue("gpus")
		}
		var said []string
		for _, d := range Decide(s, nil).Decisions {
			for _, job := range []string{"strict", "patient", "tolerant"} {
				if slices.Contains(d.Reasons.Texts(), fmt.Sprintf(fails, job)) {
					said = append(said, d.Pod.Name)
				}
			}
		}
		if slices.Sort(said); !slices.Equal(said, []string{"b", "last"}) {
			t.Errorf("pauses first: %t: it is said of %v", pauses, said)
		}
	}
}
