//go:build unix

package bench

import (
	"context"
	"fmt"
	"os/exec"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// BenchmarkIdle is a run in which nothing is decided, and then the status of all. The store in
// the cluster has spot pools, budgets in use, and stock pools.
func BenchmarkIdle(b *testing.B) {
	at(b, "pools", []int{1000}, func(b *testing.B, pools int) {
		const namespace = "gpupool-system"
		budgets, stock := pools, pools/5
		c, sim := startCluster(b), startCVM(b)
		c.grow(b, podsPerNode) // others' pods, and a node
		seedMachines(b, sim, pools, 1)
		to := openNamespace(b, c, namespace)
		for n := range pools {
			d := pool(n)
			d.Minimum, d.Maximum = 1, 2
			declarePool(b, to, d)
		}
		for n := range budgets {
			d := budgetOf(n, c.uid, budget.Selector{MatchLabels: map[string]string{"budget": fmt.Sprint(n)}})
			write(b, to, store.Budgets, d.Key(), active(d))
		}
		for n := range stock {
			d := c.stock(n)
			write(b, to, store.StockPools, d.Key(), active(d))
		}
		each(b, 0, budgets/podsPerNode, func(ctx context.Context, n int) error {
			_, err := kubetest.TryCreate(ctx, c.Cluster, readyNode(fmt.Sprintf("gpus-%04d", n), kubetest.Capacity("nvidia.com/gpu", fmt.Sprint(podsPerNode))))
			return err
		})
		each(b, 0, budgets, func(ctx context.Context, n int) error {
			return c.run(ctx, kubetest.Pod(c.namespace(n), fmt.Sprintf("uses-%04d", n), kubetest.GPUs(1),
				kubetest.BoundTo(fmt.Sprintf("gpus-%04d", n/podsPerNode)), kubetest.Labels(map[string]string{"budget": fmt.Sprint(n)})))
		})
		var last ran
		over := func() figures {
			last = reconcile(b, sim, "--store", "kubernetes:"+namespace, "--kubeconfig", c.Kubeconfig())
			return last.took
		}
		over() // makes the Deployments
		c.rollOut(b, stock)
		compareSettled(b, run{"run", over})
		checkIdle(b, last, stock)
		fmt.Printf("by action, or verb and resource: %v\n", last.Calls)
		status := exec.CommandContext(b.Context(), program(b, "GPUPOOL_BIN"), "status", "-o", "json", "--store", "kubernetes:"+namespace,
			"--kubeconfig", c.Kubeconfig())
		status.Env = against(sim)
		took, _ := must(b, status)
		report(b, "status", took, nil)
	})
}
