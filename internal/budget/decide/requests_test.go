package decide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// waits is the pod as one that waits for GPUs.
func waits(p budget.Pod) budget.Pod {
	p.Scheduled, p.Phase = ledger.Start{}, "Pending"
	return p
}

func kindsOf(events []history.Event) []string {
	var list []string
	for _, e := range events {
		list = append(list, strings.TrimSpace(string(e.Kind)+" "+e.Outcome))
	}
	return list
}

// TestPodsAreReadAsFarAsTheActionNeedsThem.
func TestPodsAreReadAsFarAsTheActionNeedsThem(t *testing.T) {
	t.Parallel()
	protected := pod("c", 0)
	protected.Annotations = map[string]string{budget.ProtectedKey: "true"}
	second := Observation{Pods: []budget.Pod{
		pod("a", 0), waits(owned(pod("b", 0), "batch/v1", "Job", "train")), waits(pod("d", 0)), protected, owned(pod("e", 0), "batch/v1", "Job", "train"),
	}}
	for action, want := range map[budget.Action]struct {
		pods, below WantedPods
		owners      []string
	}{
		budget.AlertOnly: {NoPods, NoPods, nil}, budget.Freeze: {WaitingPods, NoPods, nil}, budget.Evict: {AllPods, NoPods, []string{"b", "e"}},
		budget.Pause: {AllPods, NoPods, []string{"a", "b", "c", "d", "e"}},
	} {
		s := situation(enforcing(action), 100*budget.Hour)
		var owners []string
		for _, p := range s.WantsOwners(second) {
			owners = append(owners, p.Name)
		}
		slices.Sort(owners)
		if s.WantsPods() != want.pods || !slices.Equal(owners, want.owners) {
			t.Errorf("%s: it needs %s pods, and the owners of %q", action, s.WantsPods(), owners)
		}
		if below := situation(enforcing(action), 100*budget.Hour-1).WantsPods(); below != want.below {
			t.Errorf("%s, below the limit: it needs %s pods", action, below)
		}
	}
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	if owners := s.WantsOwners(Observation{Pods: []budget.Pod{protected}}); len(owners) > 0 {
		t.Errorf("with no pod to pause, it needs the owners of %v", owners)
	}
}

// TestPausedWorkloadsOfOthersAreKeptPaused if the budget enforces a pause and counts their pods.
func TestPausedWorkloadsOfOthersAreKeptPaused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*Situation, *Paused)
		would  bool
	}{
		"its own pods":          {func(*Situation, *Paused) {}, true},
		"below the limit":       {func(s *Situation, _ *Paused) { s.Result.Usage.Consumed-- }, false},
		"another action":        {func(s *Situation, _ *Paused) { s.Declaration.Enforce.Action = budget.Evict }, false},
		"in the grace period":   {func(s *Situation, _ *Paused) { s.Previous.ReportedAt, s.Declaration.PublishedAt = nil, noon }, false},
		"in doubt":              {func(s *Situation, _ *Paused) { s.Result.EndsLost = true }, false},
		"pods of others":        {func(_ *Situation, p *Paused) { p.Set = set("ml", "team", "b") }, false},
		"it runs":               {func(_ *Situation, p *Paused) { p.Running = true }, false},
		"it was resumed":        {func(_ *Situation, p *Paused) { p.Undone = true }, false},
		"its labels are unread": {func(_ *Situation, p *Paused) { p.Set = nil }, false},
	} {
		s, p := situation(enforcing(budget.Pause), 100*budget.Hour), Paused{Workload: pod("a", 0).Of.Workload, BudgetUID: "uid-b", Set: set("ml", "team", "a")}
		tt.change(&s, &p)
		if would := s.WouldPause(p); would != tt.would {
			t.Errorf("%s: it would pause it: %t", name, would)
		}
	}
}

// TestWaitingPodsAreEvictedFirst, except those of a Job that would count that as a failure.
func TestWaitingPodsAreEvictedFirst(t *testing.T) {
	t.Parallel()
	job := waits(owned(pod("of-job", 0), "batch/v1", "Job", "train"))
	tolerant := waits(owned(pod("of-tolerant-job", 0), "batch/v1", "Job", "train"))
	tolerant.Of.ToleratesDisruption = true
	s := situation(enforcing(budget.Evict), 100*budget.Hour)
	s.Pods = []budget.Pod{pod("runs", 0), job, tolerant, waits(pod("waits", 0))}
	p := Decide(s, nil)
	if got := evicted(p); !slices.Equal(got, []string{"of-tolerant-job", "waits", "runs"}) {
		t.Errorf("evicted are %q", got)
	}
	warnings := strings.Join(p.Status.Warnings.Texts(), "\n")
	for _, want := range []string{
		"1 pod is left waiting: an eviction counts as a failure of a Job, unless its podFailurePolicy ignores DisruptionTarget: " +
			"ml/of-job (of the Job train)",
		"3 pods wait for 3 GPUs: ml/of-job, ml/of-tolerant-job, ml/waits",
	} {
		if !strings.Contains(warnings, want) {
			t.Errorf("the warnings lack %q:\n%s", want, warnings)
		}
	}
}

// TestWorkloadsOfWaitingPodsArePaused before others, with the pods that wait.
func TestWorkloadsOfWaitingPodsArePaused(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Pods = []budget.Pod{
		owned(pod("a-0", 0), "apps/v1", "StatefulSet", "a"), waits(owned(pod("a-1", 0), "apps/v1", "StatefulSet", "a")),
		waits(owned(pod("b-0", 0), "apps/v1", "StatefulSet", "b")),
	}
	p := Decide(s, nil)
	if diff := cmp.Diff([]string{"pause StatefulSet ml/b", "pause StatefulSet ml/a"}, summaries(p)); diff != "" {
		t.Fatal(diff)
	}
	b, a := p.Decisions[0], p.Decisions[1]
	if !slices.Equal(b.Waiting, []string{"uid-b-0"}) || len(b.Holding) > 0 || len(a.Waiting) > 0 || !slices.Equal(a.Holding, []string{"ml/a-0"}) {
		t.Errorf("of b, %q wait and %q hold GPUs; of a, %q and %q", b.Waiting, b.Holding, a.Waiting, a.Holding)
	}
	if reasons := strings.Join(b.Reasons.Texts(), "; "); !strings.Contains(reasons, "its pods wait for GPUs, and would start once GPUs are free") {
		t.Errorf("the reasons are %q", b.Reasons)
	}
}

// TestEvictionsAreFollowedUntilThePodIsGone: an unchanged pod makes the eviction ineffective in the end.
func TestEvictionsAreFollowedUntilThePodIsGone(t *testing.T) {
	t.Parallel()
	p := pod("train-1", 0)
	requested := func(since time.Time) Situation {
		s := situation(enforcing(budget.Evict), 100*budget.Hour)
		s.Owned, s.Pods, s.Frozen = true, []budget.Pod{p}, true
		s.Previous.Effects = []budget.Effect{budget.NewEffect(budget.Evict, "Pod ml/train-1", p.UID, []string{"ml/train-1"}, since)}
		return s
	}
	outcome := func(s Situation) (effects []budget.Effect, events []string) {
		plan := Decide(s, nil)
		for _, e := range plan.Status.Effects {
			if e.Measure == budget.Evict {
				effects = append(effects, e)
			}
		}
		for _, of := range kindsOf(plan.Status.Unreported) {
			if strings.HasPrefix(of, string(history.Evicted)) {
				events = append(events, of)
			}
		}
		return effects, events
	}
	s := requested(noon.Add(-time.Minute))
	if effects, events := outcome(s); len(effects) != 1 || effects[0].Phase != budget.Requested || len(events) > 0 {
		t.Errorf("after a minute: %v, %q", effects, events)
	}
	if effects, events := outcome(requested(noon.Add(-budget.EffectTimeout))); len(effects) != 1 || effects[0].Phase != budget.Ineffective ||
		!slices.Equal(events, []string{"evicted ineffective"}) {
		t.Errorf("after its time: %v, %q", effects, events)
	}
	s.Owned = false
	if effects, events := outcome(s); len(effects) != 1 || len(events) > 0 {
		t.Errorf("unobserved: %v, %q", effects, events)
	}
	s.Declaration.Enforce.Action = budget.Freeze
	if effects, _ := outcome(s); len(effects) > 0 {
		t.Errorf("unobserved, and no longer asked for: %v", effects)
	}
	for name, gone := range map[string][]budget.Pod{"gone": nil,
		"terminating": {func() budget.Pod { p := p; p.Deletion = ms(noon.Add(time.Minute)); return p }()}} {
		s := requested(noon.Add(-time.Minute))
		s.Pods = gone
		if effects, events := outcome(s); len(effects) > 0 || !slices.Equal(events, []string{"evicted done"}) {
			t.Errorf("%s: %v, %q", name, effects, events)
		}
	}
}

// TestEvictionsFollowAPauseWithoutEffect if the declaration says so, with a freeze.
func TestEvictionsFollowAPauseWithoutEffect(t *testing.T) {
	t.Parallel()
	p := pod("train-1", 0)
	p.Of.Stopped = true
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Owned, s.Pods, s.Paused = true, []budget.Pod{p}, []Paused{{Workload: p.Of.Workload, BudgetUID: "uid-a"}}
	s.Previous.Effects = []budget.Effect{
		budget.NewEffect(budget.Pause, "Deployment ml/train", p.Of.Workload.UID, []string{"ml/train-1"}, noon.Add(-budget.EffectTimeout)),
	}
	if plan := Decide(s, nil); len(plan.Decisions) > 0 || len(plan.Ineffective) != 1 {
		t.Errorf("decided %v, ineffective %v", summaries(plan), plan.Ineffective)
	} else if of := plan.Status.Unreported; !slices.Equal(kindsOf(of), []string{"paused ineffective"}) ||
		!slices.Equal(of[0].Reasons.Texts(), []string{"1 pod holds GPUs (ml/train-1)"}) {
		t.Errorf("reported are %+v", of)
	}
	s.Declaration.Enforce.OnIneffective = budget.FallbackEvict
	plan := Decide(s, nil)
	if got := kinds(plan); !slices.Equal(got, []budget.Kind{budget.KindFreeze, budget.KindEvict}) || len(plan.Ineffective) > 0 {
		t.Fatalf("decided %v, ineffective %v", summaries(plan), plan.Ineffective)
	}
	if d := plan.Decisions[1]; d.Pod.Name != "train-1" || d.Rank != nil ||
		!slices.Contains(d.Reasons.Texts(), "the pause of its Deployment ml/train had no effect") {
		t.Errorf("evicted is %s for %q", d.Pod.Name, d.Reasons)
	}
}

// TestKilledRunIsReportedAsFarAsItGot: the next run reports and follows what happened of that which the
// status announced.
func TestKilledRunIsReportedAsFarAsItGot(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Evict), 100*budget.Hour)
	s.Pods = []budget.Pod{pod("a", 0), pod("b", 1)}
	p := Decide(s, nil)
	before := p.StatusBefore(nil, p.Decisions)
	if got := kindsOf(before.AboutTo); !slices.Equal(got, []string{"evict requested", "evict requested"}) {
		t.Fatalf("about to: %q", got)
	}
	for name, tt := range map[string]struct {
		happened, unseen bool
		aboutTo          int
	}{"it happened": {happened: true}, "it did not": {}, "it was not observed": {unseen: true, aboutTo: 2}} {
		s := s
		s.Previous, s.Owned, s.Unseen, s.Happened = &before, true, tt.unseen, map[string]bool{before.AboutTo[0].ID: tt.happened}
		next := Decide(s, nil)
		reported := slices.Contains(kindsOf(next.Settle(nil).Unreported), "evict requested")
		followed := slices.ContainsFunc(next.effects, func(e budget.Effect) bool { return e.UID == "uid-a" })
		if reported != tt.happened || followed != tt.happened || len(next.Status.AboutTo) != tt.aboutTo {
			t.Errorf("%s: it is reported: %t, and followed: %t; %d are still announced", name, reported, followed, len(next.Status.AboutTo))
		}
	}
	pause := situation(enforcing(budget.Pause), 100*budget.Hour)
	pause.Pods = []budget.Pod{pod("a", 0)}
	plan := Decide(pause, nil)
	before = plan.StatusBefore(nil, plan.Decisions)
	if got := requestedBy(before.AboutTo[0]); len(got) != 1 || got[0].Measure != budget.Pause || got[0].Object != "Deployment ml/train" ||
		got[0].UID != "uid-of-train" {
		t.Errorf("requested were %+v", got)
	}
	if alerts := plan.StatusBefore(nil, []budget.Decision{{Kind: budget.KindAlert, Thresholds: []int{50}}}).AboutTo; len(alerts) > 0 {
		t.Errorf("announced are %v", alerts)
	}
}

// TestABudgetIsCreatedWhenItWasPublished: of a later generation, that was another time.
func TestABudgetIsCreatedWhenItWasPublished(t *testing.T) {
	t.Parallel()
	for generation, want := range map[int64]time.Time{1: noon.AddDate(0, -1, 0), 2: noon} {
		s := situation(enforcing(budget.Freeze), 0)
		s.Previous, s.Declaration.Generation = nil, generation
		events := Decide(s, nil).Status.Unreported
		if !slices.Equal(kindsOf(events), []string{"create"}) || !events[0].At.Equal(want) {
			t.Errorf("of generation %d, the events are %+v", generation, events)
		}
	}
}

// TestAFreezeIsReportedFromItsRequestToItsEnd: each step once, with the reasons of its decision.
func TestAFreezeIsReportedFromItsRequestToItsEnd(t *testing.T) {
	t.Parallel()
	s, again := situation(enforcing(budget.Freeze), 100*budget.Hour), noon.Add(15*time.Minute)
	s.FreezeSlots = budget.SlotWrite{Manager: "kubectl-replace", At: noon.Add(14 * time.Minute)}
	for _, step := range []struct {
		name   string
		frozen bool
		fell   bool
		events []string
		since  *time.Time
	}{
		{"requested", false, false, []string{"freeze requested"}, &noon},
		{"observed", true, false, []string{"frozen done"}, &noon},
		{"in force", true, false, nil, &noon},
		{"gone", false, false, []string{"unfreeze", "freeze requested"}, &again},
		{"observed again", true, false, []string{"frozen done"}, &again},
		{"lifted", true, true, []string{"recovered", "unfreeze"}, nil},
	} {
		if s.Frozen = step.frozen; step.fell {
			s.Result.Usage.Consumed, s.Result.ExceededSince = 99*budget.Hour, nil
		}
		p := Decide(s, nil)
		events := p.Status.Unreported
		if diff := cmp.Diff(step.events, kindsOf(events)); diff != "" || !cmp.Equal(p.Status.FrozenSince, step.since) {
			t.Fatalf("%s: frozen since %v, and the events: %s", step.name, p.Status.FrozenSince, diff)
		}
		if len(p.Decisions) > 0 && !cmp.Equal(events[len(events)-1].Reasons, p.Decisions[0].Reasons) {
			t.Errorf("%s: the reasons are %q", step.name, events[len(events)-1].Reasons)
		}
		const gone = `its freeze was gone, so that new GPU pods may have been admitted since 2026-07-15T12:10:00Z: ` +
			`"kubectl-replace" wrote it at 2026-07-15T12:14:00Z`
		if slices.Contains(p.Status.Warnings.Texts(), gone) != (step.name == "gone") {
			t.Errorf("%s: the warnings are %q", step.name, p.Status.Warnings)
		}
		s.Now, s.Previous = s.Now.Add(5*time.Minute), &p.Status
		s.Previous.Unreported = nil // the history has them
	}
}

// TestDestroyedBudgetReportsWhatItLifts.
func TestDestroyedBudgetReportsWhatItLifts(t *testing.T) {
	t.Parallel()
	since := noon.Add(-time.Hour)
	resumed := []budget.Workload{pod("a", 0).Of.Workload}
	for _, tt := range []struct {
		last     budget.Status
		resumed  []budget.Workload
		unfrozen bool
		want     []string
	}{
		{budget.Status{}, nil, false, []string{"destroy"}},
		{budget.Status{FrozenSince: &since}, resumed, true, []string{"resume", "unfreeze", "destroy"}},
		{budget.Status{FrozenSince: &since}, nil, false, []string{"destroy"}},
		{budget.Status{Unreported: []history.Event{{Kind: history.Exceeded}}}, nil, true, []string{"exceeded", "destroy"}},
	} {
		events := Lifted(tt.last, teamA(), tt.resumed, tt.unfrozen, reason.BudgetDestroyed(), noon, noon)
		if got := kindsOf(events); !slices.Equal(got, tt.want) {
			t.Errorf("reported are %q, want %q", got, tt.want)
		}
	}
}

// TestDoubtsAreWarnedOf: about the selector, and about pauses that were lost.
func TestDoubtsAreWarnedOf(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Pause), budget.Hour)
	s.ClusterDoubts = reason.Reasons{reason.NotInCluster("selector", "namespace", "web")}
	s.Lost = []budget.PausedWorkload{{Workload: pod("a", 0).Of.Workload}}
	warnings := strings.Join(Decide(s, nil).Status.Warnings.Texts(), "\n")
	for _, want := range []string{`the namespace "web"`, "Deployment ml/train"} {
		if !strings.Contains(warnings, want) {
			t.Errorf("the warnings lack %q:\n%s", want, warnings)
		}
	}
	s = situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Declaration.Selector.MatchExpressions = []budget.Expression{{Key: "team", Operator: "Like"}}
	for pods, want := range map[int]bool{0: false, 1: true} {
		s.Pods = []budget.Pod{pod("a", 0)}[:pods]
		if got := strings.Contains(strings.Join(Decide(s, nil).Status.Warnings.Texts(), "\n"), "its selector is invalid, so nothing is enforced"); got != want {
			t.Errorf("an invalid selector and %d pods: it warns: %t", pods, got)
		}
	}
}
