package decide

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func TestNothingIsDoneBelowTheLimit(t *testing.T) {
	t.Parallel()
	for _, action := range []budget.Action{budget.AlertOnly, budget.Freeze, budget.Pause, budget.Evict} {
		s := situation(enforcing(action), 100*budget.Hour-1)
		s.Pods = []budget.Pod{pod("a", 0)}
		p := Decide(s, nil)
		if len(p.Decisions) != 0 || p.Status.ExceededSince != nil || p.Status.EnforceAt != nil || p.Status.Enforced != nil {
			t.Errorf("%s: %v, %+v", action, p.Decisions, p.Status)
		}
	}
}

func TestEachActionDoesWhatItSays(t *testing.T) {
	t.Parallel()
	tests := map[budget.Action][]budget.Kind{
		budget.AlertOnly: nil, budget.Freeze: {budget.KindFreeze}, budget.Pause: {budget.KindPause}, budget.Evict: {budget.KindFreeze, budget.KindEvict},
	}
	for action, want := range tests {
		s := situation(enforcing(action), 100*budget.Hour)
		s.Pods = []budget.Pod{pod("a", 0)}
		p := Decide(s, nil)
		if diff := cmp.Diff(want, kinds(p)); diff != "" {
			t.Errorf("%s: %s", action, diff)
		}
		for _, d := range p.Decisions {
			if d.Object != "budget/team-a" || len(d.Reasons) == 0 || !strings.Contains(d.String(), "100.000 of 100.000 GPU-hours are used (100%) since "+
				"2026-07-15T11:00:00Z; the grace period of 10m ended at 2026-07-15T11:15:00Z") {
				t.Errorf("%s: %s", action, d)
			}
		}
	}
}

// TestGraceRunsFromTheLatestOfThree: the crossing, the publication, and the
// first run that reported.
func TestGraceRunsFromTheLatestOfThree(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                              string
		since, published, reported        time.Duration // ago
		acts                              bool
		unreported, restarted, published0 bool
	}{
		{name: "all long ago", since: time.Hour, published: 900 * time.Hour, reported: time.Hour, acts: true},
		{name: "to the moment", since: time.Hour, published: 900 * time.Hour, reported: 10 * time.Minute, acts: true},
		{name: "crossed lately", since: 9 * time.Minute, published: 900 * time.Hour, reported: 9 * time.Minute},
		{name: "crossed again lately", since: 9 * time.Minute, published: 900 * time.Hour, reported: time.Hour},
		{name: "published lately", since: time.Hour, published: 9 * time.Minute, reported: time.Hour},
		{name: "reported lately", since: time.Hour, published: 900 * time.Hour, reported: 9 * time.Minute},
		{name: "never reported", since: time.Hour, published: 900 * time.Hour, unreported: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := situation(enforcing(budget.Evict), 101*budget.Hour)
			s.Pods = []budget.Pod{pod("a", 0)}
			since, reported := noon.Add(-test.since), noon.Add(-test.reported)
			s.Result.ExceededSince, s.Declaration.PublishedAt = &since, noon.Add(-test.published)
			s.Previous.ReportedAt = &reported
			s.Previous.At = noon
			if test.unreported {
				s.Previous.ReportedAt = nil
			}
			p := Decide(s, nil)
			if acts := len(evicted(p)) > 0; acts != test.acts {
				t.Errorf("%v, from %s", p.Decisions, p.Status.EnforceAt)
			}
		})
	}
}

// TestLoweringALimitEvictsNobodyAtOnce, nor does a new crossing that an old
// report would cover.
func TestLoweringALimitEvictsNobodyAtOnce(t *testing.T) {
	t.Parallel()
	d := enforcing(budget.Evict)
	d.GPUHours, d.Generation, d.PublishedAt = "10", 2, noon.Add(-time.Minute)
	s := situation(d, 50*budget.Hour)
	s.Pods = []budget.Pod{pod("a", 0)}
	if p := Decide(s, nil); len(p.Decisions) != 0 || !p.Status.EnforceAt.Equal(noon.Add(9*time.Minute)) {
		t.Errorf("%v at %s", p.Decisions, p.Status.EnforceAt)
	}
	s = situation(enforcing(budget.Evict), 100*budget.Hour)
	since := noon.Add(-time.Minute) // after the last run: usage fell in between
	s.Result.ExceededSince = &since
	s.Pods = []budget.Pod{pod("a", 0)}
	if p := Decide(s, nil); len(p.Decisions) != 0 || !p.Status.ReportedAt.Equal(noon) {
		t.Errorf("%v, reported at %s", p.Decisions, p.Status.ReportedAt)
	}
}

func TestNoGraceActsInTheRunThatFindsIt(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Evict), 100*budget.Hour)
	s.Declaration.Enforce.GracePeriod, s.Previous, s.Pods = "0s", nil, []budget.Pod{pod("a", 0)}
	if diff := cmp.Diff([]string{"a"}, evicted(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
}

// TestAStatusOfAnotherBudgetCountsForNothing: the name was given to a new one.
func TestAStatusOfAnotherBudgetCountsForNothing(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Evict), 100*budget.Hour)
	s.Previous.UID, s.Pods = "uid-of-old", []budget.Pod{pod("a", 0)}
	p := Decide(s, nil)
	if diff := cmp.Diff([]budget.Kind{budget.KindAlert}, kinds(p)); diff != "" || !cmp.Equal(thresholds(p), []int{50, 80, 100}) {
		t.Errorf("%s, of %v", diff, thresholds(p))
	}
}

func TestNothingDestructiveIsDoneOnEstimatesAloneAfterALongGap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		estimated int64
		gap       time.Duration
		lost      []string
		ends      bool // are lost
		acts      bool
	}{
		{name: "all is certain", acts: true},
		{name: "certain in spite of a gap", estimated: 20 * budget.Hour, gap: time.Hour, acts: true},
		{name: "estimated after a short gap", estimated: 21 * budget.Hour, gap: 15 * time.Minute, acts: true},
		{name: "estimated after a long gap", estimated: 21 * budget.Hour, gap: 16 * time.Minute},
		{name: "a shard is lost", lost: []string{"closed-2026-07-15: truncated"}, acts: true},
		{name: "certain in spite of a loss", estimated: 20 * budget.Hour, lost: []string{"closed-2026-07-15: truncated"}, acts: true},
		{name: "estimated, and a shard is lost", estimated: 21 * budget.Hour, lost: []string{"closed-2026-07-15: truncated"}},
		{name: "when pods ended is lost", lost: []string{"closed-2026-07-15: truncated", "recent: missing"}, ends: true},
	}
	for _, test := range tests {
		for action, gentle := range map[budget.Action][]budget.Kind{budget.Pause: nil, budget.Evict: {budget.KindFreeze}} {
			s := situation(enforcing(action), 120*budget.Hour)
			s.Pods = []budget.Pod{pod("a", 0)}
			s.Result.Usage.Estimated, s.Result.LongestGap, s.Result.Lost = test.estimated, test.gap, test.lost
			s.Result.EndsLost = test.ends
			p := Decide(s, nil)
			destructive := len(p.Decisions) > len(gentle)
			if destructive != test.acts {
				t.Errorf("%s, %s: %v", test.name, action, p.Decisions)
			}
			if certain := test.estimated <= 20*budget.Hour && !test.ends; p.Status.Certain != certain {
				t.Errorf("%s, %s: the excess is certain: %t", test.name, action, p.Status.Certain)
			}
			if warned := strings.Contains(strings.Join(p.Status.Warnings.Texts(), "\n"), "nothing is "+action.Past()); warned == test.acts ||
				p.Status.Withheld.IsZero() != test.acts {
				t.Errorf("%s, %s: %q, withheld: %q", test.name, action, p.Status.Warnings, p.Status.Withheld)
			}
		}
	}
}

func TestWhatIsInForceIsUndone(t *testing.T) {
	t.Parallel()
	mine := Paused{
		Workload:  budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "mine", UID: "uid-of-mine"}},
		BudgetUID: "uid-a",
	}
	other := Paused{
		Workload:  budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "other", UID: "uid-of-other"}},
		BudgetUID: "uid-b",
	}
	tests := []struct {
		name     string
		action   budget.Action
		consumed int64
		want     []budget.Kind
		enforced []budget.Action
	}{
		{"usage fell", budget.Evict, 99 * budget.Hour, []budget.Kind{budget.KindUnfreeze, budget.KindResume}, nil},
		{"usage fell, and alerts alone are declared", budget.AlertOnly, 99 * budget.Hour, []budget.Kind{budget.KindUnfreeze, budget.KindResume}, nil},
		{"alerts alone are declared", budget.AlertOnly, 101 * budget.Hour, []budget.Kind{budget.KindUnfreeze, budget.KindResume}, nil},
		{"freeze in place of pause", budget.Freeze, 101 * budget.Hour, []budget.Kind{budget.KindResume}, []budget.Action{budget.Freeze}},
		{"pause in place of evict", budget.Pause, 101 * budget.Hour, []budget.Kind{budget.KindUnfreeze}, []budget.Action{budget.Pause}},
		{"evict in place of pause", budget.Evict, 101 * budget.Hour, nil, []budget.Action{budget.Freeze, budget.Pause}},
	}
	for _, test := range tests {
		s := situation(enforcing(test.action), test.consumed)
		s.Frozen, s.Paused = true, []Paused{other, mine}
		p := Decide(s, nil)
		if diff := cmp.Diff(test.want, kinds(p)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		if diff := cmp.Diff(test.enforced, p.Status.Enforced); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		if of := p.Status.Paused; len(of) != 1 || of[0].Name != "mine" {
			t.Errorf("%s: the status lists as paused %v", test.name, of)
		}
		for _, d := range p.Decisions {
			if d.Owner != nil && d.Owner.Name != "mine" {
				t.Errorf("%s: resumes what another budget paused: %s", test.name, d)
			}
		}
	}
}

// TestMeasuresStayInForceDuringANewGracePeriod lowers the limit: the grace period starts again, and measures
// in force stay.
func TestMeasuresStayInForceDuringANewGracePeriod(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Evict), 101*budget.Hour)
	s.Declaration.PublishedAt, s.Frozen, s.Pods = noon, true, []budget.Pod{pod("a", 0)}
	if p := Decide(s, nil); len(p.Decisions) != 0 || !cmp.Equal(p.Status.Enforced, []budget.Action{budget.Freeze}) {
		t.Errorf("%v, %v", p.Decisions, p.Status.Enforced)
	}
}

func TestAFreezeFollowsItsDeclaration(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Freeze), 101*budget.Hour)
	s.Frozen = true
	if p := Decide(s, nil); len(p.Decisions) != 0 || !p.EnsureFreeze {
		t.Errorf("frozen twice: %v, upheld %t", p.Decisions, p.EnsureFreeze)
	}
	s.FreezeOutdated = true // though a run since the change has written a status
	if p := Decide(s, nil); !cmp.Equal(kinds(p), []budget.Kind{budget.KindFreeze}) || p.EnsureFreeze {
		t.Errorf("%v, upheld %t", p.Decisions, p.EnsureFreeze)
	}
	s.Declaration.PublishedAt = noon
	if p := Decide(s, nil); len(p.Decisions) != 0 || p.EnsureFreeze {
		t.Errorf("within a new grace: %v, upheld %t", p.Decisions, p.EnsureFreeze)
	}
}

// TestOnlyWhatHadAnEffectIsRecorded: a threshold whose alert failed fires again,
// and a freeze that failed is not in force.
func TestOnlyWhatHadAnEffectIsRecorded(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Evict), 101*budget.Hour)
	s.Previous.Fired, s.Pods = []int{50}, []budget.Pod{pod("a", 0)}
	p := Decide(s, nil)
	if diff := cmp.Diff([]budget.Kind{budget.KindAlert, budget.KindFreeze, budget.KindEvict}, kinds(p)); diff != "" {
		t.Fatal(diff)
	}
	if !cmp.Equal(p.Status.Fired, []int{50, 80, 100}) || !cmp.Equal(p.Status.Enforced, []budget.Action{budget.Evict}) ||
		budget.CountEffects(p.Status.Effects, budget.Freeze, budget.Requested) != 1 {
		t.Errorf("%+v", p.Status)
	}
	for done, fired := range map[int][]int{0: {50}, 1: {50, 80, 100}} {
		if settled := p.Settle(p.Decisions[:done]); !cmp.Equal(settled.Fired, fired) || settled.Enforced != nil {
			t.Errorf("%+v", settled)
		}
	}
	s.Frozen, s.Declaration.Enforce.Action = true, budget.AlertOnly
	if settled := Decide(s, nil).Settle(nil); !cmp.Equal(settled.Enforced, []budget.Action{budget.Freeze}) {
		t.Errorf("%+v", settled)
	}
}

// TestDoubtsAreTold: whatever is enforced, a status says what makes it uncertain.
func TestDoubtsAreTold(t *testing.T) {
	t.Parallel()
	s := situation(teamA(), budget.Hour)
	s.Result.Lost, s.Result.Unbounded = []string{"closed-2026-07-15: truncated"}, true
	warnings := strings.Join(Decide(s, nil).Status.Warnings.Texts(), "\n")
	for _, want := range []string{"part of the ledger is lost, so usage may be higher: closed-2026-07-15: truncated",
		"usage in an observation gap has no known bound"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("%q lacks %q", warnings, want)
		}
	}
}

func TestOverlapsAreToldWhereSomethingIsEnforced(t *testing.T) {
	t.Parallel()
	for action, told := range map[budget.Action]bool{budget.AlertOnly: false, budget.Evict: true} {
		s := situation(enforcing(action), budget.Hour)
		s.Result.Overlaps = []string{"ml", "web"}
		if got := strings.Contains(strings.Join(Decide(s, nil).Status.Warnings.Texts(), "\n"), "count for budget/ml, budget/web, too"); got != told {
			t.Errorf("%s: %t", action, got)
		}
	}
}
