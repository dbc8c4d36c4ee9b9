package budgets_test

import (
	"context"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

func TestUsageSurvivesPods(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	first := d.Cluster.Start("ml", "first", 2)
	wantConsumed(t, d.Run(), "0.000")
	d.Cluster.Step(30 * time.Minute)
	wantConsumed(t, d.Run(), "1.000")
	d.Cluster.Remove(first) // between two runs
	never := d.Cluster.Start("ml", "never-seen", 4)
	d.Cluster.Step(15 * time.Minute)
	d.Cluster.Remove(never) // born and gone between two runs
	wantConsumed(t, d.Run(), "2.000")
	ends := d.Cluster.Start("ml", "ends", 1)
	d.Cluster.Step(15 * time.Minute)
	d.Cluster.Finish(ends) // by itself, and stays to be seen
	d.Cluster.Forget()
	d.Cluster.Step(15 * time.Minute)
	wantConsumed(t, d.Run(), "2.250")
	d.Cluster.Remove(ends)
	wantConsumed(t, d.Run(), "2.250")
}

// TestWeightsOfOneBudgetAlone has one budget weigh what all others count as they
// do by default.
func TestWeightsOfOneBudgetAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		weights map[string]string
		holds   []ledger.Share
		runs    time.Duration
		// consumed is what the budget without weights says, and weighed the other.
		consumed, weighed string
	}{
		"a resource that is no GPU by default": {
			map[string]string{"example.com/tensor": "1/2", "nvidia.com/gpu": "2"},
			[]ledger.Share{
				{Resource: "nvidia.com/gpu", Units: big.NewRat(1, 1), Weight: big.NewRat(1, 1)},
				{Resource: "example.com/tensor", Units: big.NewRat(4, 1), Weight: new(big.Rat)},
			}, 30 * time.Minute, "0.500", "2.000",
		},
		"devices that are whole GPUs by default": {
			map[string]string{"gpu.nvidia.com": "1/2"},
			[]ledger.Share{{Resource: "gpu.nvidia.com", Units: big.NewRat(4, 1), Weight: big.NewRat(1, 1)}},
			15 * time.Minute, "1.000", "0.500",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare()
			d.Declare(func(b *budget.Declaration) { b.Name, b.ResourceWeights = "weighs", c.weights })
			d.Cluster.Start("ml", "a", 1, func(s *gpu.Pod) { s.Shares = c.holds })
			d.Cluster.Step(c.runs)
			report := d.Run()
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
	d := newFixture(t)
	d.Declare(func(b *budget.Declaration) { b.Window = "2h" })
	d.Keep = time.Hour
	for range 8 {
		uid := d.Cluster.Start("ml", "a", 1)
		d.Run()
		d.Cluster.Step(12 * time.Hour)
		d.Cluster.Remove(uid)
		d.Run()
	}
	var closed []string
	for key := range d.Documents() {
		if strings.Contains(key, "/closed-") {
			closed = append(closed, key)
		}
	}
	if len(closed) == 0 || len(closed) > 3 {
		t.Errorf("closed shards: %v", closed)
	}
	wantConsumed(t, d.Run(), "2.000")
}

// TestLabelEditMovesNothing has a pod change its label: what it used, and goes
// on to use, is charged as when it was first seen.
func TestLabelEditMovesNothing(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	uid := d.Cluster.Start("ml", "a", 2)
	d.Run()
	d.Cluster.Pods[uid].Labels = map[string]string{"team": "b"}
	d.Cluster.Changed(*d.Cluster.Pods[uid], false)
	d.Cluster.Step(time.Hour)
	wantConsumed(t, d.Run(), "2.000")
}

func TestVanishedPodIsEstimated(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	uid := d.Cluster.Start("ml", "a", 2)
	d.Cluster.Step(10 * time.Minute)
	d.Run()
	d.Cluster.Remove(uid)
	d.Cluster.Forget()
	d.Cluster.Step(30 * time.Minute)
	report := d.Run()
	b := report.Budgets[0]
	// It ran for ten minutes for certain, and for thirty more at most.
	if b.ConsumedGPUHours != "0.833" || b.EstimatedGPUHours != "0.500" {
		t.Errorf("%s are consumed, %s of them estimated", b.ConsumedGPUHours, b.EstimatedGPUHours)
	}
	if b.Coverage.String() >= "1" {
		t.Errorf("the coverage is %s, though a gap is in the window", b.Coverage)
	}
	if again := d.Run(); reconciletest.Consumed(t, again) != b.ConsumedGPUHours {
		t.Errorf("the next run says %s, and this one %s", reconciletest.Consumed(t, again), b.ConsumedGPUHours)
	}
}

func TestEventsRefineEnds(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	uid := d.Cluster.Start("ml", "a", 2)
	d.Run()
	d.Cluster.Step(10 * time.Minute)
	d.Cluster.Events[uid] = d.Cluster.Now()
	d.Cluster.Remove(uid)
	d.Cluster.Forget()
	d.Cluster.Step(30 * time.Minute)
	report := d.Run()
	// Ten minutes, and half of the thirty seconds that the end may have taken.
	wantConsumed(t, report, "0.342")
	wantEstimated(t, report, "0.008")
}

func TestUnreplayedRunsListEverything(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	d.Cluster.Start("ml", "a", 1)
	for range 4 {
		d.Cluster.Forget()
		d.Cluster.Step(15 * time.Minute)
		d.Run()
	}
	wantConsumed(t, d.Run(), "1.000")
}

// TestPodsWithDeletedClaimsKeepTheirUsage has a pod finish whose claim was deallocated, so that its devices
// are unknown. It keeps what was observed at first, and has its own end.
func TestPodsWithDeletedClaimsKeepTheirUsage(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	uid := d.Cluster.Start("ml", "by-claim", 4)
	d.Cluster.Step(15 * time.Minute)
	d.Run()
	d.Cluster.Pods[uid].Shares = nil
	d.Cluster.Step(15 * time.Minute)
	d.Cluster.Finish(uid)
	d.Cluster.Step(15 * time.Minute)
	d.Cluster.Forget() // so that all pods are listed
	report := d.Run()
	wantConsumed(t, report, "2.000")
	if b := report.Budgets[0]; b.ActivePods != 0 || b.EstimatedGPUHours != "0.000" {
		t.Errorf("%d pods are active, and %s GPU-hours estimated", b.ActivePods, b.EstimatedGPUHours)
	}
}

// TestUsageIsLive asks what was used this very moment: it writes nothing, and
// says what the next run will.
func TestUsageIsLive(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare()
	gone := d.Cluster.Start("ml", "gone", 2)
	d.Cluster.Step(30 * time.Minute)
	d.Run()
	d.Cluster.Remove(gone)
	d.Cluster.Start("ml", "here", 4)
	d.Cluster.Step(30 * time.Minute)
	before := d.Documents()
	live, err := d.Budgets().Ask(context.Background(), budgets.Question{Budget: b.Name})
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
	other, err := d.Budgets().Ask(context.Background(),
		budgets.Question{Declaration: budget.Declaration{Window: "15m", Selector: budget.Selector{Namespaces: []string{"ml"}}}.WithDefaults()})
	if err != nil || budget.Hours(other.Usage.Consumed) != "1.000" || other.Usage.Limit != 0 {
		t.Errorf("of a namespace: %v, %+v", err, other.Usage)
	}
	if diff := cmp.Diff(before, d.Documents()); diff != "" {
		t.Errorf("the store changed\n%s", diff)
	}
	blank := d.Budgets()
	blank.Repository.Store = nil
	other,
		err = blank.Ask(context.Background(), budgets.Question{Declaration: budget.Declaration{
		Window: "1h", Selector: budget.Selector{Namespaces: []string{"ml"}},
	}.WithDefaults()})
	if err != nil || budget.Hours(other.Usage.Consumed) != "2.000" {
		t.Errorf("without a store: %v, %+v", err, other.Usage)
	}
	wantConsumed(t, d.Run(), "3.000")
}
