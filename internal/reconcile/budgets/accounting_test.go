package budgets_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func plenty(b *budget.Declaration) { b.GPUHours = "1000" }

// watched is a fixture with hours in plenty, and a pod of 8 GPUs that a run has seen.
func watched(t *testing.T) (d *fixture, uid string) {
	t.Helper()
	d = newFixture(t)
	d.Declare(plenty)
	uid = d.Cluster.Start("ml", "a", 8)
	d.Run()
	return d, uid
}

// TestRepeatedEndOfAPodCountsOnce: a replay begins before the list of the previous run, and repeats events of
// pods that the list lacked already.
func TestRepeatedEndOfAPodCountsOnce(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(plenty)
	uid := d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Minute)
	d.Run()
	d.Cluster.Step(time.Minute)
	s := *d.Cluster.Pods[uid]
	delete(d.Cluster.Pods, uid)
	d.Cluster.Start("web", "other", 1, func(s *gpu.Pod) { s.Labels = nil })
	d.Cluster.Forget()
	first := d.Run()
	d.Cluster.Changed(s, true) // a forced deletion: no container ended
	d.Cluster.Step(30 * time.Minute)
	if second := d.Run(); reconciletest.Consumed(t, second) != reconciletest.Consumed(t, first) || reconciletest.Consumed(t, first) != "0.200" {
		t.Errorf("%s GPU-hours, and %s when it was reported again; want 0.200", reconciletest.Consumed(t, first), reconciletest.Consumed(t, second))
	}
}

// TestNoWatchTellsThatANodeIsGone: what ends with its node is looked for.
func TestNoWatchTellsThatANodeIsGone(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*gpu.Node){
		"gone": func(n *gpu.Node) { n.Gone = true }, "silent": func(n *gpu.Node) { n.NotReady = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, uid := watched(t)
			d.Cluster.Step(15 * time.Minute)
			d.Run()
			lose(&d.Cluster.Pods[uid].Node)
			d.Cluster.Pods[uid].End = ledger.ExactEnd(ledger.TimeOf(d.Cluster.Now()), ledger.DeletionTimestamp)
			for range 3 {
				d.Cluster.Step(10 * time.Minute)
				wantConsumed(t, d.Run(), "2.000")
			}
		})
	}
}

// TestOverdueDeletionIsObserved has a node that was not Ready for a while between runs.
func TestOverdueDeletionIsObserved(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(plenty)
	uid := d.Cluster.Start("ml", "a", 8)
	d.Cluster.Pods[uid].Deletion = ledger.TimeOf(d.Cluster.Now().Add(time.Minute))
	d.Run()
	d.Cluster.Step(90 * time.Second)
	d.Cluster.Pods[uid].End = ledger.ExactEnd(ledger.TimeOf(d.Cluster.Now()), ledger.DeletionTimestamp)
	d.Cluster.Step(10 * time.Minute)
	wantConsumed(t, d.Run(), "0.200")
}

// TestRestoredClusterIsDetectedByItsList restores a backup: the history continues without a gap, and pods are
// gone that were never deleted.
func TestRestoredClusterIsDetectedByItsList(t *testing.T) {
	t.Parallel()
	d, uid := watched(t)
	d.Cluster.Step(40 * time.Minute)
	d.Run()
	d.Cluster.Step(40 * time.Minute)
	delete(d.Cluster.Pods, uid)
	d.relist()
	r := d.Run()
	// Anywhere in 80 minutes: 40 of them, and as much either way; and all that the
	// cluster's 16 GPUs may have run in that time.
	wantConsumed(t, r, "5.333")
	wantBound(t, r, "26.667")
	want := "usage may differ by 26.667 GPU-hours: 21.333 of pods that began and ended while nothing was observed, " +
		"5.333 of pods whose ends are estimated or whose nodes were never observed"
	if got := r.Budgets[0].ErrorBoundReason.String(); got != want {
		t.Errorf("the bound is explained by %q, want %q", got, want)
	}
}

// TestAPodThatGoesWhileTheListIsReadIsNoRestore: the next part of the history tells
// of it.
func TestAPodThatGoesWhileTheListIsReadIsNoRestore(t *testing.T) {
	t.Parallel()
	d, uid := watched(t)
	d.Cluster.Step(time.Hour)
	d.relist()
	d.Cluster.Listing = func() { d.Cluster.Remove(uid) }
	r := d.Run()
	wantConsumed(t, r, "8.000")
	wantEstimated(t, r, "0.000")
	wantBound(t, r, "0.000")
}

// relist makes the next run list: there is a pod whose deletion is overdue.
func (d *fixture) relist() {
	d.t.Helper()
	due := d.Cluster.Now().Add(-time.Hour)
	d.Cluster.Start("web", "overdue", 1, func(s *gpu.Pod) { s.Labels, s.Deletion = nil, ledger.TimeOf(due) })
	d.Run()
}

// TestLostHeaderSuspendsEnforcement has lost when the vanished pods were last observed.
func TestLostHeaderSuspendsEnforcement(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	gone := d.Cluster.Start("ml", "gone", 8)
	d.Cluster.Start("ml", "stays", 1)
	d.Cluster.Step(time.Minute)
	d.Run()
	d.Cluster.Step(2 * time.Minute)
	d.Cluster.Remove(gone)
	d.Cluster.Forget()
	d.Cluster.Step(2 * time.Hour)
	docs, err := d.Store().List(context.Background(), store.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		if strings.HasSuffix(doc.Key.Name, "/header") {
			if err := d.Store().Delete(context.Background(), doc.Key, doc.Revision); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := d.Run()
	if len(d.Cluster.Evicted) > 0 {
		t.Errorf("%v were evicted, with %s of %s GPU-hours estimated", d.Cluster.Evicted, r.Budgets[0].EstimatedGPUHours, reconciletest.Consumed(t, r))
	}
}

// TestAWrongClockIsNotBelieved: one wrong answer must not forget what was counted.
func TestAWrongClockIsNotBelieved(t *testing.T) {
	t.Parallel()
	d, uid := watched(t)
	d.Cluster.Step(time.Hour)
	d.Cluster.Remove(uid)
	wantConsumed(t, d.Run(), "8.000")
	for _, fast := range []time.Duration{40 * 24 * time.Hour, -40 * 24 * time.Hour} {
		d.Cluster.Step(10 * time.Minute)
		d.Cluster.Fast = fast
		r, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
		if err != nil || r.Budgets[0].Outcome != outcome.Failed || !strings.Contains(r.Budgets[0].Error.Message, "clock") {
			t.Errorf("by a clock that is %v ahead: %v, %+v", fast, err, r.Budgets[0])
		}
		d.Cluster.Fast = 0
		wantConsumed(t, d.Run(), "8.000")
	}
}

// TestTheRunnersClockMayBeWrong: the cluster's goes on as it did, and the run says which
// is off by how much.
func TestTheRunnersClockMayBeWrong(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]string{
		time.Hour: "clock is 1h ahead of", -time.Hour: "clock is 1h behind", -100 * 24 * time.Hour: "clock is 100d behind", 4 * time.Minute: "",
	} {
		d, _ := watched(t)
		d.Cluster.Step(30 * time.Minute)
		p := d.Process()
		p.Clock = func() time.Time { return d.Cluster.Now().Add(ahead) }
		r, err := p.Runner().Run(context.Background(), reconcile.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		wantConsumed(t, r, "4.000")
		if text := strings.Join(r.Warnings.Texts(), "\n"); !strings.Contains(text, want) || strings.Contains(text, "clock") != (want != "") {
			t.Errorf("by a clock %s ahead, the run warns of %q", ahead, r.Warnings)
		}
	}
}

// TestAResourceThatIsWeighedAnewIsLookedFor: pods that hold it were passed over.
func TestAResourceThatIsWeighedAnewIsLookedFor(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(plenty)
	d.Run()
	uid := d.Cluster.Start("ml", "a", 4, func(s *gpu.Pod) { s.Shares[0].Resource = "example.com/npu" })
	passedOver := d.Cluster.Pods[uid]
	delete(d.Cluster.Pods, uid)
	d.Cluster.History = nil
	d.Run()
	d.Cluster.Pods[uid] = passedOver
	b.ResourceWeights = map[string]string{"example.com/npu": "1"}
	if _, err := d.Budgets().Update(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	d.Cluster.Step(30 * time.Minute)
	wantConsumed(t, d.Run(), "2.000")
}

// TestRefusedPodsKeepTheirUsage has a kubelet refuse running pods after a restart of its node, at an unknown
// time. Observed usage stays. A pod that was never observed to hold GPUs has none.
func TestRefusedPodsKeepTheirUsage(t *testing.T) {
	t.Parallel()
	d, uid := watched(t)
	d.Cluster.Step(time.Hour)
	wantConsumed(t, d.Run(), "8.000")
	refused := func(s *gpu.Pod) {
		s.End, s.Phase = ledger.ExactEnd(s.Scheduled.At, ledger.Rejected), "Failed"
	}
	refused(d.Cluster.Pods[uid])
	d.Cluster.Changed(*d.Cluster.Pods[uid], false)
	d.Cluster.Start("ml", "never", 8, refused)
	d.Cluster.Step(15 * time.Minute)
	r := d.Run()
	// An hour, and half of a quarter.
	wantConsumed(t, r, "9.000")
	wantEstimated(t, r, "1.000")
	d.Cluster.Remove(uid)
	d.Cluster.Step(15 * time.Minute)
	wantConsumed(t, d.Run(), "9.000")
}

// TestRefusedPodsHoldUntilTheirRefusal has pods with the time of their refusal: they held GPUs until then,
// whether or not a run observed their start.
func TestRefusedPodsHoldUntilTheirRefusal(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*gpu.Pod){
		"one that ran":           func(*gpu.Pod) {},
		"one that never started": func(s *gpu.Pod) { s.Running = ledger.Start{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(plenty)
			uid := d.Cluster.Start("ml", "a", 8, start)
			d.Cluster.Step(time.Hour)
			d.Run()
			d.Cluster.Step(10 * time.Minute)
			s := d.Cluster.Pods[uid]
			s.End, s.Refused, s.Running, s.Phase = ledger.ExactEnd(s.Scheduled.At, ledger.Rejected), ledger.TimeOf(d.Cluster.Now()), ledger.Start{}, "Failed"
			d.Cluster.Changed(*s, false)
			d.Cluster.Step(5 * time.Minute)
			r := d.Run()
			wantConsumed(t, r, "9.333")
			wantEstimated(t, r, "0.000")
		})
	}
}
