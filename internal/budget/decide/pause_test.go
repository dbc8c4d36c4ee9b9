package decide

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func TestOwnersArePausedOnce(t *testing.T) {
	t.Parallel()
	own := func(name, version, kind, owner string) budget.Pod { return owned(pod(name, 0), version, kind, owner) }
	loose := pod("loose", 0)
	loose.Owner, loose.Of = nil, budget.Ownership{}
	kept := own("kept-1", "batch/v1", "Job", "kept")
	kept.Annotations = map[string]string{budget.ProtectedKey: "true"}
	forged := own("forged", "apps/v1", "ReplicaSet", "api-1")
	forged.Of = budget.Ownership{Reason: "the ReplicaSet does not select it"}
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Pods = []budget.Pod{
		own("web-1", "apps/v1", "Deployment", "web"), own("web-2", "apps/v1", "Deployment", "web"), own("job-1", "batch/v1", "Job", "job"),
		own("set-0", "apps/v1", "StatefulSet", "set"),
		forged, own("held-1", "batch/v1", "Job", "held"), own("theirs-1", "batch/v1", "Job", "theirs"), kept, own("kept-2", "batch/v1", "Job", "kept"), loose,
	}
	s.Paused = []Paused{
		{Workload: s.Pods[5].Controller(), BudgetUID: "uid-a"},
		{Workload: s.Pods[6].Controller(), BudgetUID: "uid-b"},
	}
	p := Decide(s, nil)
	if diff := cmp.Diff([]string{"pause Deployment ml/web", "pause StatefulSet ml/set", "pause Job ml/job", "pause Job ml/theirs"}, summaries(p)); diff != "" {
		t.Error(diff)
	}
	warnings := strings.Join(p.Status.Warnings, "\n")
	for _, want := range []string{"ml/forged (the ReplicaSet does not select it)", "ml/loose (it has no owner)", "ml/kept-1 (it is annotated"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("%q lacks %q", warnings, want)
		}
	}
	if p.Status.Enforced != nil || budget.CountEffects(p.Status.Effects, budget.Pause, budget.Requested) != 4 {
		t.Errorf("before an observation shows it, %v is enforced, and the effects are %v", p.Status.Enforced, p.Status.Effects)
	}
}

// TestOnlyTheOwningWorkloadIsPaused has pods with the budget's labels that name a workload whose template has
// other labels: it is not paused. A pod that only claims to be static does not protect one.
func TestOnlyTheOwningWorkloadIsPaused(t *testing.T) {
	t.Parallel()
	forged := owned(pod("forged", 0), "apps/v1", "StatefulSet", "theirs")
	forged.Scheduled, forged.Phase, forged.Of.Labels = ledger.Start{}, "Pending", map[string]string{"team": "b"}
	own := owned(pod("own", 0), "apps/v1", "StatefulSet", "own")
	own.Of.Labels = map[string]string{"team": "a"}
	static := owned(pod("static", 0), "apps/v1", "StatefulSet", "own")
	static.Mirror, static.Scheduled, static.Phase = true, ledger.Start{}, "Pending"
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Declaration.Selector = budget.Selector{MatchLabels: map[string]string{"team": "a"}}
	s.Pods = []budget.Pod{forged, own, static}
	p := Decide(s, nil)
	if diff := cmp.Diff([]string{"pause StatefulSet ml/own"}, summaries(p)); diff != "" {
		t.Error(diff)
	}
	if warnings := strings.Join(p.Status.Warnings, "\n"); !strings.Contains(warnings,
		"ml/forged (the selector does not match the pod template of the StatefulSet ml/theirs)") {
		t.Errorf("%q", warnings)
	}
}

func summaries(p Plan) []string {
	var list []string
	for _, d := range p.Decisions {
		list = append(list, d.Summary())
	}
	return list
}

// TestAnotherBudgetsPauseIsHeldAsWell: it may end earlier than this budget's would.
func TestAnotherBudgetsPauseIsHeldAsWell(t *testing.T) {
	t.Parallel()
	theirs := Paused{
		Workload:  budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "theirs", UID: "uid-of-theirs"}},
		BudgetUID: "uid-b", Set: set("ml", "team", "a"),
	}
	for name, test := range map[string]struct {
		change func(s *Situation)
		want   []string
	}{
		"covered":                    {func(*Situation) {}, []string{"pause Job ml/theirs"}},
		"not covered":                {func(s *Situation) { s.Paused[0].Set = set("ml", "team", "b") }, nil},
		"not known":                  {func(s *Situation) { s.Paused[0].Set = nil }, nil},
		"started again":              {func(s *Situation) { s.Paused[0].Running = true }, nil},
		"started again, and left so": {func(s *Situation) { s.Paused[0].Undone = true }, nil},
		"held once, and started again since": {func(s *Situation) {
			s.Paused = append(s.Paused, theirs)
			s.Paused[1].BudgetUID, s.Paused[1].Undone = "uid-a", true
		}, []string{"pause Job ml/theirs"}},
		"in a protected namespace": {func(s *Situation) { s.Declaration.Enforce.ProtectedNamespaces = []string{"ml"} }, nil},
		"of a protected class": {func(s *Situation) {
			s.Paused[0].PriorityClassName, s.Declaration.Enforce.ProtectedPriorityClass = "high", "high"
		}, nil},
		"held already":                {func(s *Situation) { s.Paused = append(s.Paused, theirs); s.Paused[1].BudgetUID = "uid-a" }, nil},
		"and nothing is to be paused": {func(s *Situation) { s.Declaration.Enforce.Action = budget.Evict }, []string{"block new GPU pods"}},
	} {
		s := situation(enforcing(budget.Pause), 100*budget.Hour)
		s.Paused = []Paused{theirs}
		test.change(&s)
		if diff := cmp.Diff(test.want, summaries(Decide(s, nil))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestAnInterruptedPauseIsFinished kills a run during a pause: the next run finishes it.
func TestAnInterruptedPauseIsFinished(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Paused = []Paused{{Workload: owned(budget.Pod{}, "batch/v1", "Job", "train").Of.Workload, BudgetUID: "uid-a", UnderWay: true}}
	if diff := cmp.Diff([]string{"pause Job ml/train"}, summaries(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
	s.Paused[0].Running = true
	if p := Decide(s, nil); len(p.Decisions) > 0 || p.Status.Enforced != nil {
		t.Errorf("not stopped, and no pod runs: %v, enforced %v", p.Decisions, p.Status.Enforced)
	}
	s.Pods = []budget.Pod{owned(pod("train-1", 0), "batch/v1", "Job", "train")}
	if diff := cmp.Diff([]string{"pause Job ml/train"}, summaries(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
}

// TestWhatWasStartedAgainIsTold: it does not count as paused, and is paused again
// where the budget says so.
func TestWhatWasStartedAgainIsTold(t *testing.T) {
	t.Parallel()
	for _, repause := range []bool{false, true} {
		d := enforcing(budget.Pause)
		if repause {
			d.Enforce.OnManualResume = budget.ResumePause
		}
		s := situation(d, 100*budget.Hour)
		s.Pods = []budget.Pod{pod("a", 0), pod("b", 0), owned(pod("c", 0), "batch/v1", "Job", "ends")}
		s.Pods[2].Of.Stopped = true
		s.Paused = []Paused{{Workload: s.Pods[0].Of.Workload, BudgetUID: "uid-a"}, {Workload: s.Pods[2].Of.Workload, BudgetUID: "uid-a"}}
		p := Decide(s, nil)
		want, told := []string(nil), `on_manual_resume = "warn" leaves it running`
		if repause {
			want, told = []string{"pause Deployment ml/train"}, "it is paused again"
		}
		if diff := cmp.Diff(want, summaries(p)); diff != "" {
			t.Errorf("repause %t: %s", repause, diff)
		}
		if !strings.Contains(strings.Join(p.Status.Warnings, "\n"), "1 paused workload was resumed manually, and its pods hold GPUs: "+
			"Deployment ml/train; "+told) {
			t.Errorf("repause %t: %q", repause, p.Status.Warnings)
		}
		if noted := len(p.Undone) == 1 && p.Undone[0].Name == "train"; noted == repause {
			t.Errorf("repause %t: that it is left so is to be noted of %v", repause, p.Undone)
		}
		s.Paused = s.Paused[:1]
		if enforced := Decide(s, nil).Settle(nil).Enforced; enforced != nil {
			t.Errorf("repause %t: it stands as enforced: %v", repause, enforced)
		}
		s.Paused[0].Undone, s.Pods = true, s.Pods[:2]
		p = Decide(s, nil)
		if diff := cmp.Diff(want, summaries(p)); diff != "" || len(p.Undone) > 0 || p.Settle(nil).Enforced != nil {
			t.Errorf("repause %t, once it is noted: %s%v, enforced %v", repause, diff, p.Undone, p.Settle(nil).Enforced)
		}
	}
}

// TestADeploymentIsOneWorkload: while it rolls out it has two ReplicaSets, and to
// pause the old one would end the new one's protected pods.
func TestADeploymentIsOneWorkload(t *testing.T) {
	t.Parallel()
	of := func(name, hash string) budget.Pod {
		p := owned(pod(name, 0), "apps/v1", "Deployment", "train")
		p.Owner = &ledger.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "train-" + hash}
		p.Set = set("ml", "team", "a", "pod-template-hash", hash)
		return p
	}
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Pods = []budget.Pod{of("old", "5d4f"), of("new", "77b9")}
	if diff := cmp.Diff([]string{"pause Deployment ml/train"}, summaries(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
	s.Pods[1].Annotations = map[string]string{budget.ProtectedKey: "true"}
	if p := Decide(s, nil); len(p.Decisions) != 0 {
		t.Errorf("%v", p.Decisions)
	}
	s.Pods[1].Of = budget.Ownership{Reason: "the ReplicaSet does not select it"} // it only names the workload as its owner
	if diff := cmp.Diff([]string{"pause Deployment ml/train"}, summaries(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
}
