package budgets_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

// unreached is a fixture of a due budget with a Job, and with three pods that no pause reaches. One is bare, one
// is of a workload that an autoscaler scales from zero, and the cluster refuses to pause the Job of the third.
func unreached(t *testing.T, with ...func(*budget.Declaration)) *fixture {
	t.Helper()
	d, _ := training(t, append(with, quietly)...)
	d.Cluster.Start("ml", "bare", 1)
	d.Cluster.Start("ml", "web-1", 1, ownedBy("Deployment", "web"))
	d.Cluster.Start("ml", "strict-1", 1, ownedBy("Job", "strict"))
	d.Cluster.Driven["web"] = true
	d.Cluster.Refused = map[string]string{"strict": "the cluster refuses the change: a webhook says no"}
	return d
}

// described is the one budget as later processes read it.
func (d *fixture) described() budgets.Description {
	d.t.Helper()
	list, err := d.Runner().Status(d.t.Context())
	if err != nil || len(list.Budgets) != 1 {
		d.t.Fatalf("%+v, %v", list.Budgets, err)
	}
	return list.Budgets[0]
}

// TestWhatAPauseDoesNotReachIsReportedEverywhere: in the run, in later runs and readings, in the history and
// in Events, each of these once; and in the exit code.
func TestWhatAPauseDoesNotReachIsReportedEverywhere(t *testing.T) {
	t.Parallel()
	d := unreached(t)
	want := []string{
		"ineffective pause Deployment ml/web: the HorizontalPodAutoscaler auto scales it from zero, and would undo it; 1 pod holds GPUs (ml/web-1)",
		"ineffective pause Job ml/strict: the cluster refuses the change: a webhook says no; 1 pod holds GPUs (ml/strict-1)",
		"ineffective pause Pod ml/bare: it has no owner",
	}
	for n := range 3 {
		b, r := d.once()
		got := slices.DeleteFunc(effectsOf(b), func(text string) bool { return strings.HasPrefix(text, "requested") })
		if diff := cmp.Diff(want, got); diff != "" || b.Enforced != nil {
			t.Errorf("run %d: %v is enforced, and the effects are %s", n, b.Enforced, diff)
		}
		if failed, _ := r.Failures(); failed != 1 || b.Error == nil {
			t.Fatalf("run %d: %d declarations failed: %+v", n, failed, b.Error)
		}
		for _, name := range []string{"Pod ml/bare (it has no owner)", "Deployment ml/web (", "Job ml/strict ("} {
			if !strings.Contains(b.Error.Message, name) {
				t.Errorf("run %d: the error lacks %q: %s", n, name, b.Error.Message)
			}
		}
		d.Cluster.Step(time.Minute)
	}
	later := d.described()
	if got := effectsOf(later.Report); !cmp.Equal(want, got) || !slices.Contains(later.State, state.Ineffective) || slices.Contains(later.State, state.Paused) {
		t.Errorf("a later process reads %v, %v", later.State, got)
	}
	measures := d.measures()
	slices.Sort(measures)
	if diff := cmp.Diff([]string{
		"pause ml/Job/train requested",
		"paused ml/Deployment/web ineffective the HorizontalPodAutoscaler auto scales it from zero, and would undo it; 1 pod holds GPUs (ml/web-1)",
		"paused ml/Job/strict ineffective the cluster refuses the change: a webhook says no; 1 pod holds GPUs (ml/strict-1)",
		"paused ml/Job/train done",
		"paused ml/Pod/bare ineffective it has no owner",
	}, measures); diff != "" {
		t.Errorf("the history (-want +got):\n%s", diff)
	}
	d.wantEvents("of three runs", "GPUBudgetIneffective on Deployment ml/web: its pods still hold GPUs",
		"GPUBudgetIneffective on Job ml/strict: its pods still hold GPUs", "GPUBudgetIneffective on Pod ml/bare: its pods still hold GPUs",
		"GPUBudgetPause on Job ml/train: pausing")
}

// TestWhatAPauseDoesNotReachIsWrittenOnce: later runs write the measurements only. They try a refused pause again.
func TestWhatAPauseDoesNotReachIsWrittenOnce(t *testing.T) {
	t.Parallel()
	d := unreached(t)
	d.Cluster.Refused = nil
	for range 3 {
		d.once()
		d.Cluster.Step(time.Minute)
	}
	before := d.Documents()
	d.once()
	after := d.Documents()
	maps.DeleteFunc(after, func(key, text string) bool { return before[key] == text || strings.HasPrefix(key, "ledger/") })
	delete(after, "statuses/last_day")
	if diff := cmp.Diff([]string{"statuses/budget_usage", "statuses/last_run"}, slices.Sorted(maps.Keys(after))); diff != "" {
		t.Errorf("the run wrote (-want +got):\n%s", diff)
	}
}

// TestEvictionsReachWhatAPauseDoesNot where the declaration says so: a refused pause is tried again first.
func TestEvictionsReachWhatAPauseDoesNot(t *testing.T) {
	t.Parallel()
	d := unreached(t, func(b *budget.Declaration) { b.Enforce.OnIneffective = budget.FallbackEvict })
	wantTold(t, d.Run(), "done alert", "skipped suspend strict", "done suspend train", "done freeze", "done evict bare", "done evict web-1")
	d.Cluster.Step(time.Minute)
	wantTold(t, d.Run(), "skipped suspend strict", "done evict strict-1")
	d.Cluster.Step(time.Minute)
	b, r := d.once()
	wantTold(t, r)
	if len(d.Cluster.List()) > 0 || b.Effects != nil || !slices.Equal(b.Enforced, []budget.Action{budget.Freeze, budget.Pause}) {
		t.Errorf("left are %v; %v is enforced, and the effects are %v", d.Cluster.List(), b.Enforced, effectsOf(b))
	}

	d = unreached(t, func(b *budget.Declaration) { b.Enforce.OnIneffective = budget.FallbackEvict })
	d.Run()
	d.Cluster.Refused = nil
	wantTold(t, d.Run(), "done suspend strict", "skipped evict strict-1")
}

// TestABlockedEvictionIsIneffectiveInTheEnd: a disruption budget may allow it for ten minutes.
func TestABlockedEvictionIsIneffectiveInTheEnd(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), quietly)
	d.Cluster.Start("ml", "a", 8, func(p *gpu.Pod) { p.Labels = map[string]string{"team": "a"} })
	d.Cluster.Blocked["a"] = true
	d.Cluster.Step(time.Hour)
	for passed := time.Duration(0); passed < budget.EffectTimeout; passed += 4 * time.Minute {
		b, _ := d.once()
		if got := fmt.Sprint(effectsOf(b)); !strings.Contains(got, "requested evict Pod ml/a: a disruption budget needs it") || b.Error != nil {
			t.Errorf("after %s: %v, %+v", passed, got, b.Error)
		}
		d.Cluster.Step(4 * time.Minute)
	}
	b, _ := d.once()
	if got := effectsOf(b); !slices.Equal(got, []string{"ineffective evict Pod ml/a: a disruption budget needs it"}) || b.Error == nil ||
		!strings.Contains(b.Error.Message, "1 object cannot be evicted: Pod ml/a (a disruption budget needs it)") {
		t.Errorf("in the end: %v, %+v", got, b.Error)
	}
	d.Cluster.Blocked["a"] = false
	wantTold(t, d.Run(), "done evict a")
	d.Cluster.Step(time.Minute)
	if b, _ = d.once(); b.Effects != nil || b.Error != nil {
		t.Errorf("once it was evicted: %v, %+v", effectsOf(b), b.Error)
	}
	want := []string{"freeze  requested", "frozen  done", "evicted ml/a ineffective a disruption budget needs it", "evict ml/a requested", "evicted ml/a done"}
	if diff := cmp.Diff(want, d.measures()); diff != "" {
		t.Errorf("the history (-want +got):\n%s", diff)
	}
}

// TestAnEvictionThatFailsAJobIsReported in the plan, and in the history.
func TestAnEvictionThatFailsAJobIsReported(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), quietly)
	d.Cluster.FailuresLeft = map[string]int{"patient": 1}
	d.Cluster.Start("ml", "a", 8, ownedBy("Job", "strict"))
	d.Cluster.Start("ml", "b", 8, ownedBy("Job", "patient"))
	d.Cluster.Step(time.Hour)
	dry := d.DryRun()
	d.Run()
	answer, err := (&eventlog.Log{Store: d.Store(), Now: d.Cluster.Now}).Ask(t.Context(), history.Query{Kinds: []history.Kind{history.Evict}})
	if err != nil || len(answer.Events) != 2 {
		t.Fatalf("%+v, %v", answer.Events, err)
	}
	reasons := map[string][]string{}
	for _, e := range answer.Events {
		reasons["history of "+e.Pods[0].Name] = e.Reasons.Texts()
	}
	for _, r := range dry.Decisions {
		if of, ok := r.Decision.(budget.Decision); ok && of.Pod != nil {
			reasons["plan of "+of.Pod.Name] = of.Reasons.Texts()
		}
	}
	for what, fails := range map[string]bool{"history of a": true, "plan of a": true, "history of b": false, "plan of b": false} {
		if got := reasons[what]; len(got) == 0 || strings.Contains(strings.Join(got, "; "), "it fails its Job ml/strict for good") != fails {
			t.Errorf("%s: %q", what, got)
		}
	}
}
