// Demo raises a pool of GPU spot instances by Terraform, has the cloud take one
// back, shows the plan that sees it, and has gpupool reconcile bring it back.
//
// Everything happens on this machine, against the local CVM that gpupool serves:
// no cloud is called and nothing costs money. It needs the paths of the built
// binary in GPUPOOL_BIN and of terraform or tofu in TERRAFORM, and leaves no
// process, no instance and no file behind.
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

func run(ctx context.Context) error {
	stage, err := newStage(ctx, os.Stdout, os.Getenv("GPUPOOL_BIN"), os.Getenv("TERRAFORM"), "examples/demo")
	if err != nil {
		return err
	}
	return errors.Join(stage.play(ctx), stage.close())
}

// play goes through the acts.
func (s *stage) play(ctx context.Context) error {
	for n, act := range acts {
		title := fmt.Sprintf("%d. %s", n+1, act.title)
		if colours(s.out) {
			title = "\x1b[1m" + title + "\x1b[0m"
		}
		fmt.Fprintf(s.out, "\n%s\n   %s\n", title, act.why)
		if err := act.do(ctx, s); err != nil {
			return fmt.Errorf("step %d, %s: %w", n+1, act.title, err)
		}
	}
	return nil
}

// act is one step of the demo: what it does, why, and how.
type act struct {
	title, why string
	do         func(context.Context, *stage) error
}

var acts = []act{
	{
		"terraform apply: a pool of at least two GPU spot instances",
		"The provider writes down what it wants before it asks the cloud, so nothing is launched twice.",
		func(ctx context.Context, s *stage) error {
			if err := s.terraformQuietly(ctx, "init", "-input=false"); err != nil {
				return err
			}
			if err := s.terraform(ctx, "apply", "-auto-approve", "-input=false"); err != nil {
				return err
			}
			return s.expectInstances(ctx, 2)
		},
	},
	{
		"gpupool status: what is declared beside what is there",
		"The CLI reads the same store as the provider; it needs neither Terraform nor a server.",
		func(ctx context.Context, s *stage) error { return s.gpupool(ctx, "status", "--machines") },
	},
	{
		"The cloud takes one instance back",
		"That is what spot instances are cheap for. Here the local CVM is told to do it.",
		func(ctx context.Context, s *stage) error {
			if err := s.control(ctx, "reclaim", `{"pool":"train","count":1}`); err != nil {
				return err
			}
			return s.expectInstances(ctx, 1)
		},
	},
	{
		"terraform plan: the loss shows as an update that names the launch",
		"The pool itself is neither lost nor replaced; planned_actions says what apply would do.",
		func(ctx context.Context, s *stage) error { return s.terraformChanges(ctx) },
	},
	{
		"gpupool reconcile --dry-run: the same decision, from cron's side",
		"Plan, dry run and run come from one pure function, so they can't disagree.",
		func(ctx context.Context, s *stage) error { return s.gpupool(ctx, "reconcile", "--dry-run") },
	},
	{
		"gpupool reconcile --wait: the pool is healed",
		"Cron or a CI job runs this line every minute or so; a second run beside it does no harm.",
		func(ctx context.Context, s *stage) error {
			if err := s.gpupool(ctx, "reconcile", "--wait"); err != nil {
				return err
			}
			return s.expectInstances(ctx, 2)
		},
	},
	{
		"terraform plan: nothing left to do",
		"Terraform sees what reconcile did, and agrees with it.",
		func(ctx context.Context, s *stage) error {
			return s.terraform(ctx, "plan", "-input=false", "-detailed-exitcode")
		},
	},
	{
		"terraform destroy: every instance ends",
		"Only instances that carry this pool's own uid are touched.",
		func(ctx context.Context, s *stage) error {
			if err := s.terraform(ctx, "destroy", "-auto-approve", "-input=false"); err != nil {
				return err
			}
			return s.expectInstances(ctx, 0)
		},
	},
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
