package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// TestAnEffectThatWasNotObservedIsNotDone: it stays as it was, and nothing reads as paused.
func TestAnEffectThatWasNotObservedIsNotDone(t *testing.T) {
	t.Parallel()
	p := pod("train-1", 0)
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Paused = []Paused{{Workload: p.Of.Workload, BudgetUID: "uid-a"}}
	s.Previous.Effects = []budget.Effect{budget.NewEffect(budget.Pause, "Deployment ml/train", p.Of.Workload.UID, []string{"ml/train-1"}, s.Previous.At)}
	if got := Decide(s, nil).Status; got.Enforced != nil || !cmp.Equal(got.Effects, s.Previous.Effects) {
		t.Errorf("unobserved, %v is enforced, and the effects are %v", got.Enforced, got.Effects)
	}
	s.Owned = true
	if got := Decide(s, nil).Status; !cmp.Equal(got.Enforced, []budget.Action{budget.Pause}) || got.Effects != nil ||
		!slices.Equal(kindsOf(got.Unreported), []string{"paused done"}) || got.Unreported[0].Reasons != nil {
		t.Errorf("no pod is left, %v is enforced, the effects are %v, and the events %+v", got.Enforced, got.Effects, got.Unreported)
	}
	early := s
	early.Declaration.PublishedAt = noon
	if got := Decide(early, nil).Status; !cmp.Equal(got.Effects, s.Previous.Effects) || len(got.Unreported) > 0 {
		t.Errorf("within a new grace, the effects are %v, and the events %+v", got.Effects, got.Unreported)
	}
	p.Of.Stopped = true
	s.Pods = []budget.Pod{p}
	if got := Decide(s, nil).Status; got.Enforced != nil || len(got.Effects) != 1 || !got.Effects[0].Since.Equal(s.Previous.At) {
		t.Errorf("its pod runs, %v is enforced, and the effects are %v", got.Enforced, got.Effects)
	}
	s.Pods[0].Deletion = ms(noon.Add(time.Minute))
	s.Previous.Effects[0].Since = noon.Add(-time.Hour)
	got := Decide(s, nil).Status
	if got.Enforced != nil || budget.CountEffects(got.Effects, budget.Pause, budget.Requested) != 1 || got.Effects[0].Pods != nil {
		t.Errorf("its pod is about to be gone, %v is enforced, and the effects are %v", got.Enforced, got.Effects)
	}
}

// TestUnobservedPausesLastAsLongAsTheyAreMeant: the budget's own until they are undone, and those
// of a stock pool while the budget asks for them.
func TestUnobservedPausesLastAsLongAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	train := pod("train-1", 0).Of.Workload
	for name, tt := range map[string]struct {
		action    budget.Action
		consumed  int64
		paused    []Paused
		stockPool string
		lasts     bool
	}{
		"evict in place of pause":     {budget.Evict, 100 * budget.Hour, []Paused{{Workload: train, BudgetUID: "uid-a"}}, "", true},
		"resumed manually":            {budget.Pause, 100 * budget.Hour, []Paused{{Workload: train, BudgetUID: "uid-a", Undone: true}}, "", false},
		"of a stock pool":             {budget.Pause, 100 * budget.Hour, nil, "stock_pool/ml/pool", true},
		"of a stock pool, usage fell": {budget.Pause, 99 * budget.Hour, nil, "stock_pool/ml/pool", false},
	} {
		s := situation(enforcing(tt.action), tt.consumed)
		s.Paused = tt.paused
		s.Previous.Effects = []budget.Effect{budget.NewEffect(budget.Pause, "Deployment ml/train", train.UID, []string{"ml/train-1"}, s.Previous.At)}
		s.Previous.Effects[0].StockPool = tt.stockPool
		if n := budget.CountEffects(Decide(s, nil).Status.Effects, budget.Pause, budget.Requested); (n == 1) != tt.lasts {
			t.Errorf("%s: the status has %d pauses that were requested", name, n)
		}
	}
}

// TestAPodThatEndsInYearsIsNotPaused: the pause waits for it, is ineffective in the end, and
// has the pod end sooner where the declaration has evictions follow. So it is of a stock
// pool, of a pod that is overdue, and of one that was protected after its deletion.
func TestAPodThatEndsInYearsIsNotPaused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*budget.Pod){
		"in years":       func(p *budget.Pod) { p.Deletion = ms(noon.AddDate(10, 0, 0)) },
		"overdue":        func(p *budget.Pod) { p.Deletion = ms(noon.Add(-budget.EndSlack)) },
		"protected late": func(p *budget.Pod) { p.Annotations = map[string]string{budget.ProtectedKey: "true"} },
		"stock pool":     func(p *budget.Pod) { p.Of.StockPool = "stock_pool/ml/pool" },
	} {
		p := pod("train-1", 0)
		p.Of.Stopped, p.Deletion = true, ms(noon.AddDate(10, 0, 0))
		change(&p)
		s := situation(enforcing(budget.Pause), 100*budget.Hour)
		s.Owned, s.Pods, s.Paused = true, []budget.Pod{p}, []Paused{{Workload: p.Of.Workload, BudgetUID: "uid-a"}}
		s.Previous.Effects = []budget.Effect{budget.NewEffect(budget.Pause, "Deployment ml/train", p.Of.Workload.UID, []string{"ml/train-1"}, s.Previous.At)}
		s.Previous.Effects[0].StockPool = p.Of.StockPool
		plan := Decide(s, nil)
		if got := plan.Status; got.Enforced != nil || len(got.Effects) != 1 || len(got.Unreported) > 0 || len(plan.Decisions) > 0 {
			t.Errorf("%s: %v is enforced, the effects are %v, the events %v, the decisions %v", name, got.Enforced, got.Effects, got.Unreported, plan.Decisions)
		}
		s.Previous.Effects[0].Since = noon.Add(-budget.EffectTimeout)
		if plan = Decide(s, nil); len(plan.Ineffective) != 1 || !cmp.Equal(plan.Ineffective[0].Pods, []string{"ml/train-1"}) {
			t.Errorf("%s: once its time is over, %v is ineffective", name, plan.Ineffective)
		}
		s.Declaration.Enforce.OnIneffective = budget.FallbackEvict
		var want []string
		if name == "in years" || name == "stock pool" {
			want = []string{"shorten the end of the pod ml/train-1"}
		}
		plan = Decide(s, nil)
		if diff := cmp.Diff(want, summaries(plan)); diff != "" || (want == nil) != (len(plan.Ineffective) == 1) {
			t.Errorf("%s, with evictions to follow: %v is ineffective, and the decisions: %s", name, plan.Ineffective, diff)
		}
	}
}

// TestADeletionWithALongGracePeriodExemptsNoWorkload: a tenant deletes its pod so that it ends in years. Its
// workload is paused as any other, unless the pod is about to be gone or holds no GPU.
func TestADeletionWithALongGracePeriodExemptsNoWorkload(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ends   time.Time
		gpus   int64
		paused []string
	}{
		"in years":                    {noon.AddDate(10, 0, 0), 1000, []string{"pause StatefulSet ml/train"}},
		"overdue":                     {noon.Add(-budget.EndSlack), 1000, []string{"pause StatefulSet ml/train"}},
		"within max_grace_period":     {noon.Add(5 * time.Minute), 1000, nil},
		"in years, and holds no GPUs": {noon.AddDate(10, 0, 0), 0, nil},
	} {
		s := situation(enforcing(budget.Pause), 100*budget.Hour)
		p := owned(pod("train-0", 0), "apps/v1", "StatefulSet", "train")
		p.Deletion, p.MilliGPUs = ms(tt.ends), tt.gpus
		s.Pods = []budget.Pod{p}
		plan := Decide(s, nil)
		diff := cmp.Diff(tt.paused, summaries(plan))
		if diff != "" || tt.paused != nil && !slices.Equal(plan.Decisions[0].Holding, []string{"ml/train-0"}) {
			t.Errorf("its pod ends %s: %s; %+v", name, diff, plan.Decisions)
		}
	}
}

// TestAPodOfADeletedWorkloadIsActedOn: nothing can be paused for it, so that the run warns of it,
// or has it end sooner if evictions follow.
func TestAPodOfADeletedWorkloadIsActedOn(t *testing.T) {
	t.Parallel()
	p := pod("train-1", 0)
	p.Of, p.Deletion = budget.Ownership{Reason: reason.OwnerUnknown()}, ms(noon.AddDate(10, 0, 0))
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Owned, s.Pods = true, []budget.Pod{p}
	if plan := Decide(s, nil); len(plan.Decisions) > 0 || !strings.Contains(strings.Join(plan.Status.Warnings.Texts(), "\n"), "ml/train-1") {
		t.Errorf("decisions %v, warnings %q", plan.Decisions, plan.Status.Warnings)
	}
	s.Declaration.Enforce.OnIneffective = budget.FallbackEvict
	if diff := cmp.Diff([]string{"shorten the end of the pod ml/train-1"}, summaries(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
	s.Owned = false
	if plan := Decide(s, nil); len(plan.Decisions) > 0 {
		t.Errorf("whose it is was not observed, and the decisions are %v", plan.Decisions)
	}
}

// TestWhatAStockPoolIsLeftIsWaitedFor as long as a pause of the budget's own.
func TestWhatAStockPoolIsLeftIsWaitedFor(t *testing.T) {
	t.Parallel()
	p := pod("pool-1", 0)
	p.Of.StockPool = "stock_pool/ml/pool"
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Owned, s.Pods = true, []budget.Pod{p}
	plan := Decide(s, nil)
	if len(plan.Decisions) > 0 || budget.CountEffects(plan.Status.Effects, budget.Pause, budget.Requested) != 1 || plan.Ineffective != nil {
		t.Fatalf("decisions %v, effects %v", plan.Decisions, plan.Status.Effects)
	}
	s.Previous.Effects, s.Now = plan.Status.Effects, noon.Add(budget.EffectTimeout)
	if plan = Decide(s, nil); len(plan.Ineffective) != 1 || plan.Ineffective[0].StockPool != "stock_pool/ml/pool" {
		t.Errorf("once its time is over, %v is ineffective", plan.Ineffective)
	}
}

// TestARequestedPauseIsNotInForce, however many pods do not leave: a status lists a part of them.
func TestARequestedPauseIsNotInForce(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Pause), 100*budget.Hour)
	s.Declaration.Enforce.OnIneffective, s.Owned = budget.FallbackEvict, true
	for n := range 100 { // as many as a status lists
		p := pod(fmt.Sprintf("old-%d", n), 0)
		p.Of.Stopped, p.Of.Workload.UID = true, p.UID
		s.Pods = append(s.Pods, p)
		s.Previous.Effects = append(s.Previous.Effects, budget.NewEffect(budget.Evict, "Pod "+p.String(), p.UID, []string{p.String()},
			noon.Add(-budget.EffectTimeout)))
	}
	s.Pods = append(s.Pods, owned(pod("train-0", 0), "apps/v1", "StatefulSet", "train"))
	plan := Decide(s, nil)
	if got := plan.Status; slices.Contains(got.Enforced, budget.Pause) || got.EffectsLeftOut == 0 ||
		!slices.Contains(summaries(plan), "pause StatefulSet ml/train") {
		t.Errorf("%v is enforced, %d effects are not listed, and the decisions are %v", got.Enforced, got.EffectsLeftOut, summaries(plan))
	}
}
