package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

func held(from time.Time, length time.Duration) spotpool.Hold {
	return spotpool.Hold{Exception: exception.Exception{ID: "h", From: from, Until: from.Add(length), Who: "ann", Why: "looking at nodes"}}
}

// TestAHoldLeavesEverythingAsItIs decides nothing in any situation, forgets no launch,
// counts as without it, and says why.
func TestAHoldLeavesEverythingAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := situations().Draw(t, "situation")
		free := decide.Decide(s)
		hold := held(noon, time.Hour)
		s.Hold = &hold
		p := decide.Decide(s)
		if len(p.Decisions) > 0 {
			t.Fatalf("decided %v", p.Decisions)
		}
		if diff := cmp.Diff(free.Journal.Pending, p.Journal.Pending); diff != "" {
			t.Fatalf("launches (-free +held)\n%s", diff)
		}
		if diff := cmp.Diff(free.Counts, p.Counts); diff != "" {
			t.Fatalf("counts (-free +held)\n%s", diff)
		}
		if told := strings.Join(append(p.Short.Texts(), p.Warnings.Texts()...), "\n"); !strings.Contains(told,
			"on hold by ann until 2026-03-01T13:00:00Z: looking at nodes") {
			t.Fatalf("told %q", told)
		}
		if !p.Journal.ShortSince.IsZero() {
			t.Fatal("the time on hold counts towards on_demand_fallback")
		}
	})
}

// TestAHoldSaysHowManyAreAboveMaximum counts only instances that are there.
func TestAHoldSaysHowManyAreAboveMaximum(t *testing.T) {
	t.Parallel()
	hold := held(noon, time.Hour)
	reason := hold.Reason(pool()).String()
	one, two, three := instance("ins-1"), instance("ins-2"), instance("ins-3")
	for name, c := range map[string]struct {
		situation decide.Situation
		want      string
	}{
		"one above":                  {seen(pool(size(1, 2)), one, two, three), "1 instance above maximum 2: " + reason},
		"two above":                  {seen(pool(size(0, 1)), one, two, three), "2 instances above maximum 1: " + reason},
		"none above":                 {seen(pool(size(1, 3)), one, two, three), reason},
		"none, and a launch is open": {opened(seen(pool(size(1, 3)), one), 2), reason},
	} {
		c.situation.Hold = &hold
		if diff := cmp.Diff([]string{c.want}, decide.Decide(c.situation).Warnings.Texts()); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", name, diff)
		}
	}
}

// TestLastEndingHoldCounts has holds end one by one, by themselves or released.
func TestLastEndingHoldCounts(t *testing.T) {
	t.Parallel()
	var h spotpool.Holds
	for _, length := range []time.Duration{2 * time.Hour, time.Hour} {
		var err error
		if h, err = h.Add(pool(), held(noon, length), noon); err != nil {
			t.Fatal(err)
		}
	}
	if at := h.At(noon.Add(time.Minute)); at == nil || !at.Until.Equal(noon.Add(2*time.Hour)) {
		t.Errorf("in force: %v", at)
	}
	if h.At(noon.Add(2*time.Hour)) != nil {
		t.Error("it goes on after its end")
	}
	h, released := h.Release(pool(), exception.Release{At: noon.Add(time.Minute), Who: "bob"})
	if len(released) != 2 || h.At(noon.Add(time.Minute)) != nil {
		t.Errorf("released %v, and %v goes on", released, h.At(noon.Add(time.Minute)))
	}
	if events := h.Events(pool(), noon.Add(time.Minute)); len(events) != 4 {
		t.Errorf("told %v", events)
	}
	h, err := h.Add(pool(), held(noon.Add(time.Hour), time.Hour), noon.Add(time.Hour))
	if err != nil || len(h.List) != 1 {
		t.Errorf("what ended is not dropped: %v (%v)", h, err)
	}
	told := h.WithoutReported(pool(), noon.Add(2*time.Hour), func(history.Event) bool { return true })
	if events := h.Events(pool(), noon.Add(2*time.Hour)); len(events) != 6 || len(told.List)+len(told.Unreported) > 0 {
		t.Errorf("told %v, and %v is left", events, told)
	}
}

// TestNodesAreMarkedWhateverIsDecided: also of a pool that is on hold, or that its budget
// empties.
func TestNodesAreMarkedWhateverIsDecided(t *testing.T) {
	t.Parallel()
	drains := func(d *spotpool.Declaration) {
		d.Budget, d.OnBudgetExceeded, d.BudgetGracePeriod = "team-a", spotpool.ExceededDrain, spotpool.Duration(time.Minute)
	}
	s := inCluster(seen(pool(withNodes, drains), instance("ins-1"), instance("ins-2")), nodeOf("ins-1"), nodeOf("ins-2", func(n *node.Node) { n.Pool = uid }))
	hold := held(noon, time.Hour)
	onHold, emptied := s, s
	onHold.Hold = &hold
	emptied.Gate = usedUp
	emptied.Journal.Exceeded = journal.Exceeded{Budget: "team-a", Since: ago(time.Hour)}
	for name, s := range map[string]decide.Situation{"as usual": s, "on hold": onHold, "emptied": emptied} {
		p := decide.Decide(s)
		if len(p.Unmarked) != 1 || p.Unmarked[0].Name != "node-ins-1" {
			t.Errorf("%s: to be marked are %+v", name, p.Unmarked)
		}
		if name == "emptied" && p.Wanted == nil {
			t.Errorf("%s: its budget does not empty it", name)
		}
		if len(p.Marked) > 0 {
			t.Errorf("%s: to lose their marks are %+v", name, p.Marked)
		}
	}
}

// TestAPoolThatNoLongerHasNodesRemovesItsMarks: only its own.
func TestAPoolThatNoLongerHasNodesRemovesItsMarks(t *testing.T) {
	t.Parallel()
	s := inCluster(seen(pool(size(3, 4), withNodes), instance("ins-1"), instance("ins-2"), instance("ins-3")), nodeOf("ins-1"),
		nodeOf("ins-2", func(n *node.Node) { n.Pool = uid }), nodeOf("ins-3", func(n *node.Node) { n.Pool = "ffff" }))
	s.Declaration.Nodes = nil
	if p := decide.Decide(s); len(p.Marked) != 1 || p.Marked[0].Name != "node-ins-2" || len(p.Unmarked) > 0 || len(p.Warnings) > 0 {
		t.Errorf("to lose their marks are %+v, to be marked %+v, and warnings are %q", p.Marked, p.Unmarked, p.Warnings.Texts())
	}
}
