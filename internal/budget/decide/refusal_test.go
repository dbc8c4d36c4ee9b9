package decide

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// ineffective lists the ineffective effects of a status.
func ineffective(p Plan) []string {
	var list []string
	for _, e := range p.Status.Effects {
		if e.Phase == budget.Ineffective {
			list = append(list, e.String())
		}
	}
	return list
}

// scaledFromZero is a pod of a workload that an autoscaler would start again.
func scaledFromZero(name string) budget.Pod {
	p := owned(pod(name+"-1", 0), "apps/v1", "Deployment", name)
	p.Of.Obstacle = reason.ScaledFromZero("auto")
	return p
}

// next is the situation of the run after a plan, whose events the history has.
func next(s Situation, p Plan, done ...budget.Decision) Situation {
	status := p.Settle(done)
	status.Unreported = nil
	s.Previous, s.Now = &status, s.Now.Add(5*time.Minute)
	return s
}

// TestWhatAPauseDoesNotReachIsIneffectiveAtOnce with its reason: in the status, in one event, and as a failure,
// until it is gone.
func TestWhatAPauseDoesNotReachIsIneffectiveAtOnce(t *testing.T) {
	t.Parallel()
	bare := pod("bare", 0)
	bare.Owner, bare.Of = nil, budget.Ownership{}
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Owned, s.Pods = true, []budget.Pod{scaledFromZero("web"), bare, owned(pod("train-0", 0), "apps/v1", "StatefulSet", "train")}
	p := Decide(s, nil)
	want := []string{
		"Deployment ml/web: the HorizontalPodAutoscaler auto scales it from zero, and would undo it; 1 pod holds GPUs (ml/web-1)",
		"Pod ml/bare: it has no owner",
	}
	if diff := cmp.Diff(want, ineffective(p)); diff != "" {
		t.Error(diff)
	}
	if got := summaries(p); !slices.Equal(got, []string{"pause StatefulSet ml/train"}) {
		t.Errorf("decided %v", got)
	}
	events := kindsOf(p.Settle(nil).Unreported)
	if !slices.Equal(events, []string{"paused ineffective", "paused ineffective"}) || len(p.Turned) != 2 || p.Turned[0].About.Name != "web" {
		t.Errorf("reported are %v, and turned %+v", events, p.Turned)
	}
	message := (&budget.IneffectiveError{Effects: p.LeftIneffective(p.Decisions)}).Error()
	if message != "2 objects cannot be paused: Pod ml/bare (it has no owner), "+
		"Deployment ml/web (the HorizontalPodAutoscaler auto scales it from zero, and would undo it). "+
		`Stop the owners that replace deleted pods, and delete the other pods, those that are terminating with a shorter --grace-period. Or set enforcement.on_ineffective = "evict"` {
		t.Errorf("it fails with %s", message)
	}

	p.Ineffective = slices.DeleteFunc(p.Ineffective, func(e budget.Effect) bool { return e.Reason.Code != reason.NoOwner().Code })
	message = (&budget.IneffectiveError{Effects: p.LeftIneffective(p.Decisions)}).Error()
	if message != `1 object cannot be paused: Pod ml/bare (it has no owner). Delete these pods, those that are terminating with a shorter --grace-period. Or set enforcement.on_ineffective = "evict"` {
		t.Errorf("without owners, it fails with %s", message)
	}

	s = next(s, p, p.Decisions...)
	s.Paused, s.Pods = []Paused{{Workload: s.Pods[2].Of.Workload, BudgetUID: "uid-a"}}, s.Pods[:2]
	again := Decide(s, nil)
	if diff := cmp.Diff(want, ineffective(again)); diff != "" || len(again.Turned) > 0 ||
		!slices.Equal(kindsOf(again.Status.Unreported), []string{"paused done"}) {
		t.Errorf("in the next run: %s%v, %v", diff, again.Turned, kindsOf(again.Status.Unreported))
	}
	if again.Status.Enforced != nil || !again.Status.Effects[0].Since.Equal(noon) {
		t.Errorf("%v is enforced, and the effects are %v", again.Status.Enforced, again.Status.Effects)
	}
	unseen := s
	unseen.Owned, unseen.Pods = false, nil
	if diff := cmp.Diff(want, ineffective(Decide(unseen, nil))); diff != "" {
		t.Errorf("unobserved: %s", diff)
	}
	gone := s
	gone.Pods = nil
	if p := Decide(gone, nil); ineffective(p) != nil || !slices.Equal(p.Status.Enforced, []budget.Action{budget.Pause}) || len(p.Status.Unreported) != 1 {
		t.Errorf("once they are gone: %v, enforced %v, reported %v", ineffective(p), p.Status.Enforced, kindsOf(p.Status.Unreported))
	}
	below := s
	below.Result.Usage.Consumed, below.Result.ExceededSince = 99*budget.Hour, nil
	if p := Decide(below, nil); ineffective(p) != nil {
		t.Errorf("below the limit: %v", ineffective(p))
	}
}

// TestEvictionsReachWhatAPauseDoesNot if the declaration says so; not while owners are unknown.
func TestEvictionsReachWhatAPauseDoesNot(t *testing.T) {
	t.Parallel()
	bare, starts := pod("bare", 0), waits(pod("starts", 0))
	bare.Owner, bare.Of = nil, budget.Ownership{}
	starts.Owner, starts.Of = nil, budget.Ownership{}
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Declaration.Enforce.OnIneffective = budget.FallbackEvict
	s.Owned, s.Pods = true, []budget.Pod{bare, starts, scaledFromZero("web"), owned(pod("train-0", 0), "apps/v1", "StatefulSet", "train")}
	p := Decide(s, nil)
	want := []string{"pause StatefulSet ml/train", "block new GPU pods", "evict the pod ml/starts", "evict the pod ml/bare", "evict the pod ml/web-1"}
	if diff := cmp.Diff(want, summaries(p)); diff != "" || len(p.LeftIneffective(nil)) > 0 {
		t.Errorf("%s; left is %v", diff, p.LeftIneffective(nil))
	}
	d := p.Decisions[len(p.Decisions)-1]
	if d.Reasons[len(d.Reasons)-1].String() != "it cannot be paused: the HorizontalPodAutoscaler auto scales it from zero, and would undo it" {
		t.Errorf("the reasons are %q", d.Reasons)
	}
	s.Owned = false
	p = Decide(s, nil)
	warned := strings.Contains(strings.Join(p.Status.Warnings.Texts(), "\n"), "ml/bare (it has no owner)")
	if len(evicted(p)) > 0 || ineffective(p) != nil || !warned {
		t.Errorf("with unknown owners, it decides %v, and warns %q", summaries(p), p.Status.Warnings)
	}
}

// TestARefusedPauseIsIneffective at once, and tried again. Evictions follow if the declaration says so.
func TestARefusedPauseIsIneffective(t *testing.T) {
	t.Parallel()
	refused := &budget.NotPausedError{Why: reason.ChangeRefused("no")}
	for _, evicts := range []bool{false, true} {
		s := situation(enforcing(budget.Pause), 100*budget.Hour)
		if evicts {
			s.Declaration.Enforce.OnIneffective = budget.FallbackEvict
		}
		s.Owned, s.Pods = true, []budget.Pod{pod("train-1", 0)}
		p := Decide(s, nil)
		p = p.Refuse(p.Decisions[0], refused)
		p = p.Refuse(p.Decisions[0], refused) // which changes nothing
		p.Status = p.Settle(nil)
		want := []string{"Deployment ml/train: the cluster refuses the change: no; 1 pod holds GPUs (ml/train-1)"}
		reported := kindsOf(p.Status.Unreported)
		if diff := cmp.Diff(want, ineffective(p)); diff != "" || len(p.Turned) != 1 || !slices.Equal(reported, []string{"paused ineffective"}) {
			t.Errorf("%s, turned %v, reported %v", diff, p.Turned, kindsOf(p.Status.Unreported))
		}
		if left := p.LeftIneffective(nil); (len(left) == 0) != evicts {
			t.Errorf("evicts %t: left is %v", evicts, left)
		}
		s = next(s, p)
		again := Decide(s, nil)
		decided := map[bool][]string{
			false: {"pause Deployment ml/train"}, true: {"pause Deployment ml/train", "block new GPU pods", "evict the pod ml/train-1"},
		}[evicts]
		if diff := cmp.Diff(decided, summaries(again)); diff != "" {
			t.Errorf("evicts %t: %s", evicts, diff)
		}
		if done := again.Settle(again.Decisions[:1]).Effects; len(done) != 1 || done[0].Phase != budget.Requested || !done[0].Reason.IsZero() ||
			len(again.LeftIneffective(again.Decisions[:1])) > 0 {
			t.Errorf("once it was accepted, the effects are %+v", done)
		}
		again = again.Refuse(again.Decisions[0], refused)
		if again.Status = again.Settle(nil); len(ineffective(again)) != 1 || len(again.Turned) > 0 || len(again.Status.Unreported) > 0 ||
			!again.Status.Effects[0].Since.Equal(noon) {
			t.Errorf("refused again: %+v, reported %v", again.Status.Effects, kindsOf(again.Status.Unreported))
		}
	}
}

// TestWhatMayStillEndIsWaitedFor for ten minutes: a blocked eviction, and the pods of what a user stopped.
func TestWhatMayStillEndIsWaitedFor(t *testing.T) {
	t.Parallel()
	for action, why := range map[budget.Action]error{
		budget.Pause: &budget.NotPausedError{Why: reason.StoppedByHand(), Stopped: true},
		budget.Evict: &budget.EvictionBlockedError{Err: errors.New("a disruption budget needs it")},
	} {
		s := situation(enforcing(action), 100*budget.Hour)
		s.Owned, s.Frozen, s.Pods = true, action == budget.Evict, []budget.Pod{pod("train-1", 0)}
		s.Pods[0].Of.Stopped = action == budget.Pause
		var phases []budget.EffectPhase
		for range 4 {
			p := Decide(s, nil)
			refused := p.Decisions[len(p.Decisions)-1]
			p = p.Refuse(refused, why)
			n := len(phases)
			for _, e := range p.Settle(nil).Effects {
				if phases = append(phases, e.Phase); e.Reason.IsZero() {
					t.Errorf("%s: no reason: %v", action, e)
				}
			}
			if late := n == 2; late != (len(p.Turned) > 0) || late != strings.Contains(strings.Join(kindsOf(p.Settle(nil).Unreported), " "), "ineffective") {
				t.Errorf("%s, run %d: turned %v", action, n, p.Turned)
			}
			if late := n >= 2; late != (len(p.LeftIneffective(nil)) > 0) {
				t.Errorf("%s, run %d: left is %v", action, n, p.LeftIneffective(nil))
			}
			s = next(s, p)
		}
		if want := []budget.EffectPhase{budget.Requested, budget.Requested, budget.Ineffective, budget.Ineffective}; !slices.Equal(phases, want) {
			t.Errorf("%s: the phases are %v", action, phases)
		}
		s.Pods = nil
		if p := Decide(s, nil); len(p.Status.Effects) > 0 || len(p.Status.Unreported) > 0 {
			t.Errorf("%s: once it is gone, the effects are %v, and reported %v", action, p.Status.Effects, kindsOf(p.Status.Unreported))
		}
	}
}

// TestRefusalsWithoutRunningPodsAreNotKept: of a workload that is gone or only waits, and of a waiting pod.
func TestRefusalsWithoutRunningPodsAreNotKept(t *testing.T) {
	t.Parallel()
	w, running := pod("a", 0).Of.Workload, pod("a", 0)
	waiting := waits(pod("b", 0))
	p := Decide(situation(enforcing(budget.Pause), 100*budget.Hour), nil)
	refused, blocked := &budget.NotPausedError{Why: reason.ChangeRefused("no")}, &budget.EvictionBlockedError{Err: errors.New("no")}
	for name, of := range map[string]struct {
		d   budget.Decision
		err error
	}{
		"gone": {
			budget.Decision{Kind: budget.KindPause, Owner: &w, Holding: []string{"ml/a"}}, &budget.NotPausedError{Why: reason.WorkloadGone(), Gone: true},
		},
		"it only waits":  {budget.Decision{Kind: budget.KindPause, Owner: &w}, refused},
		"a waiting pod":  {budget.Decision{Kind: budget.KindEvict, Pod: &waiting}, blocked},
		"another error":  {budget.Decision{Kind: budget.KindEvict, Pod: &running}, errors.New("no")},
		"another action": {budget.Decision{Kind: budget.KindShorten, Pod: &running}, blocked},
	} {
		if effects := p.Refuse(of.d, of.err).Settle(nil).Effects; len(effects) > 0 {
			t.Errorf("%s: %v", name, effects)
		}
	}
}

// TestEachPodIsActedOnOrListed: what a due budget neither pauses nor evicts is in its status.
func TestEachPodIsActedOnOrListed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t)
		f := factsOf(s)
		if action := f.Declaration.Enforce.Action; !f.due || !f.doubt().IsZero() || action != budget.Pause && action != budget.Evict {
			return
		}
		p := Decide(s, nil)
		listed := strings.Join(p.Status.Warnings.Texts(), "\n")
		for _, d := range append(p.Decisions, p.Reserves...) {
			listed += "\n" + d.Summary() + strings.Join(d.Holding, ",")
		}
		for _, e := range p.Status.Effects {
			listed += "\n" + e.String()
		}
		unnamed, more := 0, 0 // a long list counts the last ones
		for _, w := range p.Status.Warnings {
			for _, a := range w.Args {
				if list, is := a.(reason.Listed); is {
					more += list.More
				}
			}
		}
		for _, q := range s.Pods {
			if !q.End.Open() || q.MilliGPUs <= 0 || !f.enforcedOn(q) || len(s.Paused) > 0 && s.Paused[0].UID == q.Of.Workload.UID {
				continue
			}
			if !strings.Contains(listed, q.String()) && !strings.Contains(listed, q.Of.Workload.String()) && !f.leaves(q) {
				if unnamed++; unnamed > more {
					t.Fatalf("nothing is said of %s, %+v:\n%s", q, q.Of, listed)
				}
			}
		}
	})
}
