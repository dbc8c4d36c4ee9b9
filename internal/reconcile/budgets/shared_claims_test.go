package budgets_test

import (
	"context"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// byClaim has a pod of a team hold two GPUs by a claim that others may hold.
func byClaim(team string) func(*gpu.Pod) {
	return func(s *gpu.Pod) {
		s.Labels = map[string]string{"team": team}
		s.Shares = []ledger.Share{{Resource: "gpu.nvidia.com", Units: big.NewRat(2, 1), Weight: big.NewRat(1, 1), Claim: "uid-of-claim"}}
	}
}

// TestPodsThatJoinAClaimLaterShareItFromThen, and leave it to those who stay:
// whether runs saw them come and go one by one, or all at once.
func TestPodsThatJoinAClaimLaterShareItFromThen(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]bool{"each seen as it comes": true, "all seen at once": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			observe := func() {
				if runs {
					d.Run()
				}
			}
			all := d.Declare(plenty, func(b *budget.Declaration) { b.Selector = budget.Selector{Namespaces: []string{"ml"}} })
			d.Declare(plenty, func(b *budget.Declaration) {
				b.Name, b.Selector = "the-second", budget.Selector{MatchLabels: map[string]string{"team": "second"}}
			})
			d.Run()
			first := d.Cluster.Start("ml", "first", 0, byClaim("first"))
			observe()
			d.Cluster.Step(30 * time.Minute)
			d.Cluster.Start("ml", "second", 0, byClaim("second"))
			observe()
			d.Cluster.Step(30 * time.Minute)
			third := d.Cluster.Start("ml", "third", 0, byClaim("third"))
			observe()
			d.Cluster.Step(15 * time.Minute)
			d.Cluster.Finish(first)
			observe()
			d.Cluster.Step(15 * time.Minute)
			d.Cluster.Remove(third)
			observe()
			d.Cluster.Step(30 * time.Minute)
			report := d.Run()
			// Two GPUs for two hours. Of them, the second pod gets a half of each for 30 minutes, a third for
			// 15, a half for 15, and all for 30.
			wantConsumed(t, report, "4.000")
			if got := report.Budgets[1].ConsumedGPUHours; got != "1.917" {
				t.Errorf("the second's budget counts %s GPU-hours, want 1.917", got)
			}
			live, err := d.Budgets().Ask(context.Background(), budgets.Question{Budget: all.Name})
			if err != nil {
				t.Fatal(err)
			}
			var pods []string
			for _, p := range live.Pods {
				pods = append(pods, p.Record.Name+" "+budget.GPUs(p.GPUs)+" "+budget.Hours(p.Consumed))
			}
			if diff := cmp.Diff([]string{"first 2/3 1.667", "second 2 1.917", "third 1 0.417"}, pods); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
		})
	}
}

// TestVictimsHoldTheirPartOfAClaim: what a decision says of a pod is its part.
func TestVictimsHoldTheirPartOfAClaim(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Enforce.EvictionOrder = budget.LargestUsage })
	d.Cluster.Start("ml", "first", 0, byClaim("a"))
	d.Run()
	d.Cluster.Start("ml", "second", 0, byClaim("a"))
	d.Cluster.Step(12 * time.Hour)
	var held []string
	for _, r := range d.Run().Decisions {
		if d, ok := r.Decision.(budget.Decision); ok && d.Pod != nil {
			held = append(held, d.Pod.Name+" "+budget.MilliGPUs(d.Pod.MilliGPUs))
		}
	}
	if diff := cmp.Diff([]string{"first 1", "second 1"}, held); diff != "" {
		t.Errorf("the victims hold (-want +got):\n%s", diff)
	}
}
