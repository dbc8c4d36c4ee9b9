package reconcile_test

import (
	"context"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

func TestUsageSurvivesPods(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	first := d.cluster.start("ml", "first", 2)
	wantConsumed(t, d.run(), "0.000")
	d.cluster.step(30 * time.Minute)
	wantConsumed(t, d.run(), "1.000")
	d.cluster.remove(first) // between two runs
	never := d.cluster.start("ml", "never-seen", 4)
	d.cluster.step(15 * time.Minute)
	d.cluster.remove(never) // born and gone between two runs
	wantConsumed(t, d.run(), "2.000")
	ends := d.cluster.start("ml", "ends", 1)
	d.cluster.step(15 * time.Minute)
	d.cluster.finish(ends) // by itself, and stays to be seen
	d.cluster.forget()
	d.cluster.step(15 * time.Minute)
	wantConsumed(t, d.run(), "2.250")
	d.cluster.remove(ends)
	wantConsumed(t, d.run(), "2.250")
}

// TestWeightsOfOneBudgetAlone has one budget weigh what all others count as they
// do by default.
func TestWeightsOfOneBudgetAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		weights map[string]string
		holds   []gpu.Share
		runs    time.Duration
		// consumed is what the budget without weights says, and weighed the other.
		consumed, weighed string
	}{
		"a resource that is no GPU by default": {
			map[string]string{"example.com/tensor": "1/2", "nvidia.com/gpu": "2"},
			[]gpu.Share{
				{Resource: "nvidia.com/gpu", Units: big.NewRat(1, 1), Weight: big.NewRat(1, 1)},
				{Resource: "example.com/tensor", Units: big.NewRat(4, 1), Weight: new(big.Rat)},
			}, 30 * time.Minute, "0.500", "2.000",
		},
		"devices that are whole GPUs by default": {
			map[string]string{"gpu.nvidia.com": "1/2"},
			[]gpu.Share{{Resource: "gpu.nvidia.com", Units: big.NewRat(4, 1), Weight: big.NewRat(1, 1)}},
			15 * time.Minute, "1.000", "0.500",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.declare()
			d.declare(func(b *budget.Declaration) { b.Name, b.ResourceWeights = "weighs", c.weights })
			d.cluster.start("ml", "a", 1, func(s *gpu.Sighting) { s.Shares = c.holds })
			d.cluster.step(c.runs)
			report := d.run()
			wantConsumed(t, report, c.consumed)
			if got := report.Budgets[1].ConsumedGPUHours; got != c.weighed {
				t.Errorf("weighed on its own it is %s GPU-hours, want %s", got, c.weighed)
			}
		})
	}
}

// TestOldIntervalsAreForgotten keeps the ledger as small as the longest window
// lets it be.
func TestOldIntervalsAreForgotten(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(func(b *budget.Declaration) { b.Window = "2h" })
	d.keep = time.Hour
	for range 8 {
		uid := d.cluster.start("ml", "a", 1)
		d.run()
		d.cluster.step(12 * time.Hour)
		d.cluster.remove(uid)
		d.run()
	}
	var closed []string
	for key := range d.documents() {
		if strings.Contains(key, "/closed-") {
			closed = append(closed, key)
		}
	}
	if len(closed) == 0 || len(closed) > 3 {
		t.Errorf("closed shards: %v", closed)
	}
	wantConsumed(t, d.run(), "2.000")
}

// TestLabelEditMovesNothing has a pod change its label: what it used, and goes
// on to use, is charged as when it was first seen.
func TestLabelEditMovesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	uid := d.cluster.start("ml", "a", 2)
	d.run()
	d.cluster.mu.Lock()
	d.cluster.pods[uid].Labels = map[string]string{"team": "b"}
	d.cluster.changed(*d.cluster.pods[uid], false)
	d.cluster.mu.Unlock()
	d.cluster.step(time.Hour)
	wantConsumed(t, d.run(), "2.000")
}

func TestVanishedPodIsEstimated(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	uid := d.cluster.start("ml", "a", 2)
	d.cluster.step(10 * time.Minute)
	d.run()
	d.cluster.remove(uid)
	d.cluster.forget()
	d.cluster.step(30 * time.Minute)
	report := d.run()
	b := report.Budgets[0]
	// It ran for ten minutes for certain, and for thirty more at most.
	if b.ConsumedGPUHours != "0.833" || b.EstimatedGPUHours != "0.500" {
		t.Errorf("%s are consumed, %s of them estimated", b.ConsumedGPUHours, b.EstimatedGPUHours)
	}
	if b.Coverage.String() >= "1" {
		t.Errorf("the coverage is %s, though a gap is in the window", b.Coverage)
	}
	if again := d.run(); consumed(t, again) != b.ConsumedGPUHours {
		t.Errorf("the next run says %s, and this one %s", consumed(t, again), b.ConsumedGPUHours)
	}
}

func TestEventsRefineEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	uid := d.cluster.start("ml", "a", 2)
	d.run()
	d.cluster.step(10 * time.Minute)
	d.cluster.events[uid] = d.cluster.now
	d.cluster.remove(uid)
	d.cluster.forget()
	d.cluster.step(30 * time.Minute)
	report := d.run()
	// Ten minutes, and half of the thirty seconds that the end may have taken.
	wantConsumed(t, report, "0.342")
	wantEstimated(t, report, "0.008")
}

func TestUnreplayedRunsListEverything(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.cluster.start("ml", "a", 1)
	for range 4 {
		d.cluster.forget()
		d.cluster.step(15 * time.Minute)
		d.run()
	}
	wantConsumed(t, d.run(), "1.000")
}

// TestClaimsThatAreGoneTakeNoUsageAlong has a pod finish whose devices can't be
// read any more, since its claim was taken back: what it held stays as it was
// first seen, and its end is its own.
func TestClaimsThatAreGoneTakeNoUsageAlong(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	uid := d.cluster.start("ml", "by-claim", 4)
	d.cluster.step(15 * time.Minute)
	d.run()
	d.cluster.pods[uid].Shares = nil
	d.cluster.step(15 * time.Minute)
	d.cluster.finish(uid)
	d.cluster.step(15 * time.Minute)
	d.cluster.forget() // so that all pods are listed
	report := d.run()
	wantConsumed(t, report, "2.000")
	if b := report.Budgets[0]; b.ActivePods != 0 || b.EstimatedGPUHours != "0.000" {
		t.Errorf("%d pods are active, and %s GPU-hours estimated", b.ActivePods, b.EstimatedGPUHours)
	}
}

// TestUsageIsLive asks what was used this very moment: it writes nothing, and
// says what the next run will.
func TestUsageIsLive(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare()
	gone := d.cluster.start("ml", "gone", 2)
	d.cluster.step(30 * time.Minute)
	d.run()
	d.cluster.remove(gone)
	d.cluster.start("ml", "here", 4)
	d.cluster.step(30 * time.Minute)
	before := d.documents()
	live, err := d.engine().Budgets().UsageOf(context.Background(), b.Name)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range live.Pods {
		names = append(names, p.Record.Name+" "+budget.GPUs(p.GPUs)+" "+budget.Hours(p.Consumed))
	}
	if diff := cmp.Diff([]string{"gone 2 1.000", "here 4 2.000"}, names); diff != "" || budget.Hours(live.Usage.Consumed) != "3.000" || live.Usage.Limit == 0 {
		t.Errorf("usage %+v, pods\n%s", live.Usage, diff)
	}
	other, err := d.engine().Budgets().Usage(context.Background(), budget.Declaration{Window: "15m", Selector: budget.Selector{Namespaces: []string{"ml"}}}.WithDefaults())
	if err != nil || budget.Hours(other.Usage.Consumed) != "1.000" || other.Usage.Limit != 0 {
		t.Errorf("of a namespace: %v, %+v", err, other.Usage)
	}
	if diff := cmp.Diff(before, d.documents()); diff != "" {
		t.Errorf("the store changed\n%s", diff)
	}
	blank := d.engine()
	blank.Store = nil
	other, err = blank.Budgets().Usage(context.Background(), budget.Declaration{Window: "1h", Selector: budget.Selector{Namespaces: []string{"ml"}}}.WithDefaults())
	if err != nil || budget.Hours(other.Usage.Consumed) != "2.000" {
		t.Errorf("without a store: %v, %+v", err, other.Usage)
	}
	wantConsumed(t, d.run(), "3.000")
}
