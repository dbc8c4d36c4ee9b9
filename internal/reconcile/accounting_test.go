package reconcile_test

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func plenty(b *budget.Declaration) { b.GPUHours = "1000" }

// watched is a desk with hours in plenty, and a pod of 8 GPUs that a run has seen.
func watched(t *testing.T) (d *desk, uid string) {
	t.Helper()
	d = newDesk(t)
	d.declare(plenty)
	uid = d.cluster.start("ml", "a", 8)
	d.run()
	return d, uid
}

// TestAPodThatIsToldOfAgainAfterItsEndEndsOnce: a replay begins before the list
// of the run before it, and tells of pods again that the list missed already.
func TestAPodThatIsToldOfAgainAfterItsEndEndsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(plenty)
	uid := d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Minute)
	d.run()
	d.cluster.step(time.Minute)
	s := *d.cluster.pods[uid]
	delete(d.cluster.pods, uid)
	d.cluster.start("web", "other", 1, func(s *gpu.Sighting) { s.Labels = nil })
	d.cluster.forget()
	first := d.run()
	d.cluster.changed(s, true) // a forced deletion: no container ended
	d.cluster.step(30 * time.Minute)
	if second := d.run(); consumed(t, second) != consumed(t, first) || consumed(t, first) != "0.200" {
		t.Errorf("%s GPU-hours, and %s when it was told of again; want 0.200", consumed(t, first), consumed(t, second))
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
			d.cluster.step(15 * time.Minute)
			d.run()
			lose(&d.cluster.pods[uid].Node)
			d.cluster.pods[uid].End = gpu.End{At: d.cluster.now, Source: gpu.DeletionTimestamp}
			for range 3 {
				d.cluster.step(10 * time.Minute)
				wantConsumed(t, d.run(), "2.000")
			}
		})
	}
}

// TestAnOverdueDeletionIsLookedAt: its node was silent for a while, and nobody saw it.
func TestAnOverdueDeletionIsLookedAt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(plenty)
	uid := d.cluster.start("ml", "a", 8)
	d.cluster.pods[uid].Live.Deletion = d.cluster.now.Add(time.Minute)
	d.run()
	d.cluster.step(90 * time.Second)
	d.cluster.pods[uid].End = gpu.End{At: d.cluster.now, Source: gpu.DeletionTimestamp}
	d.cluster.step(10 * time.Minute)
	wantConsumed(t, d.run(), "0.200")
}

// TestARestoredClusterIsNoticedByItsList: its history goes on as though nothing
// was missing, and pods are gone that nobody deleted.
func TestARestoredClusterIsNoticedByItsList(t *testing.T) {
	t.Parallel()
	d, uid := watched(t)
	d.cluster.step(40 * time.Minute)
	d.run()
	d.cluster.step(40 * time.Minute)
	delete(d.cluster.pods, uid)
	d.relist()
	r := d.run()
	// Anywhere in 80 minutes: 40 of them, and as much either way; and all that the
	// cluster's 16 GPUs may have run in that time.
	wantConsumed(t, r, "5.333")
	wantBound(t, r, "26.667")
}

// TestAPodThatGoesWhileTheListIsReadIsNoRestore: the next part of the history tells of it.
func TestAPodThatGoesWhileTheListIsReadIsNoRestore(t *testing.T) {
	t.Parallel()
	d, uid := watched(t)
	d.cluster.step(time.Hour)
	d.relist()
	d.cluster.listing = func() { d.cluster.removeLocked(uid) }
	r := d.run()
	wantConsumed(t, r, "8.000")
	wantEstimated(t, r, "0.000")
	wantBound(t, r, "0.000")
}

// relist makes the next run list: there is a pod whose deletion is overdue.
func (d *desk) relist() {
	d.t.Helper()
	d.cluster.start("web", "overdue", 1, func(s *gpu.Sighting) { s.Labels, s.Live.Deletion = nil, d.cluster.now.Add(-time.Hour) })
	d.run()
}

// TestNothingIsEnforcedOnWhatALostHeaderLeaves: nobody knows when pods were last
// seen that are gone now.
func TestNothingIsEnforcedOnWhatALostHeaderLeaves(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	gone := d.cluster.start("ml", "gone", 8)
	d.cluster.start("ml", "stays", 1)
	d.cluster.step(time.Minute)
	d.run()
	d.cluster.step(2 * time.Minute)
	d.cluster.remove(gone)
	d.cluster.forget()
	d.cluster.step(2 * time.Hour)
	docs, err := d.store().List(context.Background(), store.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		if strings.HasSuffix(doc.Key.Name, "/header") {
			if err := d.store().Delete(context.Background(), doc.Key, doc.Revision); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := d.run()
	if len(d.cluster.evicted) > 0 {
		t.Errorf("%v were evicted, with %s of %s GPU-hours estimated", d.cluster.evicted, r.Budgets[0].EstimatedGPUHours, consumed(t, r))
	}
}

// TestAnEventBeginsAnEndThatIsDueLater: its grace is an hour.
func TestAnEventBeginsAnEndThatIsDueLater(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(plenty)
	uid := d.cluster.start("ml", "a", 8)
	d.cluster.events[uid] = d.cluster.now.Add(time.Minute)
	d.cluster.pods[uid].Live.Deletion = d.cluster.now.Add(61 * time.Minute)
	d.run()
	d.cluster.step(90 * time.Minute)
	d.cluster.remove(uid)
	d.cluster.forget()
	r := d.run()
	// Between its first minute and its sixty-first.
	wantConsumed(t, r, "4.133")
	wantEstimated(t, r, "4.000")
}

// TestAVanishedPodEndedByItsDeletion: it was seen to be on its way out, and then
// nobody looked for a day.
func TestAVanishedPodEndedByItsDeletion(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(plenty, func(b *budget.Declaration) { b.Window = "7d" })
	uid := d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Minute)
	d.cluster.pods[uid].Live.Deletion = d.cluster.now.Add(30 * time.Second)
	d.run()
	d.cluster.step(24 * time.Hour)
	d.cluster.remove(uid)
	d.cluster.forget()
	r := d.run()
	// A minute, and half of the minute that its grace and what it may exceed that by take.
	wantConsumed(t, r, "0.200")
	wantEstimated(t, r, "0.067")
}

// TestAnEvictedPodEndsWithItsGrace whoever looks when: the run that evicts it
// writes down when it is to be gone.
func TestAnEvictedPodEndsWithItsGrace(t *testing.T) {
	t.Parallel()
	for name, grace := range map[string]time.Duration{"gone at once": 0, "gone after its grace": 5 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Window = "7d" })
			uid := d.cluster.start("ml", "a", 8)
			d.cluster.step(time.Hour)
			d.cluster.grace = grace
			d.run()
			if len(d.cluster.evicted) != 1 {
				t.Fatalf("%v were evicted", d.cluster.evicted)
			}
			d.cluster.step(24 * time.Hour)
			if grace > 0 {
				d.cluster.remove(uid)
			}
			d.cluster.forget()
			r := d.run()
			// An hour, and half of what its grace and thirty seconds beyond that take.
			late := grace + 30*time.Second
			if got, want := r.Budgets[0].ConsumedGPUHours, fmt.Sprintf("%.3f", 8+8*late.Hours()/2); got != want {
				t.Errorf("%s GPU-hours are consumed, want %s", got, want)
			}
		})
	}
}

// TestAWrongClockIsNotBelieved: one wrong answer must not forget what was counted.
func TestAWrongClockIsNotBelieved(t *testing.T) {
	t.Parallel()
	d, uid := watched(t)
	d.cluster.step(time.Hour)
	d.cluster.remove(uid)
	wantConsumed(t, d.run(), "8.000")
	for _, fast := range []time.Duration{40 * 24 * time.Hour, -40 * 24 * time.Hour} {
		d.cluster.step(10 * time.Minute)
		d.cluster.fast = fast
		r, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
		if err != nil || r.Budgets[0].Outcome != outcome.Failed || !strings.Contains(r.Budgets[0].Error.Message, "clock") {
			t.Errorf("by a clock that is %v ahead: %v, %+v", fast, err, r.Budgets[0])
		}
		d.cluster.fast = 0
		wantConsumed(t, d.run(), "8.000")
	}
}

// TestTheRunnersClockMayBeWrong: the cluster's goes on as it did.
func TestTheRunnersClockMayBeWrong(t *testing.T) {
	t.Parallel()
	d, _ := watched(t)
	d.cluster.step(30 * time.Minute)
	e := d.engine()
	e.Clock = func() time.Time { return d.cluster.clock().Add(-100 * 24 * time.Hour) }
	r, err := e.Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantConsumed(t, r, "4.000")
}

// TestAResourceThatIsWeighedAnewIsLookedFor: pods that hold it were passed over.
func TestAResourceThatIsWeighedAnewIsLookedFor(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare(plenty)
	d.run()
	uid := d.cluster.start("ml", "a", 4, func(s *gpu.Sighting) { s.Shares[0].Resource = "example.com/npu" })
	passedOver := d.cluster.pods[uid]
	delete(d.cluster.pods, uid)
	d.cluster.history = nil
	d.run()
	d.cluster.pods[uid] = passedOver
	b.ResourceWeights = map[string]string{"example.com/npu": "1"}
	if _, err := d.engine().Budgets().Update(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	d.cluster.step(30 * time.Minute)
	wantConsumed(t, d.run(), "2.000")
}

// TestARefusalTakesNoUsageAlong has a kubelet refuse a pod that ran, since its
// node restarted, and nothing tell when: what was seen to be held stays, and one
// that was never seen held nothing.
func TestARefusalTakesNoUsageAlong(t *testing.T) {
	t.Parallel()
	d, uid := watched(t)
	d.cluster.step(time.Hour)
	wantConsumed(t, d.run(), "8.000")
	refused := func(s *gpu.Sighting) {
		s.End, s.Live.Phase = gpu.End{At: s.Scheduled.At, Source: gpu.Rejected}, "Failed"
	}
	refused(d.cluster.pods[uid])
	d.cluster.changed(*d.cluster.pods[uid], false)
	d.cluster.start("ml", "never", 8, refused)
	d.cluster.step(15 * time.Minute)
	r := d.run()
	// An hour, and half of a quarter.
	wantConsumed(t, r, "9.000")
	wantEstimated(t, r, "1.000")
	d.cluster.remove(uid)
	d.cluster.step(15 * time.Minute)
	wantConsumed(t, d.run(), "9.000")
}

// TestARefusedPodKeepsWhatItRan, and no more: where the pod tells when it was
// refused it held until then, if a run saw that it had started, and else nothing.
func TestARefusedPodKeepsWhatItRan(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		start func(*gpu.Sighting)
		want  string
	}{
		"one that ran":           {func(*gpu.Sighting) {}, "9.333"},
		"one that never started": {func(s *gpu.Sighting) { s.Running = gpu.Start{} }, "0.000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.declare(plenty)
			uid := d.cluster.start("ml", "a", 8, test.start)
			d.cluster.step(time.Hour)
			d.run()
			d.cluster.step(10 * time.Minute)
			s := d.cluster.pods[uid]
			s.End, s.Refused, s.Running, s.Live.Phase = gpu.End{At: s.Scheduled.At, Source: gpu.Rejected}, d.cluster.clock(), gpu.Start{}, "Failed"
			d.cluster.changed(*s, false)
			d.cluster.step(5 * time.Minute)
			r := d.run()
			wantConsumed(t, r, test.want)
			wantEstimated(t, r, "0.000")
		})
	}
}

// TestWhatANodeTurnsOutNotToHaveIsTakenBack: a pod is an estimate while nothing
// shows its node, and what it is afterwards.
func TestWhatANodeTurnsOutNotToHaveIsTakenBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(plenty)
	uid := d.cluster.start("ml", "a", 99, func(s *gpu.Sighting) { s.Shown = 0 })
	d.cluster.step(time.Hour)
	r := d.run()
	wantConsumed(t, r, "99.000")
	wantEstimated(t, r, "99.000")
	s := d.cluster.pods[uid]
	s.Shares, s.Shown, s.Capped = nil, 1, true
	d.cluster.changed(*s, false)
	r = d.run()
	wantConsumed(t, r, "0.000")
	wantEstimated(t, r, "0.000")
}

// TestNodesAreRememberedBetweenRuns: each look is told of those that were seen, with
// the most that each showed, and a look that shows more of one lists its pods.
func TestNodesAreRememberedBetweenRuns(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(plenty)
	on := func(told int, gpus int64) gpu.Node {
		return gpu.Node{
			Name: "node-1", UID: "node-uid", Shown: true, Told: told, Model: "Tesla-T4", ProviderID: "qcloud:///800001/ins-a",
			Capacity: map[string]*big.Rat{"nvidia.com/gpu": big.NewRat(gpus, 1)},
		}
	}
	uid := d.cluster.start("ml", "a", 1, func(s *gpu.Sighting) { s.Node = on(1, 8) })
	d.run()
	listed := d.cluster.lists
	d.cluster.pods[uid].Node = on(1, 0) // its kubelet restarts
	d.cluster.step(time.Minute)
	d.run()
	if d.cluster.lists != listed {
		t.Error("a node that shows less has its pods listed")
	}
	known := d.cluster.remembered
	if len(known) != 1 || known[0].UID != "node-uid" || known[0].Capacity["nvidia.com/gpu"].RatString() != "8" || known[0].Model != "Tesla-T4" || known[0].InstanceID() != "ins-a" || known[0].Gone {
		t.Fatalf("the second run is told of %+v", known)
	}
	d.cluster.pods[uid].Node = on(3, 8)
	d.cluster.step(time.Minute)
	d.run()
	if d.cluster.lists != listed+1 {
		t.Error("a node that tells more does not have its pods listed")
	}
	d.cluster.remove(uid)
	d.cluster.history = nil
	d.cluster.step(time.Minute)
	d.run()
	d.run()
	if known := d.cluster.remembered; len(known) != 1 || !known[0].Gone || known[0].Told != 3 {
		t.Errorf("once it is gone, the next run is told of %+v", known)
	}
}
