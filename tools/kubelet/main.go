// Kubelet-trial compares the usage that gpupool counts with the clocks of real containers. It runs
// containerd, a kubelet and a device plugin with GPUs on this machine, and pods on them. Meanwhile
// gpupool reconcile runs every six seconds, and one run is killed. It needs root and Linux:
// run it by make kubelet.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gpupool/terraform-provider-gpupool/tools/local"
)

func main() {
	programs := flag.String("programs", "bin", "directory of the built programs")
	pods := flag.Int("pods", 50, "pods to run")
	fractions := flag.Bool("fractions", false, "run each pod up to a second less than its whole seconds")
	flag.Parse()
	// Cleaning up is not interrupted.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, *programs, *pods, *fractions)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubelet-trial:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, programs string, pods int, fractions bool) (err error) {
	m, err := openMachine(ctx, programs)
	if err != nil {
		return err
	}
	ctx, m.fail = context.WithCancelCause(ctx)
	defer func() {
		if cause := context.Cause(ctx); cause != nil {
			err = cause // a process ended, or the trial was interrupted
		}
		err = errors.Join(err, m.close())
	}()
	fmt.Println("Starting Kubernetes, containerd and a kubelet.")
	server, err := local.StartKubernetes(context.WithoutCancel(ctx), m.program("localkube"), m.path("kubernetes"), "--no-kubelet")
	if err != nil {
		return err
	}
	defer server.Stop()
	config, err := clientcmd.BuildConfigFromFlags("", server.Kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := m.startContainerd(ctx); err != nil {
		return err
	}
	if err := m.startKubelet(server.Kubeconfig); err != nil {
		return err
	}
	stop, err := servePlugin(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err := m.waitForNode(ctx, client); err != nil {
		return err
	}
	g := &gpupool{binary: m.program("gpupool"), store: "directory:" + m.path("store"), kubeconfig: server.Kubeconfig}
	if err := g.declare(ctx); err != nil {
		return fmt.Errorf("declare the budget: %w", err)
	}
	fmt.Printf("Running %d pods, and gpupool reconcile every %s.\n", pods, every)
	if err := createPods(ctx, client, m.clock(), pods, fractions); err != nil {
		return err
	}
	if err := g.keep(ctx, client); err != nil {
		return err
	}
	ended, err := readPods(ctx, client)
	if err != nil {
		return err
	}
	if err := g.count(ctx, ended); err != nil {
		return err
	}
	if fractions {
		return compare(os.Stdout, ended, withFractions)
	}
	return compare(os.Stdout, ended, wholeSeconds)
}
