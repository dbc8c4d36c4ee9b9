package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// untaken leaves a pod bound to its node, whose kubelet has not taken it.
func untaken(s *gpu.Sighting) {
	s.Scheduled, s.Running, s.Live.Phase = gpu.Start{}, gpu.Start{}, "Pending"
}

// bound is a desk of the budgets team-a and team-b, and a pod of team a that a run
// saw bound and not yet taken.
func bound(t *testing.T) (d *desk, uid string) {
	t.Helper()
	d = newDesk(t)
	d.declare(plenty)
	d.declare(plenty, func(b *budget.Declaration) { b.Name, b.Selector.MatchLabels = "team-b", map[string]string{"team": "b"} })
	d.run()
	uid = d.cluster.start("ml", "a", 8, untaken)
	d.cluster.step(time.Minute)
	wantConsumed(t, d.run(), "0.000")
	if !d.remembersBindings() {
		t.Fatal("nothing is remembered of the pod")
	}
	return d, uid
}

func (d *desk) remembersBindings() bool {
	d.t.Helper()
	for key := range d.documents() {
		if strings.HasSuffix(key, "/bound") {
			return true
		}
	}
	return false
}

// edit changes a pod.
func (d *desk) edit(uid string, change func(*gpu.Sighting)) {
	d.t.Helper()
	s := d.cluster.pods[uid]
	change(s)
	d.cluster.changed(*s, false)
}

func ofTeamB(s *gpu.Sighting) { s.Labels = map[string]string{"team": "b"} }

// taken has the kubelet take a pod that was bound at a moment.
func taken(at time.Time) func(*gpu.Sighting) {
	return func(s *gpu.Sighting) {
		s.Scheduled, s.Live.Phase = gpu.Start{At: at, Source: gpu.PodScheduled}, "Running"
	}
}

// TestLabelsOfABoundPodAreThoseOfItsBinding, whatever happens to it between the run
// that saw it bound and the one that sees it counted.
func TestLabelsOfABoundPodAreThoseOfItsBinding(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(d *desk, uid string, began time.Time){
		"taken": func(d *desk, uid string, began time.Time) { d.edit(uid, taken(began)) },
		"taken when the history is lost": func(d *desk, uid string, began time.Time) {
			d.edit(uid, taken(began))
			d.cluster.forget()
		},
		"taken after a list": func(d *desk, uid string, began time.Time) {
			d.cluster.forget()
			d.run()
			d.edit(uid, taken(began))
		},
		"taken and deleted between two runs": func(d *desk, uid string, began time.Time) {
			d.edit(uid, taken(began))
			d.cluster.step(time.Hour - 2*time.Minute)
			d.cluster.remove(uid)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, uid := bound(t)
			began := d.cluster.now.Add(-time.Minute)
			d.edit(uid, ofTeamB)
			d.cluster.step(time.Minute)
			d.run()
			happens(d, uid, began)
			d.cluster.step(began.Add(time.Hour).Sub(d.cluster.now))
			r := d.run()
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
	began := d.cluster.now.Add(-time.Minute)
	d.edit(uid, ofTeamB)
	d.run()
	d.relist()
	d.edit(uid, taken(began))
	d.cluster.step(29 * time.Minute)
	d.cluster.listing = func() {
		if _, there := d.cluster.pods[uid]; there {
			d.cluster.removeLocked(uid)
		}
	}
	wantConsumed(t, d.run(), "4.000")
}

// TestABoundPodThatIsGoneIsForgotten, whoever tells that it is.
func TestABoundPodThatIsGoneIsForgotten(t *testing.T) {
	t.Parallel()
	for name, goes := range map[string]func(d *desk, uid string){
		"deleted":                       func(d *desk, uid string) { d.cluster.remove(uid) },
		"deleted, and the history lost": func(d *desk, uid string) { d.cluster.remove(uid); d.cluster.forget() },
		"missing": func(d *desk, uid string) {
			d.cluster.step(2 * time.Hour)
			delete(d.cluster.pods, uid)
			d.cluster.history = nil
		},
		"failed": func(d *desk, uid string) { d.edit(uid, func(s *gpu.Sighting) { s.Live.Phase = "Failed" }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, uid := bound(t)
			goes(d, uid)
			d.run()
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
		d.cluster.start("ml", fmt.Sprintf("pod-%d", n), 1, untaken)
	}
	d.cluster.step(time.Minute)
	if warnings := strings.Join(d.run().Warnings, "\n"); !strings.Contains(warnings, "of the 1 that were seen first it is forgotten") {
		t.Errorf("warnings %q", warnings)
	}
}

// TestLostBindingsAreTold and stop nothing.
func TestLostBindingsAreTold(t *testing.T) {
	t.Parallel()
	d, uid := bound(t)
	docs, err := d.store().List(t.Context(), store.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		if strings.HasSuffix(doc.Key.Name, "/bound") {
			if _, err := d.store().Write(t.Context(), doc.Key, doc.Data[:len(doc.Data)-1], doc.Revision); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.edit(uid, taken(d.cluster.now.Add(-time.Minute)))
	r := d.run()
	if warnings := strings.Join(r.Warnings, "\n"); !strings.Contains(warnings, "by the labels that they have when they are next seen") {
		t.Errorf("warnings %q", warnings)
	}
	if r = d.run(); len(r.Warnings) > 0 {
		t.Errorf("the next run warns %q", r.Warnings)
	}
}

// TestAPodThatIsTakenWhileABudgetIsEnforcedIsItsBindings: no budget evicts a pod whose
// hours it does not count.
func TestAPodThatIsTakenWhileABudgetIsEnforcedIsItsBindings(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Selector.MatchLabels = map[string]string{"team": "b"} })
	d.cluster.start("ml", "used", 8, ofTeamB)
	d.run()
	uid := d.cluster.start("ml", "a", 8, untaken)
	d.cluster.step(time.Minute)
	d.run()
	d.edit(uid, ofTeamB)
	d.cluster.step(time.Hour)
	d.cluster.during = func(method string) {
		d.cluster.mu.Lock()
		defer d.cluster.mu.Unlock()
		if s, there := d.cluster.pods[uid]; method == "LivePods" && there {
			taken(d.cluster.now)(s)
		}
	}
	d.run()
	if !slices.Equal(d.cluster.evicted, []string{"used"}) {
		t.Errorf("%v were evicted, want the one that the budget counts", d.cluster.evicted)
	}
}

// TestABoundPodKeepsTheLabelsOfItsNamespace where that is gone when the pod counts.
func TestABoundPodKeepsTheLabelsOfItsNamespace(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(func(b *budget.Declaration) {
		b.Selector = budget.Selector{NamespaceLabels: map[string]string{"kind": "research"}}
	})
	uid := d.cluster.start("ml", "a", 4, untaken)
	d.run()
	d.edit(uid, taken(d.cluster.now))
	d.cluster.step(30 * time.Minute)
	d.cluster.remove(uid)
	d.cluster.former = map[string]map[string]string{uid: nil}
	r := d.run()
	wantConsumed(t, r, "2.000")
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %q", r.Warnings)
	}
}
