package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
)

const (
	budgetName = "kubelet"
	every      = 6 * time.Second
)

// gpupool is the built program, with a store and a cluster.
type gpupool struct {
	binary, store, kubeconfig string
}

// declare creates the store, and the budget as the Terraform resource does.
func (g *gpupool) declare(ctx context.Context) error {
	connect := func() (*kubeclient.Client, error) {
		return kubeclient.Open(kubeclient.Config{ConfigPath: g.kubeconfig}, "kubelet-trial")
	}
	location, err := store.Parse(g.store)
	if err != nil {
		return err
	}
	place, err := open.Store(ctx, location, open.Options{Create: true, Command: "kubelet-trial", Kubernetes: connect})
	if err != nil {
		return err
	}
	world := reconcile.World{Store: place, Actor: "kubelet-trial", Cluster: func(context.Context) (reconcile.Cluster, error) {
		client, err := connect()
		if err != nil {
			return nil, err
		}
		return kubecluster.New(client), nil
	}}
	_, err = world.Budgets().Create(ctx, budget.Declaration{
		Name: budgetName, GPUHours: "100", Window: "24h", CountFrom: budget.FromRunning, Selector: budget.Selector{Namespaces: []string{namespace}},
	}.WithDefaults())
	return err
}

func (g *gpupool) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, g.binary, append(args, "--store", g.store, "--kubeconfig", g.kubeconfig)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir()}
	return cmd
}

func (g *gpupool) reconcile(ctx context.Context) error {
	if out, err := g.command(ctx, "reconcile").CombinedOutput(); err != nil {
		return fmt.Errorf("gpupool reconcile: %w\n%s", err, out)
	}
	return nil
}

// keep runs it until all pods have ended, and once more then. One run is killed.
func (g *gpupool) keep(ctx context.Context, client kubernetes.Interface) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for killed, ended := false, false; !ended; {
		if err := g.reconcile(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		var err error
		if !killed {
			killed, err = g.killed(ctx)
		}
		if err != nil {
			return err
		}
		if ended, err = allEnded(ctx, client); err != nil {
			return err
		}
		if ended && !killed {
			return errors.New("each run of gpupool reconcile was over before it was killed: run more pods")
		}
	}
	return g.reconcile(ctx)
}

// killed starts a run and kills it in the middle. It returns false if the run was quicker.
func (g *gpupool) killed(ctx context.Context) (bool, error) {
	run := g.command(ctx, "reconcile")
	if err := run.Start(); err != nil {
		return false, err
	}
	time.Sleep(300 * time.Millisecond)
	_ = run.Process.Kill()
	_ = run.Wait()
	status, ok := run.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL, nil
}

// count adds what gpupool counted to each pod.
func (g *gpupool) count(ctx context.Context, pods []pod) error {
	var problems bytes.Buffer
	usage := g.command(ctx, "usage", budgetName, "--output", "json")
	usage.Stderr = &problems
	out, err := usage.Output()
	if err != nil {
		return fmt.Errorf("gpupool usage: %w\n%s", err, &problems)
	}
	var report struct {
		Pods []struct {
			Name      string     `json:"name"`
			Start     time.Time  `json:"start"`
			End       *time.Time `json:"end"`
			EndSource string     `json:"end_source"`
		} `json:"pods"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return fmt.Errorf("gpupool usage: %w in\n%s", err, out)
	}
	counted := map[string]pod{}
	for _, p := range report.Pods {
		if p.End == nil {
			return fmt.Errorf("gpupool usage: pod %s has ended, and counts on", p.Name)
		}
		counted[p.Name] = pod{counted: p.End.Sub(p.Start), source: p.EndSource}
	}
	for i := range pods {
		pods[i].counted, pods[i].source = counted[pods[i].name].counted, counted[pods[i].name].source
	}
	return nil
}
