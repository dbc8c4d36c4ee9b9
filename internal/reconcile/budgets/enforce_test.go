package budgets_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

func TestAThresholdIsToldOfOnce(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	d.Cluster.Failing["Freezes"] = forbidden{}
	d.Cluster.Start("ml", "a", 2)
	d.Run()
	d.Cluster.Step(time.Hour)
	wantTold(t, d.Run(), "done alert")
	wantTold(t, d.Run())
	d.Cluster.Step(time.Hour)
	wantTold(t, d.Run(), "done alert")
	wantTold(t, d.Run())
	if n := len(d.Cluster.Alerts); n != 2 || !strings.Contains(d.Cluster.Alerts[1].Message, ": 80 and 100% reached: ") {
		t.Errorf("%d Events were recorded, want 2, the second of two thresholds: %v", n, d.Cluster.Alerts)
	}
	if acts := slices.DeleteFunc(slices.Clone(d.Cluster.Acts), func(s string) bool { return s == "Alert ml" }); len(acts) > 0 {
		t.Errorf("beside Events, it did %v", acts)
	}
	report := d.Run()
	if b := report.Budgets[0]; b.Outcome != outcome.Done || len(b.Warnings)+len(report.Warnings) > 0 {
		t.Errorf("without the right to see what is in force: %s, %v, %v", b.Outcome, b.Warnings, report.Warnings)
	}
}

// forbidden is what a role without a right is answered.
type forbidden struct{}

func (forbidden) Error() string   { return "cannot list validatingadmissionpolicybindings: forbidden" }
func (forbidden) Forbidden() bool { return true }

func TestAnAlertThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	d.Cluster.Start("ml", "a", 2)
	d.Cluster.Step(time.Hour)
	d.Cluster.Failing["Alert"] = errors.New("create events in ml: forbidden")
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != outcome.Failed || !strings.Contains(report.Budgets[0].Error.Message, "create events") {
		t.Errorf("got %v, %+v", err, report.Budgets)
	}
	delete(d.Cluster.Failing, "Alert")
	wantTold(t, d.Run(), "done alert")
}

func TestAFreezeIsLiftedBelowTheLimit(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Freeze), func(b *budget.Declaration) { b.Window, b.Thresholds = "1h", []int{100} })
	uid := d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	report := d.Run()
	wantTold(t, report, "done alert", "done freeze")
	if len(d.Cluster.Frozen) != 1 || budget.CountEffects(report.Budgets[0].Effects, budget.Freeze, budget.Requested) != 1 {
		t.Errorf("in force is %v, and the report says %v", d.Cluster.Frozen, report.Budgets[0].Effects)
	}
	report = d.Run()
	wantTold(t, report)
	if b := report.Budgets[0]; b.Effects != nil || !slices.Equal(b.Enforced, []budget.Action{budget.Freeze}) {
		t.Errorf("once it was observed, %v is enforced, and the effects are %v", b.Enforced, b.Effects)
	}
	d.Cluster.Remove(uid)
	d.Cluster.Step(45 * time.Minute)
	wantTold(t, d.Run(), "done unfreeze")
	if len(d.Cluster.Frozen) > 0 {
		t.Error("the freeze is still in force")
	}
}

func TestAPauseIsUndoneBelowTheLimit(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Pause), func(b *budget.Declaration) { b.Window, b.Thresholds = "1h", []int{100} })
	d.Cluster.Start("ml", "a", 4, ownedBy("Job", "train"))
	d.Cluster.Start("ml", "b", 4, ownedBy("Deployment", "scaled"))
	loose := d.Cluster.Start("ml", "c", 4)
	d.Cluster.Driven["scaled"] = true
	d.Cluster.Step(time.Hour)
	b, report := d.once()
	wantTold(t, report, "done alert", "done suspend train")
	want := []string{
		"ineffective pause Deployment ml/scaled: the HorizontalPodAutoscaler auto scales it from zero, and would undo it; 1 pod holds GPUs (ml/b)",
		"ineffective pause Pod ml/c: it has no owner", "requested pause Job ml/train: 1 pod holds GPUs (ml/a)",
	}
	if diff := cmp.Diff(want, effectsOf(b)); diff != "" || b.Outcome != outcome.Failed {
		t.Errorf("outcome %s, effects %s", b.Outcome, diff)
	}
	d.Cluster.Driven["scaled"] = false
	_, report = d.once()
	wantTold(t, report, "done suspend scaled")
	d.Cluster.Remove(loose)
	d.Cluster.Step(45 * time.Minute)
	wantTold(t, d.Run(), "done resume scaled", "done resume train")
	wantTold(t, d.Run())
}

func TestEvictionsKeepTheirOrderAndNumber(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Enforce.MaxEvictionsPerRun, b.Thresholds = 2, []int{100}
	})
	for _, name := range []string{"a", "b", "c", "d"} {
		d.Cluster.Start("ml", name, 1)
	}
	d.Cluster.Start("ml", "kept", 1, func(s *gpu.Pod) { s.Annotations = map[string]string{"gpupool/protected": "true"} })
	d.Cluster.Start("web", "other", 1, func(s *gpu.Pod) { s.Labels = nil })
	d.Cluster.Blocked["b"] = true
	d.Cluster.Step(time.Hour)
	used := d.Run()
	wantTold(t, used, "done alert", "done freeze", "done evict a", "skipped evict b", "done evict c")
	if first := slices.IndexFunc(d.Cluster.Acts, func(s string) bool { return strings.HasPrefix(s, "Evict") }); !slices.Contains(d.Cluster.Acts[:first],
		"Freeze team-a") {
		t.Errorf("an eviction came before the freeze: %v", d.Cluster.Acts)
	}
	next := d.Run()
	wantTold(t, next, "skipped evict b", "done evict d")
	wantConsumed(t, next, reconciletest.Consumed(t, used)) // enforcement lowers no usage
	d.Cluster.Blocked["b"] = false
	wantTold(t, d.Run(), "done evict b")
	wantTold(t, d.Run())
	if _, there := d.Cluster.Pods[d.Cluster.List()[0].UID]; !there || len(d.Cluster.List()) != 2 {
		t.Errorf("what is left: %v", d.Cluster.List())
	}
}

func TestNothingIsEvictedWhereTheFreezeFails(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	d.Cluster.Failing["Freeze"] = errors.New("create validatingadmissionpolicybindings: forbidden")
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantTold(t, report, "done alert", "failed freeze", "skipped evict a")
	if failed, _ := report.Failures(); failed != 1 || len(d.Cluster.Evicted) > 0 {
		t.Errorf("%d failed, evicted %v", failed, d.Cluster.Evicted)
	}
}

func TestGraceKeepsPods(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Thresholds, b.GPUHours, b.Enforce.GracePeriod = []int{100}, "100", "20m"
	})
	d.Cluster.Start("ml", "a", 8)
	d.Run()
	d.Cluster.Step(30 * time.Minute)
	d.Run()
	b.GPUHours = "1" // long passed
	if _, err := d.Budgets().Update(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	wantTold(t, d.Run(), "done alert")
	d.Cluster.Step(19 * time.Minute)
	wantTold(t, d.Run())
	d.Cluster.Step(time.Minute)
	wantTold(t, d.Run(), "done freeze", "done evict a")
}

// TestABudgetThatIsChangedMeanwhileIsLeft changes the budget between its judgement
// and its enforcement: nothing is done by the old declaration.
func TestABudgetThatIsChangedMeanwhileIsLeft(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	done := false
	d.Cluster.Hook = faults.Before(func(method string) {
		if method == "Freezes" && !done {
			done = true
			b.GPUHours = "1000"
			if _, err := d.Budgets().Update(context.Background(), b); err != nil {
				t.Error(err)
			}
		}
	})
	report := d.Run()
	if report.Budgets[0].Outcome != outcome.Skipped || len(d.Cluster.Acts) > 0 {
		t.Errorf("outcome %s, done: %v", report.Budgets[0].Outcome, d.Cluster.Acts)
	}
	d.Cluster.Hook = nil
	wantTold(t, d.Run())
}

// TestFreezeFollowsItsSelector changes the selector of a budget that is frozen,
// with a grace, and a run within it, before the freeze may follow.
func TestFreezeFollowsItsSelector(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Freeze), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	wantTold(t, d.Run(), "done alert", "done freeze")
	b.Selector = budget.Selector{Namespaces: []string{"ml"}}
	b.Enforce.GracePeriod = "20m"
	if _, err := d.Budgets().Update(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	wantTold(t, d.Run())
	d.Cluster.Step(30 * time.Minute)
	wantTold(t, d.Run(), "done freeze")
	if f := d.Cluster.Frozen[b.UID]; !f.Selector.Same(b.Selector) {
		t.Errorf("frozen by %+v", f.Selector)
	}
}

// TestFreezeIsRepaired edits the selector of a freeze, and then removes the policy that it binds to.
func TestFreezeIsRepaired(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	d.Run()
	f := d.Cluster.Frozen[b.UID]
	f.ProtectedNamespaces = []string{"ml"}
	d.Cluster.Frozen[b.UID] = f
	wantTold(t, d.Run())
	if got := d.Cluster.Frozen[b.UID].ProtectedNamespaces; len(got) > 0 {
		t.Errorf("it still leaves out %v", got)
	}
	d.Cluster.Start("ml", "b", 8)
	d.Cluster.Failing["Freeze"] = errors.New("the policy is not in the cluster")
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantTold(t, report, "failed freeze", "skipped evict b")
	if report.Budgets[0].Outcome != outcome.Failed {
		t.Errorf("the budget is %s", report.Budgets[0].Outcome)
	}
}
