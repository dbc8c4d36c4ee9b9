// Demo raises a pool of GPU spot instances by Terraform, has the cloud take one
// back, shows the plan that sees it, and has gpupool reconcile bring it back.
// Then it gives a team of the cluster a budget of GPU-hours, and shows what
// becomes of it, and of a pool that names it. Last it raises machines that are nodes, a
// warm stock of pods on them and a budget of both, from one configuration, and shows what
// becomes of the pods while people, the cloud and the budget interfere.
//
// Everything happens on this machine, against the local CVM that gpupool serves
// and a local Kubernetes: no cloud is called and nothing costs money. It needs
// the paths of the built binary in GPUPOOL_BIN, of terraform or tofu in TERRAFORM
// and of localkube in GPUPOOL_LOCALKUBE, and leaves no process, no instance and no
// file behind. With GPUPOOL_DEMO_KUBECONFIG the second part uses the cluster of
// that file, and removes from it what it created, and nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	started := time.Now()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "\nThe demo failed:", err)
		os.Exit(1)
	}
	stop()
	fmt.Printf("\nDone in %.0f s. No process, no instance and no file of the demo is left.\n", time.Since(started).Seconds())
	fmt.Println("Next: README.md has a real configuration, and the lines for cron and CI.")
}

// part is a chapter of the demo: its configuration, and what it goes through.
type part struct {
	configuration string
	acts          []act
	// cluster says that it needs a Kubernetes, and machines that its instances join a
	// local one.
	cluster, machines bool
}

var parts = []part{
	{configuration: "examples/demo", acts: poolActs},
	{configuration: "examples/demo-budget", acts: budgetActs, cluster: true},
	{configuration: "examples/complete", acts: completeActs, machines: true},
}

func run(ctx context.Context) error {
	first := 1
	for _, p := range parts {
		stage, err := newStage(ctx, os.Stdout, os.Getenv("GPUPOOL_BIN"), os.Getenv("TERRAFORM"), p.configuration)
		if err != nil {
			return err
		}
		switch {
		case p.machines:
			err = stage.enterWithMachines(ctx, os.Getenv("GPUPOOL_LOCALKUBE"))
		case p.cluster:
			err = stage.enterCluster(ctx, os.Getenv("GPUPOOL_LOCALKUBE"), os.Getenv("GPUPOOL_DEMO_KUBECONFIG"))
		}
		if err == nil {
			err = stage.play(ctx, first, p.acts)
		}
		if err := errors.Join(err, stage.close()); err != nil {
			return err
		}
		first += len(p.acts)
	}
	return nil
}

// play goes through acts, and numbers them from first.
func (s *stage) play(ctx context.Context, first int, acts []act) error {
	for n, act := range acts {
		title := fmt.Sprintf("%d. %s", first+n, act.title)
		if colours(s.out) {
			title = "\x1b[1m" + title + "\x1b[0m"
		}
		fmt.Fprintf(s.out, "\n%s\n   %s\n", title, act.why)
		if err := act.do(ctx, s); err != nil {
			return fmt.Errorf("step %d, %s: %w", first+n, act.title, err)
		}
	}
	return nil
}

// act is one step of the demo: what it does, why, and how.
type act struct {
	title, why string
	do         func(context.Context, *stage) error
}

// colours reports whether what is written to out may be coloured.
func colours(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
