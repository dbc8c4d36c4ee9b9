package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// TestFreezeLeavesOutWhatWeighsNothing has a budget write zero in several ways.
func TestFreezeLeavesOutWhatWeighsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare(enforcing(budget.Freeze), func(b *budget.Declaration) {
		b.Thresholds = []int{100}
		b.ResourceWeights = map[string]string{"amd.com/gpu": "0", "gpu.amd.com": "0.0", "gpu.intel.com/xe": "0/1", "example.com/npu": "1/2"}
	})
	d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	d.run()
	f := d.cluster.frozen[b.UID]
	if !slices.Equal(f.Resources, []string{"example.com/npu"}) || !slices.Equal(f.Ignored, []string{"amd.com/gpu", "gpu.amd.com", "gpu.intel.com/xe"}) {
		t.Errorf("frozen are %q beside the defaults, without %q", f.Resources, f.Ignored)
	}
}
