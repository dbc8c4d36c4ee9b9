package stockpools_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TestAnOrphaningDeleteEndsNoPods: a new Deployment adopts the ReplicaSet that the deleted
// one left, so that it starts with the number of its pods.
func TestAnOrphaningDeleteEndsNoPods(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*stockpool.Declaration){
		"replicas":  func(*stockpool.Declaration) {},
		"available": func(of *stockpool.Declaration) { of.ReplicasPolicy, of.Maximum = stockpool.ReplicasAvailable, 6 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.create(change)
			pods := slices.Clone(d.Cluster.StockPods(key))
			for n := range pods {
				pods[n].Labels["session"] = "a"
			}
			d.Cluster.Put(key, nil)
			d.Cluster.LeaveStockPods(key, pods...)

			r, err := d.Runner().Run(t.Context(), reconcile.RunOptions{DryRun: true})
			if err != nil || len(r.Decisions) != 1 || r.Decisions[0].Outcome != outcome.Planned ||
				!strings.Contains(r.Decisions[0].Summary(), "with 2 replicas, for the pods of the deleted one") {
				t.Fatalf("a dry run says %+v, %v", r.Decisions, err)
			}
			d.Run()
			d.Run()
			for _, p := range pods {
				if !slices.ContainsFunc(d.Cluster.StockPods(key), func(of stockpool.Pod) bool { return of.UID == p.UID }) {
					t.Errorf("the pod %s ended", p.Name)
				}
			}
		})
	}
}
