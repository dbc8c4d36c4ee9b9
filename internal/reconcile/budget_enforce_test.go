package reconcile_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

func TestAlertsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.cluster.failing["Freezes"] = forbidden{}
	d.cluster.start("ml", "a", 2)
	d.run()
	d.cluster.step(time.Hour)
	wantTold(t, d.run(), "done alert")
	wantTold(t, d.run())
	d.cluster.step(time.Hour)
	wantTold(t, d.run(), "done alert", "done alert")
	wantTold(t, d.run())
	if n := len(d.cluster.alerts); n != 3 {
		t.Errorf("%d Events were recorded, want 3", n)
	}
	if acts := slices.DeleteFunc(slices.Clone(d.cluster.acts), func(s string) bool { return s == "Alert ml" }); len(acts) > 0 {
		t.Errorf("beside Events, it did %v", acts)
	}
	report := d.run()
	if b := report.Budgets[0]; b.Outcome != outcome.Done || len(b.Warnings)+len(report.Warnings) > 0 {
		t.Errorf("without the right to see what is in force: %s, %v, %v", b.Outcome, b.Warnings, report.Warnings)
	}
}

// forbidden is what a role without a right is answered.
type forbidden struct{}

func (forbidden) Error() string   { return "cannot list validatingadmissionpolicybindings: forbidden" }
func (forbidden) Forbidden() bool { return true }

func TestAlertThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.cluster.start("ml", "a", 2)
	d.cluster.step(time.Hour)
	d.cluster.failing["Alert"] = errors.New("create events in ml: forbidden")
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != outcome.Failed || !strings.Contains(report.Budgets[0].Error.Message, "create events") {
		t.Errorf("got %v, %+v", err, report.Budgets)
	}
	delete(d.cluster.failing, "Alert")
	wantTold(t, d.run(), "done alert")
}

func TestFreezeIsLifted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Freeze), func(b *budget.Declaration) { b.Window, b.Thresholds = "1h", []int{100} })
	uid := d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	report := d.run()
	wantTold(t, report, "done alert", "done freeze")
	if len(d.cluster.frozen) != 1 || !slices.Equal(report.Budgets[0].Enforced, []budget.Action{budget.Freeze}) {
		t.Errorf("in force is %v, and the report says %v", d.cluster.frozen, report.Budgets[0].Enforced)
	}
	wantTold(t, d.run())
	d.cluster.remove(uid)
	d.cluster.step(45 * time.Minute)
	wantTold(t, d.run(), "done unfreeze")
	if len(d.cluster.frozen) > 0 {
		t.Error("the freeze is still in force")
	}
}

func TestPauseIsUndone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Pause), func(b *budget.Declaration) { b.Window, b.Thresholds = "1h", []int{100} })
	d.cluster.start("ml", "a", 4, ownedBy("Job", "train"))
	d.cluster.start("ml", "b", 4, ownedBy("Deployment", "scaled"))
	loose := d.cluster.start("ml", "c", 4)
	d.cluster.driven["scaled"] = true
	d.cluster.step(time.Hour)
	report := d.run()
	wantTold(t, report, "done alert", "skipped suspend scaled", "done suspend train")
	if report.Budgets[0].Outcome != outcome.Done || len(report.Budgets[0].Warnings) == 0 {
		t.Errorf("outcome %s, warnings %v", report.Budgets[0].Outcome, report.Budgets[0].Warnings)
	}
	d.cluster.driven["scaled"] = false
	wantTold(t, d.run(), "done suspend scaled")
	d.cluster.remove(loose)
	d.cluster.step(45 * time.Minute)
	wantTold(t, d.run(), "done resume train", "done resume scaled")
	wantTold(t, d.run())
}

func TestEvictions(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Enforce.MaxEvictionsPerRun, b.Thresholds = 2, []int{100}
	})
	for _, name := range []string{"a", "b", "c", "d"} {
		d.cluster.start("ml", name, 1)
	}
	d.cluster.start("ml", "kept", 1, func(s *gpu.Sighting) { s.Live.Annotations = map[string]string{"gpupool/protected": "true"} })
	d.cluster.start("web", "other", 1, func(s *gpu.Sighting) { s.Labels = nil })
	d.cluster.blocked["b"] = true
	d.cluster.step(time.Hour)
	used := d.run()
	wantTold(t, used, "done alert", "done freeze", "done evict a", "skipped evict b", "done evict c")
	if first := slices.IndexFunc(d.cluster.acts, func(s string) bool { return strings.HasPrefix(s, "Evict") }); !slices.Contains(d.cluster.acts[:first], "Freeze team-a") {
		t.Errorf("an eviction came before the freeze: %v", d.cluster.acts)
	}
	next := d.run()
	wantTold(t, next, "skipped evict b", "done evict d")
	wantConsumed(t, next, consumed(t, used)) // enforcement lowers no usage
	d.cluster.blocked["b"] = false
	wantTold(t, d.run(), "done evict b")
	wantTold(t, d.run())
	if _, there := d.cluster.pods[d.cluster.list()[0].UID]; !there || len(d.cluster.list()) != 2 {
		t.Errorf("what is left: %v", d.cluster.list())
	}
}

func TestNothingIsEvictedWhereTheFreezeFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	d.cluster.failing["Freeze"] = errors.New("create validatingadmissionpolicybindings: forbidden")
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantTold(t, report, "done alert", "failed freeze", "skipped evict a")
	if failed, _ := report.Failures(); failed != 1 || len(d.cluster.evicted) > 0 {
		t.Errorf("%d failed, evicted %v", failed, d.cluster.evicted)
	}
}

func TestGraceKeepsPods(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare(enforcing(budget.Evict), func(b *budget.Declaration) {
		b.Thresholds, b.GPUHours, b.Enforce.GracePeriod = []int{100}, "100", "20m"
	})
	d.cluster.start("ml", "a", 8)
	d.run()
	d.cluster.step(30 * time.Minute)
	d.run()
	b.GPUHours = "1" // long passed
	if _, err := d.engine().Budgets().Update(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	wantTold(t, d.run(), "done alert")
	d.cluster.step(19 * time.Minute)
	wantTold(t, d.run())
	d.cluster.step(time.Minute)
	wantTold(t, d.run(), "done freeze", "done evict a")
}

// TestChangedMeanwhile changes the budget between its judgement and its
// enforcement: nothing is done by the old declaration.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	done := false
	d.cluster.during = func(method string) {
		if method == "Freezes" && !done {
			done = true
			b.GPUHours = "1000"
			if _, err := d.engine().Budgets().Update(context.Background(), b); err != nil {
				t.Error(err)
			}
		}
	}
	report := d.run()
	if report.Budgets[0].Outcome != outcome.Skipped || len(d.cluster.acts) > 0 {
		t.Errorf("outcome %s, done: %v", report.Budgets[0].Outcome, d.cluster.acts)
	}
	d.cluster.during = nil
	wantTold(t, d.run())
}

// TestFreezeFollowsItsSelector changes the selector of a budget that is frozen,
// with a grace, and a run within it, before the freeze may follow.
func TestFreezeFollowsItsSelector(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare(enforcing(budget.Freeze), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	wantTold(t, d.run(), "done alert", "done freeze")
	b.Selector = budget.Selector{Namespaces: []string{"ml"}}
	b.Enforce.GracePeriod = "20m"
	if _, err := d.engine().Budgets().Update(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	wantTold(t, d.run())
	d.cluster.step(30 * time.Minute)
	wantTold(t, d.run(), "done freeze")
	if f := d.cluster.frozen[b.UID]; !f.Selector.Same(b.Selector) {
		t.Errorf("frozen by %+v", f.Selector)
	}
}

// TestFreezeIsUpheld has someone edit what a freeze covers, and then remove the
// policy that it binds to.
func TestFreezeIsUpheld(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	d.run()
	f := d.cluster.frozen[b.UID]
	f.ProtectedNamespaces = []string{"ml"}
	d.cluster.frozen[b.UID] = f
	wantTold(t, d.run())
	if got := d.cluster.frozen[b.UID].ProtectedNamespaces; len(got) > 0 {
		t.Errorf("it still leaves out %v", got)
	}
	d.cluster.start("ml", "b", 8)
	d.cluster.failing["Freeze"] = errors.New("the policy is not in the cluster")
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantTold(t, report, "failed freeze", "skipped evict b")
	if report.Budgets[0].Outcome != outcome.Failed {
		t.Errorf("the budget is %s", report.Budgets[0].Outcome)
	}
}
