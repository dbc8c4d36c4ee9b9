package budgets_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestAnEventBeginsAnEndThatIsDueLater: its grace is an hour.
func TestAnEventBeginsAnEndThatIsDueLater(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(plenty)
	uid := d.Cluster.Start("ml", "a", 8)
	d.Cluster.Events[uid] = d.Cluster.Now().Add(time.Minute)
	d.Cluster.Pods[uid].Deletion = ledger.TimeOf(d.Cluster.Now().Add(61 * time.Minute))
	d.Run()
	d.Cluster.Step(90 * time.Minute)
	d.Cluster.Remove(uid)
	d.Cluster.Forget()
	r := d.Run()
	// Between its first minute and its sixty-first.
	wantConsumed(t, r, "4.133")
	wantEstimated(t, r, "4.000")
}

// TestVanishedTerminatingPodEndsAtItsDeletion observes that it terminates, and then nothing for a day.
func TestVanishedTerminatingPodEndsAtItsDeletion(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(plenty, func(b *budget.Declaration) { b.Window = "7d" })
	uid := d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Minute)
	d.Cluster.Pods[uid].Deletion = ledger.TimeOf(d.Cluster.Now().Add(30 * time.Second))
	d.Run()
	d.Cluster.Step(24 * time.Hour)
	d.Cluster.Remove(uid)
	d.Cluster.Forget()
	r := d.Run()
	// A minute, and half of the minute that its grace and what it may exceed that by take.
	wantConsumed(t, r, "0.200")
	wantEstimated(t, r, "0.067")
}

// TestEvictedPodEndsWithItsGracePeriod at any time of the next observation: the run that evicts it records
// when it is due to be gone.
func TestEvictedPodEndsWithItsGracePeriod(t *testing.T) {
	t.Parallel()
	for name, grace := range map[string]time.Duration{"gone at once": 0, "gone after its grace": 5 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Window = "7d" })
			uid := d.Cluster.Start("ml", "a", 8)
			d.Cluster.Step(time.Hour)
			d.Cluster.Grace = grace
			d.Run()
			if len(d.Cluster.Evicted) != 1 {
				t.Fatalf("%v were evicted", d.Cluster.Evicted)
			}
			d.Cluster.Step(24 * time.Hour)
			if grace > 0 {
				d.Cluster.Remove(uid)
			}
			d.Cluster.Forget()
			r := d.Run()
			// An hour, and half of what its grace and thirty seconds beyond that take.
			late := grace + 30*time.Second
			if got, want := r.Budgets[0].ConsumedGPUHours, fmt.Sprintf("%.3f", 8+8*late.Hours()/2); got != want {
				t.Errorf("%s GPU-hours are consumed, want %s", got, want)
			}
		})
	}
}
