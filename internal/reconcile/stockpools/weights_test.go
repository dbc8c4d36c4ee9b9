package stockpools_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestABudgetThatWeighsTheirGPUsZeroPausesNoPods, though other resources exceed it.
func TestABudgetThatWeighsTheirGPUsZeroPausesNoPods(t *testing.T) {
	t.Parallel()
	for name, named := range map[string]bool{"covered by labels": false, "named": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(func(b *budget.Declaration) {
				b.Enforce.Action, b.ResourceWeights = budget.Pause, map[string]string{"nvidia.com/gpu": "0", "example.com/npu": "1"}
			})
			d.create(func(p *stockpool.Declaration) {
				if named {
					p.Budget = "team-a"
				}
			})
			d.Cluster.Start("ml", "npus", 4, ofJob, func(p *gpu.Pod) { p.Labels, p.Shares[0].Resource = pool().Labels, "example.com/npu" })
			d.Run()
			if d.replicas() != 2 {
				t.Fatalf("before the budget is exceeded it has %d pods", d.replicas())
			}
			d.Cluster.Step(2 * time.Hour)
			r := d.Run()
			if len(r.Budgets) != 1 || r.Budgets[0].Exceeded == nil || !*r.Budgets[0].Exceeded {
				t.Fatalf("the budget is not exceeded: %+v", r.Budgets)
			}
			within := d.report(d.Run()).Of(decide.WithinBudget)
			if d.replicas() != 2 || (within.Status == "True") == named {
				t.Errorf("it has %d pods: %+v", d.replicas(), within)
			}
			if named && !strings.Contains(within.Message.String(), "it is not paused, since the budget counts no resources of its pods") {
				t.Errorf("it says %q", within.Message.String())
			}
		})
	}
}
