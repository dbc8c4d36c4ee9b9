//go:build unix

package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// BenchmarkNotices is a run that launches the replacements of instances which all have an
// interruption notice, and evicts the pods of their nodes. It has two minutes for that.
func BenchmarkNotices(b *testing.B) {
	const podsEach = 5
	at(b, "notices", []int{40}, func(b *testing.B, notices int) {
		c, sim, dir := startCluster(b), startCVM(b), filepath.Join(b.TempDir(), "store")
		const turns = 3 // of compare: each takes a pool
		seedMachines(b, sim, turns, notices)
		to := openStore(b, dir)
		for n := range turns {
			d := pool(n)
			d.Minimum, d.Maximum, d.Nodes, d.ClusterUID = notices, 2*notices, &spotpool.Nodes{Drain: spotpool.Drain{UnmanagedPods: node.Evict}}, c.uid
			declarePool(b, to, d.WithDefaults())
		}
		machines := sim.Server.Instances()
		each(b, 0, len(machines), func(ctx context.Context, n int) error {
			made, err := kubetest.TryCreate(ctx, c.Cluster, poolNode(machines[n]))
			for k := 0; k < podsEach && err == nil; k++ {
				pod := kubetest.Pod(c.namespace(k), fmt.Sprintf("work-%04d-%d", n, k), kubetest.BoundTo(made.Name), kubetest.GPUs(1))
				_, err = kubetest.TryCreate(ctx, c.Cluster, pod)
			}
			return err
		})
		flags := []string{"--store", "directory:" + dir, "--kubeconfig", c.Kubeconfig()}
		reconcile(b, sim, flags...)
		turn := 0
		compare(b, run{fmt.Sprintf("evict-%d-pods", notices*podsEach), func() figures {
			own := pool(turn)
			turn++
			each(b, 0, len(machines), func(ctx context.Context, n int) error { return giveNotice(ctx, c, machines[n], own.UID) })
			r := reconcile(b, sim, append([]string{own.Name}, flags...)...)
			if evicted := r.Calls["create pods/eviction"]; evicted != notices*podsEach {
				b.Fatalf("the run evicted %d pods: %v", evicted, r.Calls)
			}
			return r.took
		}})
	})
}

// giveNotice has the node of an instance report that Tencent Cloud reclaims it, if it is of
// that pool.
func giveNotice(ctx context.Context, c *cluster, i cvmsim.Instance, poolUID string) error {
	if i.UID != poolUID {
		return nil
	}
	nodes := c.Client().CoreV1().Nodes()
	n, err := nodes.Get(ctx, "node-"+i.InstanceID, metav1.GetOptions{})
	if err != nil {
		return err
	}
	now := metav1.Now()
	n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
		Type: kubecluster.NoticeCondition, Status: corev1.ConditionTrue, Reason: kubecluster.NoticeReason, LastTransitionTime: now, LastHeartbeatTime: now,
		Message: node.Notice{At: now.Add(node.NoticeAhead)}.String(),
	})
	_, err = nodes.UpdateStatus(ctx, n, metav1.UpdateOptions{})
	return err
}
