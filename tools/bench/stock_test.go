//go:build unix

package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const podsPerStock = 5

// BenchmarkStock compares an idle run over stock pools and budgets, one per namespace, with one
// over the same cluster and budgets without stock pools.
func BenchmarkStock(b *testing.B) {
	at(b, "pools", []int{1000}, func(b *testing.B, pools int) {
		c := startCluster(b)
		c.grow(b, podsPerNode) // others' pods
		without, with := filepath.Join(b.TempDir(), "store"), filepath.Join(b.TempDir(), "store")
		for _, dir := range []string{without, with} {
			to := openStore(b, dir)
			for n, namespace := range c.namespaces {
				d := budgetOf(n, c.uid, budget.Selector{Namespaces: []string{namespace}})
				write(b, to, store.Budgets, d.Key(), active(d))
			}
			for n := 0; n < pools && dir == with; n++ {
				d := c.stock(n)
				write(b, to, store.StockPools, d.Key(), active(d))
			}
		}
		last := map[string]ran{}
		over := func(name, dir string) run {
			return run{name, func() figures {
				last[dir] = reconcile(b, nil, "--store", "directory:"+dir, "--kubeconfig", c.Kubeconfig())
				return last[dir].took
			}}
		}
		over("", with).do() // makes the Deployments
		c.rollOut(b, pools)
		compareSettled(b, over("without-stock-pools", without), over("with-stock-pools", with))
		checkIdle(b, last[with], pools)
		if writes := last[with].took["cluster-writes"]; writes > 0 {
			b.Fatalf("an idle run wrote %v times to the cluster", writes)
		}
		fmt.Printf("by verb and resource, without: %v; with: %v\n", last[without].Calls, last[with].Calls)
	})
}

func checkIdle(b *testing.B, r ran, pools int) {
	b.Helper()
	ready := 0
	for _, p := range r.StockPools {
		if p.Phase == string(decide.Ready) {
			ready++
		}
	}
	if ready != pools || len(r.Decisions) > 0 {
		b.Fatalf("%d stock pools are ready, %d decisions: that is no idle run", ready, len(r.Decisions))
	}
}

func (c *cluster) stock(n int) stockpool.Declaration {
	return stockpool.Declaration{
		Name: fmt.Sprintf("stock-%04d", n), Namespace: c.namespace(n), UID: fmt.Sprintf("%032x", n+1), Generation: 1, ClusterUID: c.uid,
		SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: podsPerStock,
		Labels: map[string]string{"team": "a", "tier": "warm"}, Env: map[string]string{"MODE": "warm", "REGION": region},
		AllocatedSelector: "session", PodDisruptionBudget: &stockpool.PodDisruptionBudget{MinAvailable: 1},
	}.WithDefaults()
}

// rollOut creates what the controllers would: ready pods of each Deployment, and its status.
func (c *cluster) rollOut(b *testing.B, pools int) {
	b.Helper()
	each(b, 0, pools*podsPerStock, func(ctx context.Context, n int) error {
		d := c.stock(n / podsPerStock)
		const hash = "5d8f7c9b6"
		replicaSet, labels := d.Name+"-"+hash, d.PodLabels()
		labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
		pod := kubetest.Pod(d.Namespace, fmt.Sprintf("%s-%02d", replicaSet, n%podsPerStock), kubetest.Labels(labels))
		pod.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: replicaSet, UID: "00000000-0000-4000-8000-000000000000", Controller: new(true),
		}}
		pod.Spec = d.Deployment("", 0).Spec.Template.Spec
		pod.Spec.NodeName = "node-0000"
		return c.run(ctx, pod)
	})
	each(b, 0, pools, func(ctx context.Context, n int) error {
		d := c.stock(n)
		deployments := c.Client().AppsV1().Deployments(d.Namespace)
		of, err := deployments.Get(ctx, d.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		of.Status = appsv1.DeploymentStatus{
			ObservedGeneration: of.Generation, Replicas: podsPerStock, UpdatedReplicas: podsPerStock, ReadyReplicas: podsPerStock,
			AvailableReplicas: podsPerStock,
		}
		_, err = deployments.UpdateStatus(ctx, of, metav1.UpdateOptions{})
		return err
	})
}
