package budgets_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// TestFreezeLeavesOutWhatWeighsNothing has a budget write zero in several ways.
func TestFreezeLeavesOutWhatWeighsNothing(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Freeze), func(b *budget.Declaration) {
		b.Thresholds = []int{100}
		b.ResourceWeights = map[string]string{"amd.com/gpu": "0", "gpu.amd.com": "0.0", "gpu.intel.com/xe": "0/1", "example.com/npu": "1/2"}
	})
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	d.Run()
	f := d.Cluster.Frozen[b.UID]
	if !slices.Equal(f.Resources, []string{"example.com/npu"}) || !slices.Equal(f.Ignored, []string{"amd.com/gpu", "gpu.amd.com", "gpu.intel.com/xe"}) {
		t.Errorf("frozen are %q beside the defaults, without %q", f.Resources, f.Ignored)
	}
}

// TestFreezeHasItsExpectedEnd has pods that go on, so that the end moves with each run. The freeze is not
// written each time.
func TestFreezeHasItsExpectedEnd(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Freeze))
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	var named []time.Time
	for range 24 {
		d.Cluster.Step(5 * time.Minute)
		report := d.Run()
		if _, frozen := d.Cluster.Frozen[b.UID]; !frozen {
			continue // for the grace
		}
		says, recovers := d.Cluster.Frozen[b.UID].RecoversAt, report.Budgets[0].RecoversAt
		if recovers == nil || says.Sub(*recovers).Abs() > recovers.Sub(d.Cluster.Now())/10 {
			t.Errorf("it names %s, and recovers at %v", says, recovers)
		}
		named = append(named, says)
	}
	if len(named) < 10 || len(slices.Compact(slices.Clone(named))) > 2 {
		t.Errorf("in %d runs it names %v", len(named), slices.Compact(named))
	}
}
