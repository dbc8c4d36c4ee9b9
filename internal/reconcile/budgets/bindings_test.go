package budgets_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// untaken leaves a pod bound to its node, whose kubelet has not taken it.
func untaken(s *gpu.Pod) {
	s.Scheduled, s.Running, s.Phase = ledger.Start{}, ledger.Start{}, "Pending"
}

// bound is a fixture of the budgets team-a and team-b. A run observed that a pod of team a is bound and not
// yet accepted.
func bound(t *testing.T) (d *fixture, uid string) {
	t.Helper()
	d = newFixture(t)
	d.Declare(plenty)
	d.Declare(plenty, func(b *budget.Declaration) { b.Name, b.Selector.MatchLabels = "team-b", map[string]string{"team": "b"} })
	d.Run()
	uid = d.Cluster.Start("ml", "a", 8, untaken)
	d.Cluster.Step(time.Minute)
	wantConsumed(t, d.Run(), "0.000")
	if !d.remembersBindings() {
		t.Fatal("nothing is remembered of the pod")
	}
	return d, uid
}

func (d *fixture) remembersBindings() bool {
	d.t.Helper()
	for key := range d.Documents() {
		if strings.HasSuffix(key, "/bound") {
			return true
		}
	}
	return false
}

// edit changes a pod.
func (d *fixture) edit(uid string, change func(*gpu.Pod)) {
	d.t.Helper()
	s := d.Cluster.Pods[uid]
	change(s)
	d.Cluster.Changed(*s, false)
}

func ofTeamB(s *gpu.Pod) { s.Labels = map[string]string{"team": "b"} }

// taken has the kubelet take a pod that was bound at a moment.
func taken(at time.Time) func(*gpu.Pod) {
	return func(s *gpu.Pod) {
		s.Scheduled, s.Phase = ledger.Start{At: ledger.TimeOf(at), Source: ledger.PodScheduled}, "Running"
	}
}

// TestLabelsOfABoundPodAreThoseOfItsBinding, whatever happens to it between the run
// that saw it bound and the one that sees it counted.
func TestLabelsOfABoundPodAreThoseOfItsBinding(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(d *fixture, uid string, began time.Time){
		"taken": func(d *fixture, uid string, began time.Time) { d.edit(uid, taken(began)) },
		"taken when the history is lost": func(d *fixture, uid string, began time.Time) {
			d.edit(uid, taken(began))
			d.Cluster.Forget()
		},
		"taken after a list": func(d *fixture, uid string, began time.Time) {
			d.Cluster.Forget()
			d.Run()
			d.edit(uid, taken(began))
		},
		"taken and deleted between two runs": func(d *fixture, uid string, began time.Time) {
			d.edit(uid, taken(began))
			d.Cluster.Step(time.Hour - 2*time.Minute)
			d.Cluster.Remove(uid)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, uid := bound(t)
			began := d.Cluster.Now().Add(-time.Minute)
			d.edit(uid, ofTeamB)
			d.Cluster.Step(time.Minute)
			d.Run()
			happens(d, uid, began)
			d.Cluster.Step(began.Add(time.Hour).Sub(d.Cluster.Now()))
			r := d.Run()
			wantConsumed(t, r, "8.000")
			if other := r.Budgets[1]; other.Name != "team-b" || other.ConsumedGPUHours != "0.000" {
				t.Errorf("the budget %s counts %s GPU-hours", other.Name, other.ConsumedGPUHours)
			}
			if d.remembersBindings() {
				t.Error("the pod has a record, and its binding is remembered still")
			}
		})
	}
}

// TestAPodThatGoesWhileTheListIsReadKeepsItsBinding: it was taken after the run
// before, and the list of this one lacks it already.
func TestAPodThatGoesWhileTheListIsReadKeepsItsBinding(t *testing.T) {
	t.Parallel()
	d, uid := bound(t)
	began := d.Cluster.Now().Add(-time.Minute)
	d.edit(uid, ofTeamB)
	d.Run()
	d.relist()
	d.edit(uid, taken(began))
	d.Cluster.Step(29 * time.Minute)
	d.Cluster.Listing = func() {
		if _, there := d.Cluster.Pods[uid]; there {
			d.Cluster.Remove(uid)
		}
	}
	wantConsumed(t, d.Run(), "4.000")
}

// TestDeletedBoundPodsAreForgotten has a list, or a replay, report the deletion.
func TestDeletedBoundPodsAreForgotten(t *testing.T) {
	t.Parallel()
	for name, goes := range map[string]func(d *fixture, uid string){
		"deleted":                       func(d *fixture, uid string) { d.Cluster.Remove(uid) },
		"deleted, and the history lost": func(d *fixture, uid string) { d.Cluster.Remove(uid); d.Cluster.Forget() },
		"missing": func(d *fixture, uid string) {
			d.Cluster.Step(2 * time.Hour)
			delete(d.Cluster.Pods, uid)
			d.Cluster.History = nil
		},
		"failed": func(d *fixture, uid string) { d.edit(uid, func(s *gpu.Pod) { s.Phase = "Failed" }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, uid := bound(t)
			goes(d, uid)
			d.Run()
			if d.remembersBindings() {
				t.Error("it is remembered")
			}
		})
	}
}

// TestMoreBoundPodsThanAreRememberedAreTold: those that were seen first are forgotten.
func TestMoreBoundPodsThanAreRememberedAreTold(t *testing.T) {
	t.Parallel()
	d, _ := bound(t)
	for n := range ledger.MostBindings {
		d.Cluster.Start("ml", fmt.Sprintf("pod-%d", n), 1, untaken)
	}
	d.Cluster.Step(time.Minute)
	if warnings := strings.Join(d.Run().Warnings.Texts(), "\n"); !strings.Contains(warnings, "The labels at the binding of the 1 earliest are dropped") {
		t.Errorf("warnings %q", warnings)
	}
}

// TestLostBindingsAreTold and stop nothing.
func TestLostBindingsAreTold(t *testing.T) {
	t.Parallel()
	d, uid := bound(t)
	docs, err := d.Store().List(t.Context(), store.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		if strings.HasSuffix(doc.Key.Name, "/bound") {
			if _, err := d.Store().Write(t.Context(), doc.Key, doc.Data[:len(doc.Data)-1], doc.Revision); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.edit(uid, taken(d.Cluster.Now().Add(-time.Minute)))
	r := d.Run()
	if warnings := strings.Join(r.Warnings.Texts(), "\n"); !strings.Contains(warnings, "by the labels that they have when they are next observed") {
		t.Errorf("warnings %q", warnings)
	}
	if r = d.Run(); len(r.Warnings) > 0 {
		t.Errorf("the next run warns %q", r.Warnings)
	}
}

// TestAPodThatIsTakenWhileABudgetIsEnforcedIsItsBindings: no budget evicts a pod whose
// hours it does not count.
func TestAPodThatIsTakenWhileABudgetIsEnforcedIsItsBindings(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Selector.MatchLabels = map[string]string{"team": "b"} })
	d.Cluster.Start("ml", "used", 8, ofTeamB)
	d.Run()
	uid := d.Cluster.Start("ml", "a", 8, untaken)
	d.Cluster.Step(time.Minute)
	d.Run()
	d.edit(uid, ofTeamB)
	d.Cluster.Step(time.Hour)
	d.Cluster.Hook = faults.Before(func(method string) {
		if s, there := d.Cluster.Pods[uid]; method == "LivePods" && there {
			taken(d.Cluster.Now())(s)
		}
	})
	d.Run()
	if !slices.Equal(d.Cluster.Evicted, []string{"used"}) {
		t.Errorf("%v were evicted, want the one that the budget counts", d.Cluster.Evicted)
	}
}

// TestABoundPodKeepsTheLabelsOfItsNamespace where that is gone when the pod counts.
func TestABoundPodKeepsTheLabelsOfItsNamespace(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(func(b *budget.Declaration) {
		b.Selector = budget.Selector{NamespaceLabels: map[string]string{"kind": "research"}}
	})
	uid := d.Cluster.Start("ml", "a", 4, untaken)
	d.Run()
	d.edit(uid, taken(d.Cluster.Now()))
	d.Cluster.Step(30 * time.Minute)
	d.Cluster.Remove(uid)
	d.Cluster.Former = map[string]map[string]string{uid: nil}
	r := d.Run()
	wantConsumed(t, r, "2.000")
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %q", r.Warnings)
	}
}
