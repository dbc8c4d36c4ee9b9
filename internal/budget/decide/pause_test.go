package decide

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

func TestOwnersArePausedOnce(t *testing.T) {
	t.Parallel()
	own := func(name, version, kind, owner string) budget.Pod { return owned(pod(name, 0), version, kind, owner) }
	loose := pod("loose", 0)
	loose.Owner, loose.Of = nil, budget.Ownership{}
	kept := own("kept-1", "batch/v1", "Job", "kept")
	kept.Annotations = map[string]string{budget.ProtectedKey: "true"}
	forged := own("forged", "apps/v1", "ReplicaSet", "api-1")
	forged.Of = budget.Ownership{Reason: reason.OwnerNotSelects("ReplicaSet ml/r")}
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Pods = []budget.Pod{
		own("web-1", "apps/v1", "Deployment", "web"), own("web-2", "apps/v1", "Deployment", "web"), own("job-1", "batch/v1", "Job", "job"),
		own("set-0", "apps/v1", "StatefulSet", "set"),
		forged, own("held-1", "batch/v1", "Job", "held"), own("theirs-1", "batch/v1", "Job", "theirs"), kept, own("kept-2", "batch/v1", "Job", "kept"), loose,
	}
	s.Owned, s.Paused = true, []Paused{
		{Workload: s.Pods[5].Controller(), BudgetUID: "uid-a"},
		{Workload: s.Pods[6].Controller(), BudgetUID: "uid-b"},
	}
	p := Decide(s, nil)
	if diff := cmp.Diff([]string{"pause Deployment ml/web", "pause StatefulSet ml/set", "pause Job ml/job", "pause Job ml/theirs"}, summaries(p)); diff != "" {
		t.Error(diff)
	}
	if warnings := strings.Join(p.Status.Warnings.Texts(), "\n"); !strings.Contains(warnings, "ml/kept-1 (it is annotated") {
		t.Errorf("%q", warnings)
	}
	want := []string{"Pod ml/forged: it names the ReplicaSet ml/r as its owner, which does not select it", "Pod ml/loose: it has no owner"}
	if diff := cmp.Diff(want, ineffective(p)); diff != "" {
		t.Error(diff)
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
	forged.Of.Labels = map[string]string{"team": "b"}
	waiting := owned(pod("waiting", 0), "apps/v1", "StatefulSet", "theirs")
	waiting.Scheduled, waiting.Phase, waiting.Of.Labels = ledger.Start{}, "Pending", map[string]string{"team": "b"}
	own := owned(pod("own", 0), "apps/v1", "StatefulSet", "own")
	own.Of.Labels = map[string]string{"team": "a"}
	static := owned(pod("static", 0), "apps/v1", "StatefulSet", "own")
	static.Mirror, static.Scheduled, static.Phase = true, ledger.Start{}, "Pending"
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Declaration.Selector = budget.Selector{MatchLabels: map[string]string{"team": "a"}}
	s.Owned, s.Pods = true, []budget.Pod{forged, waiting, own, static}
	p := Decide(s, nil)
	if diff := cmp.Diff([]string{"pause StatefulSet ml/own"}, summaries(p)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Pod ml/forged: the selector does not match the pod template of the StatefulSet ml/theirs"}, ineffective(p)); diff != "" {
		t.Error(diff)
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
		if !strings.Contains(strings.Join(p.Status.Warnings.Texts(), "\n"), "1 paused workload was resumed manually, and its pods hold GPUs: "+
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
	s.Pods[1].Of = budget.Ownership{Reason: reason.OwnerNotSelects("ReplicaSet ml/r")} // it only names the workload as its owner
	if diff := cmp.Diff([]string{"pause Deployment ml/train"}, summaries(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
}

// scheduled is a pod of a Job of the CronJob "nightly".
func scheduled(job string) budget.Pod {
	p := owned(pod(job+"-1", 0), "batch/v1", "Job", job)
	p.Of.CronJob = &budget.Ownership{Workload: budget.Workload{
		Namespace: "ml", Owner: ledger.Owner{APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly", UID: "uid-of-nightly"},
	}}
	return p
}

// TestCronJobsArePausedBeforeTheirJobs, once, and not if they are suspended, of others, or protected by a pod.
func TestCronJobsArePausedBeforeTheirJobs(t *testing.T) {
	t.Parallel()
	jobs := []string{"pause Job ml/a", "pause Job ml/b"}
	both := append([]string{"pause CronJob ml/nightly"}, jobs...)
	for name, tt := range map[string]struct {
		change func(s *Situation, c *budget.Ownership)
		want   []string
		left   []string
	}{
		"usual":              {func(*Situation, *budget.Ownership) {}, both, nil},
		"suspended":          {func(_ *Situation, c *budget.Ownership) { c.Stopped = true }, jobs, nil},
		"of another project": {func(_ *Situation, c *budget.Ownership) { c.Labels = map[string]string{"team": "b"} }, jobs, nil},
		"controlled": {
			func(_ *Situation, c *budget.Ownership) { c.Obstacle = reason.ControlledBy("Workflow", "w") }, jobs,
			[]string{"CronJob ml/nightly: the Workflow w controls it, and would undo it"},
		},
		"a protected pod": {
			func(s *Situation, _ *budget.Ownership) {
				s.Pods[1].Annotations = map[string]string{budget.ProtectedKey: "true"}
			}, jobs[:1], nil,
		},
		"resumed manually": {func(s *Situation, c *budget.Ownership) {
			s.Paused = []Paused{{Workload: c.Workload, BudgetUID: "uid-a"}}
		}, jobs, nil},
		"resumed manually, and paused again": {func(s *Situation, c *budget.Ownership) {
			s.Declaration.Enforce.OnManualResume = budget.ResumePause
			s.Paused = []Paused{{Workload: c.Workload, BudgetUID: "uid-a", Undone: true}}
		}, both, nil},
	} {
		s := situation(enforcing(budget.Pause), 100*budget.Hour)
		s.Owned, s.Pods = true, []budget.Pod{scheduled("a"), scheduled("b")}
		s.Pods[1].Of.CronJob = s.Pods[0].Of.CronJob
		tt.change(&s, s.Pods[0].Of.CronJob)
		p := Decide(s, nil)
		if diff := cmp.Diff(tt.want, summaries(p)); diff != "" || !cmp.Equal(ineffective(p), tt.left) {
			t.Errorf("%s: %sineffective %v", name, diff, ineffective(p))
		}
		for _, d := range p.Decisions {
			if d.Owner.Kind == "Job" && d.CronJob != "uid-of-nightly" {
				t.Errorf("%s: the CronJob of %s is %q", name, d.Owner, d.CronJob)
			}
		}
	}
}

// TestJobsAreResumedBeforeTheirCronJob, the oldest first.
func TestJobsAreResumedBeforeTheirCronJob(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Pause), 99*budget.Hour)
	s.Paused = []Paused{{Workload: scheduled("a").Of.CronJob.Workload, BudgetUID: "uid-a"}}
	for n, name := range []string{"b", "a"} {
		s.Paused = append(s.Paused, Paused{Workload: scheduled(name).Of.Workload, BudgetUID: "uid-a", CreatedAt: noon.Add(-time.Duration(n) * time.Hour)})
	}
	if diff := cmp.Diff([]string{"resume Job ml/a", "resume Job ml/b", "resume CronJob ml/nightly"}, summaries(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
}
