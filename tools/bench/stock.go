//go:build unix

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const (
	manyStocks   = 1000
	podsPerStock = 5
	stockBudgets = 20 // one a namespace
)

// measureStock measures an idle run over stock pools and budgets, beside one over the
// same cluster and budgets with no stock pools. They take turns, and the best of each
// counts.
func measureStock(ctx context.Context, b *bench) error {
	server, err := b.startKubernetes(ctx)
	if err != nil {
		return err
	}
	defer server.Stop()
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: server.Kubeconfig}, "gpupool-bench")
	if err != nil {
		return err
	}
	cluster, err := client.UID(ctx)
	if err != nil {
		return err
	}
	seeds := &seeder{client: client}
	if err := seeds.grow(ctx, podsPerNode); err != nil { // namespaces, and others' pods
		return err
	}
	without, with := filepath.Join(b.dir, "store-no-stock"), filepath.Join(b.dir, "store-stock")
	for _, dir := range []string{without, with} {
		if err := declareBudgets(ctx, dir, cluster); err != nil {
			return err
		}
	}
	if err := declareStock(ctx, with, cluster); err != nil {
		return err
	}
	// The first run makes the Deployments; there is no controller that would make pods.
	run := func(dir string) (reconciled, error) {
		return b.reconcile(ctx, nil, "--store", "directory:"+dir, "--kubeconfig", server.Kubeconfig)
	}
	if _, err := run(with); err != nil {
		return err
	}
	if err := seedStockPods(ctx, seeds); err != nil {
		return err
	}
	runs, err := takeTurns(5, without, with, run)
	if err != nil {
		return err
	}
	if idle := runs[1]; idle.ready != manyStocks || writes(idle.cluster) > 0 || idle.decisions > 0 {
		return fmt.Errorf("%d stock pools are ready, %d decisions, %d writes: that is no idle run", idle.ready, idle.decisions, writes(idle.cluster))
	}
	fmt.Println("| idle run | stock pools | pods of them | budgets | calls of the cluster | wall | processor time | peak memory |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for n, pools := range []int{0, manyStocks} {
		r := runs[n]
		fmt.Printf("| %s | %d | %d | %d | %d | %s | %s | %s |\n", []string{"without stock pools", "with stock pools"}[n], pools, pools*podsPerStock,
			stockBudgets, total(r.cluster), seconds(r.wall), seconds(r.cpu), megabytes(r.memory))
	}
	fmt.Printf("| more | | | | %d | %s | %s | %s |\n", total(runs[1].cluster)-total(runs[0].cluster), seconds(runs[1].wall-runs[0].wall),
		seconds(runs[1].cpu-runs[0].cpu), megabytes(runs[1].memory-runs[0].memory))
	fmt.Printf("\nby verb and resource, without: %v; with: %v\n\n", runs[0].cluster, runs[1].cluster)
	return nil
}

// writes are those of the calls that change the cluster.
func writes(calls map[string]int) (n int) {
	for what, count := range calls {
		if verb, _, _ := strings.Cut(what, " "); verb != "get" && verb != "list" && verb != "watch" {
			n += count
		}
	}
	return n
}

func stockDeclaration(n int, cluster string) stockpool.Declaration {
	return stockpool.Declaration{
		Name: fmt.Sprintf("stock-%04d", n), Namespace: seedNamespace(n), UID: fmt.Sprintf("%032x", n+1), Generation: 1, ClusterUID: cluster,
		SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: podsPerStock,
		Labels: map[string]string{"team": "a", "tier": "warm"}, Env: map[string]string{"MODE": "warm", "REGION": region},
		AllocatedSelector: "session", PodDisruption: &stockpool.PodDisruption{MinimumAvailable: 1},
	}.WithDefaults()
}

func declareStock(ctx context.Context, dir, cluster string) error {
	return write(ctx, dir, store.StockPools, manyStocks, func(n int) (string, []byte, error) {
		d := stockDeclaration(n, cluster)
		data, err := declaration.Encode(active(d))
		return d.Key(), data, err
	})
}

// declareBudgets declares one a namespace, each of which covers the stock pools there.
func declareBudgets(ctx context.Context, dir, cluster string) error {
	return write(ctx, dir, store.Budgets, stockBudgets, func(n int) (string, []byte, error) {
		d := budget.Declaration{
			Name: fmt.Sprintf("budget-%02d", n), UID: fmt.Sprintf("%032x", n+1), Generation: 1, ClusterUID: cluster, GPUHours: "1000000", Window: "24h",
			Selector: budget.Selector{Namespaces: []string{seedNamespace(n)}}, Enforce: budget.Enforcement{Action: budget.AlertOnly},
		}.WithDefaults()
		data, err := declaration.Encode(active(d))
		return d.Key(), data, err
	})
}

// seedStockPods makes what the controllers would: the pods of each Deployment, which run
// and are ready, and a status that has seen them.
func seedStockPods(ctx context.Context, seeds *seeder) error {
	err := seeds.each(ctx, 0, manyStocks*podsPerStock, func(ctx context.Context, n int) error {
		d := stockDeclaration(n/podsPerStock, "")
		const hash = "5d8f7c9b6"
		replicaSet, labels := d.Name+"-"+hash, d.PodLabels()
		labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: d.Namespace, Name: fmt.Sprintf("%s-%02d", replicaSet, n%podsPerStock), Labels: labels,
				OwnerReferences: []metav1.OwnerReference{{
					APIVersion: "apps/v1", Kind: "ReplicaSet", Name: replicaSet, UID: "00000000-0000-4000-8000-000000000000", Controller: new(true),
				}},
			},
			Spec: d.Deployment("", 0).Spec.Template.Spec,
		}
		pod.Spec.NodeName = "node-0000"
		pods := seeds.client.Kubernetes().CoreV1().Pods(d.Namespace)
		made, err := pods.Create(ctx, pod, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made.Status = corev1.PodStatus{
			Phase: corev1.PodRunning, StartTime: new(metav1.Now()),
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()},
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()},
			},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: stockpool.Container, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
			}},
		}
		_, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return seeds.each(ctx, 0, manyStocks, func(ctx context.Context, n int) error {
		d := stockDeclaration(n, "")
		deployments := seeds.client.Kubernetes().AppsV1().Deployments(d.Namespace)
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
