package budgets_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// events lists the new Events of the cluster, except for thresholds, as "reason on what: message", without
// the reasons in it.
func (d *fixture) events() []string {
	var list []string
	for _, a := range d.Cluster.Alerts {
		if a.Reason == "GPUBudgetThreshold" {
			continue
		}
		about := "Namespace " + a.Namespace
		if a.About != nil {
			about = fmt.Sprintf("%s %s/%s", a.About.Kind, a.Namespace, a.About.Name)
		}
		message, because, _ := strings.Cut(strings.TrimPrefix(a.Message, "GPU budget "+a.Budget+": "), ": ")
		if because == "" {
			d.t.Errorf("it says no reason: %s", a.Message)
		}
		list = append(list, a.Reason+" on "+about+": "+message)
	}
	d.Cluster.Alerts = nil
	slices.Sort(list)
	return list
}

func (d *fixture) wantEvents(when string, want ...string) {
	d.t.Helper()
	if diff := cmp.Diff(want, d.events()); diff != "" {
		d.t.Errorf("%s (-want +got)\n%s", when, diff)
	}
}

// TestMeasuresCreateEvents expects Events in a namespace for evicted pods, paused jobs and blocked pods, and
// for the end of each measure.
func TestMeasuresCreateEvents(t *testing.T) {
	t.Parallel()
	frozen := "GPUBudgetFreeze on Namespace ml: new GPU pods are blocked"
	lifted := "GPUBudgetLift on Namespace ml: new GPU pods are allowed again"
	for action, want := range map[budget.Action]struct{ enforced, lifted []string }{
		budget.AlertOnly: {},
		budget.Freeze:    {[]string{frozen}, []string{lifted}},
		budget.Pause:     {[]string{"GPUBudgetPause on Job ml/train: pausing"}, []string{"GPUBudgetResume on Job ml/train: resumed"}},
		budget.Evict:     {[]string{"GPUBudgetEvict on Pod ml/a: evicting", frozen}, []string{lifted}},
	} {
		for name, lift := range map[string]func(d *fixture, b budget.Declaration){
			"usage falls": func(d *fixture, _ budget.Declaration) {
				for uid := range d.Cluster.Pods {
					d.Cluster.Remove(uid)
				}
				d.Cluster.Step(72 * time.Hour)
				d.Run()
			},
			"the budget is destroyed": func(d *fixture, b budget.Declaration) {
				if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
					d.t.Fatal(err)
				}
			},
		} {
			t.Run(string(action)+" until "+name, func(t *testing.T) {
				t.Parallel()
				d := newFixture(t)
				b := d.Declare(enforcing(action))
				d.Cluster.Start("ml", "a", 8, ownedBy("Job", "train"))
				d.Cluster.Step(time.Hour)
				d.Run()
				d.wantEvents("enforced", want.enforced...)
				d.Run()
				d.wantEvents("and again")
				lift(d, b)
				d.wantEvents("lifted", want.lifted...)
			})
		}
	}
}

// TestMeasuresNeedNoEvents does what is to be done where Events can't be made,
// and says so once.
func TestMeasuresNeedNoEvents(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Enforce.GracePeriod = "10m" })
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Start("ml", "b", 8)
	d.Cluster.Step(time.Hour)
	d.Run()
	d.Cluster.Step(10 * time.Minute)
	d.Cluster.Failing["Alert"] = errors.New("cannot create events ml/x: forbidden")
	report := d.Run()
	wantTold(t, report, "done freeze", "done evict a", "done evict b")
	if len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0].String(), "cannot create events") {
		t.Errorf("warnings %q", report.Warnings)
	}
	messages, err := d.Budgets().Delete(context.Background(), b)
	if err != nil || len(d.Cluster.Frozen) > 0 || !strings.Contains(strings.Join(messages.Texts(), "\n"), "cannot create events") {
		t.Errorf("destroyed: %v, frozen %v, notices %q", err, d.Cluster.Frozen, messages)
	}
}

// TestEndOfAFreezeIsReportedInTheSameNamespaces expects Events of the end in no other namespaces than those
// of the beginning, even if the budget is destroyed.
func TestEndOfAFreezeIsReportedInTheSameNamespaces(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Freeze))
	var want []string
	for n := range 30 {
		namespace, gpus := fmt.Sprintf("ml-%02d", n), int64(1)
		if n >= 10 {
			gpus = 2
			want = append(want, "GPUBudgetLift on Namespace "+namespace+": new GPU pods are allowed again")
		}
		d.Cluster.Start(namespace, namespace, gpus)
	}
	d.Cluster.Step(time.Hour)
	d.Run()
	d.events()
	if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	d.wantEvents("destroyed", want...)
}
