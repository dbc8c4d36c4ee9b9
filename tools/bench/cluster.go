//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
	"github.com/gpupool/terraform-provider-gpupool/tools/local"
)

// podCounts are the sizes; one pod in gpuEvery holds a GPU.
var podCounts = []int{10_000, 30_000, 100_000}

const (
	gpuEvery    = 20
	changes     = 1000
	churn       = 3000 // changes before the first run: no cluster of this size is idle
	repeats     = 5
	benchStore  = "gpupool-system"
	benchBudget = "bench"
)

// measureCluster measures looks at many pods, on a real API server and etcd
// without controllers. Each size has the pods of the one before it.
func measureCluster(ctx context.Context, b *bench) error {
	server, err := b.startKubernetes(ctx)
	if err != nil {
		return err
	}
	defer server.Stop()
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: server.Kubeconfig}, "gpupool-bench")
	if err != nil {
		return err
	}
	seeds := &seeder{client: client}
	if err := declareBudget(ctx, client); err != nil {
		return err
	}
	fmt.Println("| pods | with GPUs | plain download | full scan | ratio | peak memory | first run of reconcile | peak memory | run after 1,000 changes | " +
		"of it at work | peak memory |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, n := range podCounts {
		if err := seeds.grow(ctx, n); err != nil {
			return err
		}
		if err := measurePods(ctx, b, server, seeds); err != nil {
			return err
		}
	}
	return nil
}

// measurePods measures one size. The times are the best of several, as those of
// the API server vary with whatever else it does.
func measurePods(ctx context.Context, b *bench, server *kubernetesServer, seeds *seeder) error {
	var plain, scan []time.Duration
	var memory int64
	for range repeats {
		took, _, err := server.child(ctx, "download")
		if err != nil {
			return err
		}
		plain = append(plain, took)
		took, peak, err := server.child(ctx, "scan")
		if err != nil {
			return err
		}
		scan, memory = append(scan, took), max(memory, peak)
	}
	if err := seeds.change(ctx, churn); err != nil {
		return err
	}
	first, err := server.reconcile(ctx, b)
	if err != nil {
		return err
	}
	if err := seeds.change(ctx, changes); err != nil {
		return err
	}
	second, err := server.reconcile(ctx, b)
	if err != nil {
		return err
	}
	if second.cluster["list pods"] > 1 {
		return fmt.Errorf("the run after %d changes listed all pods: it could not replay them", changes)
	}
	fmt.Printf("| %d | %d | %.2f s | %.2f s | %.2f | %d MB | %.2f s | %d MB | %.2f s | %.2f s | %d MB |\n",
		seeds.pods, seeds.pods/gpuEvery, slices.Min(plain).Seconds(), slices.Min(scan).Seconds(), slices.Min(scan).Seconds()/slices.Min(plain).Seconds(),
		memory>>20,
		first.wall.Seconds(), first.memory>>20, second.wall.Seconds(), second.cpu.Seconds(), second.memory>>20)
	return nil
}

// declareBudget makes a store in the cluster, and a budget over all pods of it.
func declareBudget(ctx context.Context, client *kubeclient.Client) error {
	store, err := kubernetes.Open(ctx, client, benchStore, kubernetes.Options{Create: true, Command: "bench"})
	if err != nil {
		return err
	}
	uid, err := client.UID(ctx)
	if err != nil {
		return err
	}
	p := reconcile.World{
		Store: store, Actor: "bench",
		Cluster: func(context.Context) (reconcile.Cluster, error) { return kubecluster.New(client), nil },
	}
	declared := budget.Declaration{
		Name: benchBudget, ClusterUID: uid, GPUHours: "1000000", Window: "24h",
		Selector: budget.Selector{MatchLabels: map[string]string{"team": "a"}},
		Enforce:  budget.Enforcement{Action: budget.AlertOnly},
	}
	_, err = p.Budgets().Create(ctx, declared.WithDefaults())
	return err
}

// kubernetesServer is a local API server and etcd that is measured against.
type kubernetesServer struct{ *local.Kubernetes }

func (b *bench) startKubernetes(ctx context.Context) (*kubernetesServer, error) {
	started, err := local.StartKubernetes(ctx, os.Getenv("GPUPOOL_LOCALKUBE"), filepath.Join(b.dir, "kubernetes"), "--no-kubelet", "--no-scheduler",
		"--controllers=serviceaccount-controller") // without it no namespace takes pods
	return &kubernetesServer{started}, err
}

// child runs this program again for one measurement, so that its memory is that
// measurement's alone. It returns the time that the measured part took.
func (s *kubernetesServer) child(ctx context.Context, what string) (time.Duration, int64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childVariable+"="+what, "KUBE_CONFIG_PATH="+s.Kubeconfig)
	c, out, err := measure(cmd)
	if err != nil {
		return 0, 0, err
	}
	nanoseconds, err := strconv.ParseInt(string(bytes.TrimSpace(out)), 10, 64)
	return time.Duration(nanoseconds), c.memory, err
}

// reconcile runs the program over the budget.
func (s *kubernetesServer) reconcile(ctx context.Context, b *bench) (reconciled, error) {
	r, err := b.reconcile(ctx, nil, "--store", "kubernetes:"+benchStore, "--kubeconfig", s.Kubeconfig)
	if err == nil && r.budgets != 1 {
		err = fmt.Errorf("the run reported %d budgets, want one", r.budgets)
	}
	return r, err
}
