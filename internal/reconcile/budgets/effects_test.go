package budgets_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// once is what a run reports of the one budget.
func (d *fixture) once() (budgets.Report, reconcile.Report) {
	d.t.Helper()
	r, err := d.Runner().Run(d.t.Context(), reconcile.RunOptions{})
	if err != nil || len(r.Budgets) != 1 {
		d.t.Fatalf("%+v, %v", r.Budgets, err)
	}
	return r.Budgets[0], r
}

// effectsOf are the effects of a report, in short.
func effectsOf(b budgets.Report) []string {
	var list []string
	for _, e := range b.Effects {
		list = append(list, string(e.Phase)+" "+string(e.Measure)+" "+e.String())
	}
	return list
}

// measures lists the requests and observations in the history: the kind, the object, the outcome, and why it
// was not done.
func (d *fixture) measures() (list []string) {
	d.t.Helper()
	answer, err := (&eventlog.Log{Store: d.Store(), Now: d.Cluster.Now}).Ask(d.t.Context(), history.Query{Kinds: []history.Kind{
		history.Freeze, history.Frozen, history.Pause, history.Paused, history.Evict, history.Evicted,
	}})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, e := range answer.Events {
		of, why := "", ""
		for _, i := range slices.Concat(e.Workloads, e.Pods) {
			of = i.String()
		}
		if e.Outcome == string(budget.Ineffective) {
			why = strings.Join(e.Reasons.Texts(), "; ")
		}
		list = append(list, strings.TrimRight(strings.Join([]string{string(e.Kind), of, e.Outcome, why}, " "), " "))
	}
	return list
}

// TestAPauseIsRequestedUntilAnObservationShowsIt, and then in force.
func TestAPauseIsRequestedUntilAnObservationShowsIt(t *testing.T) {
	t.Parallel()
	d, _ := training(t)
	b, _ := d.once()
	if diff := cmp.Diff([]string{"requested pause Job ml/train: 1 pod holds GPUs (ml/a)"}, effectsOf(b)); diff != "" || b.Enforced != nil {
		t.Errorf("enforced %v, effects %s", b.Enforced, diff)
	}
	told := map[history.Kind]int{history.Create: 1, history.Exceeded: 1, history.Pause: 1}
	d.tells(told)
	d.Cluster.Step(time.Minute)
	if b, _ = d.once(); b.Effects != nil || !cmp.Equal(b.Enforced, []budget.Action{budget.Pause}) {
		t.Errorf("no pod is left, and %v is enforced, with the effects %v", b.Enforced, effectsOf(b))
	}
	told[history.Paused] = 1
	d.tells(told)
}

// TestAPauseWhosePodsRunIsIneffective: it never reads as paused, fails the run once its time
// is over, and recovers by itself.
func TestAPauseWhosePodsRunIsIneffective(t *testing.T) {
	t.Parallel()
	d, _ := training(t)
	d.Cluster.Stuck["train"] = true
	for passed := time.Duration(0); passed < budget.EffectTimeout; passed += 4 * time.Minute {
		b, r := d.once()
		diff := cmp.Diff([]string{"requested pause Job ml/train: 1 pod holds GPUs (ml/a)"}, effectsOf(b))
		if diff != "" || b.Enforced != nil || b.Error != nil {
			t.Errorf("after %s, enforced %v, error %v, effects %s", passed, b.Enforced, b.Error, diff)
		}
		for _, result := range r.Decisions {
			if told := result.Verb().Past; strings.Contains(told, "paused") {
				t.Errorf("a run says %s", told)
			}
		}
		d.Cluster.Step(4 * time.Minute)
	}
	b, r := d.once()
	if diff := cmp.Diff([]string{"ineffective pause Job ml/train: 1 pod holds GPUs (ml/a)"}, effectsOf(b)); diff != "" || b.Enforced != nil {
		t.Errorf("enforced %v, effects %s", b.Enforced, diff)
	}
	if b.Outcome != outcome.Failed || b.Error == nil || !strings.Contains(b.Error.Message, "ml/a") {
		t.Errorf("%s: %+v", b.Outcome, b.Error)
	}
	if failed, _ := r.Failures(); failed != 1 {
		t.Errorf("%d declarations failed", failed)
	}
	for uid := range d.Cluster.Pods {
		d.Cluster.Remove(uid)
	}
	d.Cluster.Step(time.Minute)
	if b, _ = d.once(); b.Effects != nil || b.Error != nil || !cmp.Equal(b.Enforced, []budget.Action{budget.Pause}) {
		t.Errorf("no pod is left, and %v is enforced, with the effects %v and the error %v", b.Enforced, effectsOf(b), b.Error)
	}
	want := []string{"pause ml/Job/train requested", "paused ml/Job/train ineffective 1 pod holds GPUs (ml/a)", "paused ml/Job/train done"}
	if diff := cmp.Diff(want, d.measures()); diff != "" {
		t.Errorf("the history (-want +got):\n%s", diff)
	}
}

// TestAnIneffectivePauseFallsBackToEvictions where the declaration says so; a freeze keeps
// out what comes in their place, until usage has fallen.
func TestAnIneffectivePauseFallsBackToEvictions(t *testing.T) {
	t.Parallel()
	d, _ := training(t, func(b *budget.Declaration) { b.Enforce.OnIneffective = budget.FallbackEvict })
	d.Cluster.Stuck["train"] = true
	d.once()
	if len(d.Cluster.Evicted) > 0 {
		t.Fatal("it evicts at once")
	}
	d.Cluster.Step(budget.EffectTimeout)
	b, _ := d.once()
	if !slices.Equal(d.Cluster.Evicted, []string{"a"}) || len(d.Cluster.Frozen) != 1 || b.Error != nil {
		t.Errorf("it evicted %v, froze %v, and fails with %v", d.Cluster.Evicted, d.Cluster.Frozen, b.Error)
	}
	d.Cluster.Step(time.Minute)
	if b, _ = d.once(); b.Effects != nil || !cmp.Equal(b.Enforced, []budget.Action{budget.Freeze, budget.Pause}) {
		t.Errorf("the pod is gone, and %v is enforced, with the effects %v", b.Enforced, effectsOf(b))
	}
	d.Cluster.Step(30 * 24 * time.Hour)
	if b, _ = d.once(); b.Effects != nil || b.Enforced != nil || len(d.Cluster.Frozen) > 0 {
		t.Errorf("usage fell, and %v is enforced, with the effects %v", b.Enforced, effectsOf(b))
	}
	want := []string{
		"pause ml/Job/train requested", "paused ml/Job/train ineffective 1 pod holds GPUs (ml/a)", "freeze  requested", "evict ml/a requested",
		"paused ml/Job/train done", "evicted ml/a done", "frozen  done",
	}
	if diff := cmp.Diff(want, d.measures()); diff != "" {
		t.Errorf("the history (-want +got):\n%s", diff)
	}
}

// TestThePodsBesideAProtectedOneAreWarnedOf: their workload is left as a whole.
func TestThePodsBesideAProtectedOneAreWarnedOf(t *testing.T) {
	t.Parallel()
	d, _ := training(t)
	d.Cluster.Start("ml", "b", 1, ownedBy("Job", "train"))
	for _, p := range d.Cluster.Pods {
		if p.Name == "b" {
			p.Annotations = map[string]string{budget.ProtectedKey: "true"}
		}
	}
	b, _ := d.once()
	if text := strings.Join(b.Warnings.Texts(), "\n"); !strings.Contains(text, "ml/a (the Job ml/train has a protected pod)") {
		t.Errorf("it warns %s", text)
	}
}
