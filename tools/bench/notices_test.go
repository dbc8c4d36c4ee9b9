//go:build unix

package bench

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/notice"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// BenchmarkNotices is a run that launches the replacements of instances which all have an
// interruption notice, and evicts the pods of their nodes. It has two minutes for that. With
// agents, the run evicts two pods of each node, and the agents delete the protected ones.
func BenchmarkNotices(b *testing.B) {
	const podsEach = 5
	at(b, "notices", []int{40}, func(b *testing.B, notices int) {
		c, sim, dir := startCluster(b), startCVM(b), filepath.Join(b.TempDir(), "store")
		const turns = 6 // of compare: each takes a pool
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
				if n >= turns/2*notices && k >= 2 {
					kubetest.Annotation("gpupool/protected", "true")(pod)
				}
				_, err = kubetest.TryCreate(ctx, c.Cluster, pod)
			}
			return err
		})
		flags := []string{"--store", "directory:" + dir, "--kubeconfig", c.Kubeconfig()}
		reconcile(b, sim, flags...)
		turn, besides := 0, turns/2
		compare(b, run{fmt.Sprintf("evict-%d-pods", notices*podsEach), func() figures {
			own := pool(turn)
			turn++
			each(b, 0, len(machines), func(ctx context.Context, n int) error { return giveNotice(ctx, c, machines[n], own.UID) })
			r := reconcile(b, sim, append([]string{own.Name}, flags...)...)
			if evicted := r.Calls["create pods/eviction"]; evicted != notices*podsEach {
				b.Fatalf("the run evicted %d pods: %v", evicted, r.Calls)
			}
			return r.took
		}}, run{fmt.Sprintf("end-%d-pods-with-agents", notices*podsEach), func() figures {
			own := besides * notices
			besides++
			return endWithAgents(b, c, machines[own:own+notices], func() ran {
				return reconcile(b, sim, append([]string{pool(besides - 1).Name}, flags...)...)
			})
		}})
	})
}

// endWithAgents starts the agents of machines whose metadata services announce a reclaim, and then a run. It
// measures the time until each pod has its deletion.
func endWithAgents(b *testing.B, c *cluster, machines []cvmsim.Instance, runOnce func() ran) figures {
	b.Helper()
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: c.Kubeconfig()}, "gpupool/bench")
	check(b, err)
	ctx, stop := context.WithCancel(b.Context())
	var agents sync.WaitGroup
	defer agents.Wait()
	defer stop()
	noticed := time.Now()
	nodes := map[string]bool{}
	for _, i := range machines {
		metadata, err := notice.NewMetadata(announcing(b, i.InstanceID, noticed.Add(node.NoticeAhead)), notice.DefaultTimeout)
		check(b, err)
		agent := &notice.Agent{
			Node: "node-" + i.InstanceID, Metadata: metadata, Cluster: kubecluster.New(client), Interval: 5 * time.Second, Now: time.Now,
			Log: slog.New(slog.DiscardHandler), Warn: func(string) {},
		}
		nodes[agent.Node] = true
		agents.Go(func() { _ = agent.Run(ctx) })
	}
	ended := make(chan float64, 1)
	agents.Go(func() { ended <- c.lastDeletion(ctx, nodes, noticed) })
	took := runOnce().took
	took["last-deletion-s"] = <-ended
	return took
}

// announcing is the address of the metadata service of an instance with a notice.
func announcing(b *testing.B, instanceID string, at time.Time) string {
	b.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/instance-id") {
			fmt.Fprint(w, instanceID)
			return
		}
		fmt.Fprint(w, at.In(time.FixedZone("UTC+8", 8*60*60)).Format(time.DateTime))
	}))
	b.Cleanup(service.Close)
	return service.URL
}

// lastDeletion returns after how many seconds each pod of nodes had its deletion. It is positive infinity if that is not seen.
func (c *cluster) lastDeletion(ctx context.Context, nodes map[string]bool, since time.Time) float64 {
	for ctx.Err() == nil {
		left := 0
		pods, err := c.Client().CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		for _, pod := range pods.Items {
			if nodes[pod.Spec.NodeName] && pod.DeletionTimestamp == nil {
				left++
			}
		}
		if err == nil && left == 0 {
			return time.Since(since).Seconds()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return math.Inf(1)
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
