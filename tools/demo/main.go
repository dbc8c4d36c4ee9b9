// Demo plays the scripts in stories/ as terminal sessions. They show a spot pool that
// recovers, a budget that is enforced, and nodes, a stock pool and a budget together.
// With arguments it plays those stories instead: recording is the one of the README.
//
// Everything happens on this machine, with a local CVM and a local Kubernetes, and nothing
// costs money. Set GPUPOOL_BIN to the built binary, TERRAFORM to terraform or tofu, and
// GPUPOOL_LOCALKUBE to localkube, with kubectl next to it. GPUPOOL_DEMO_BUILD can be a command
// that builds them. The demo runs it in the background, and waits for it before the first story
// that needs a cluster. The demo leaves no process, no instance and no file, except the report
// demo.html next to the binary. With GPUPOOL_DEMO_KUBECONFIG the story of budgets plays in the
// cluster of that file, and removes from it only what it created.
//
// The stories are written in the language of testscript, whose cp, env and stdout they
// use. The demo adds these commands, most of which a reader sees as they are run:
//
//	step TITLE WHY       prints a numbered heading.
//	$ COMMAND... [&]     runs gpupool, terraform, kubectl or a file; & puts it in the
//	                     background. kubectl is the one that is built with localkube.
//	attached COMMAND...  runs a command that writes to the terminal itself, if there is
//	                     one: it wraps its lines, and the story's stdout does not see it.
//	quietly COMMAND...   runs a command, and shows it only if it fails.
//	until RE COMMAND...  runs a command every five seconds until it prints a match.
//	fg, interrupt        waits for the command in the background, or interrupts it.
//	export NAME=VALUE... sets the environment of the commands that follow.
//	post PATH BODY       tells the local CVM what the cloud does next.
//	instances N          waits until the cloud has N instances, and lists them. It sets
//	                     $INSTANCE to the oldest, and $CLOUD_TIME to the cloud's clock.
//	cluster [joined]     starts a local Kubernetes, or uses GPUPOOL_DEMO_KUBECONFIG, and
//	                     creates the namespace gpupool-demo in it. joined is always
//	                     local: instances that run join it as nodes.
//	apply COMMAND...     creates the objects that a command prints, without those that
//	                     would run gpupool: the demo does that.
//	pods N [PHASE]       waits until that namespace has N pods, all in that phase, and
//	                     lists them. It sets $POD to the first.
//	pause TIME WHY       waits.
//	serve                with GPUPOOL_DEMO_SERVE, runs gpupool serve until Ctrl-C.
//
// $REPORT is the file of the report.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// stories are those of make demo, with what each shows.
var stories = []struct{ name, shows string }{
	{"pool", "A pool lost an instance. Plan, dry run and run agreed, and replaced it."},
	{"budget", "A team used up its GPU-hours: its pods were evicted, new ones blocked."},
	{"complete", "Nodes were drained before they went, and drift of a stock was reverted."},
}

// interrupted is the exit code of a program that Ctrl-C ended.
const interrupted = 130

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, func() {
		stop() // a second Ctrl-C ends the demo at once
		fmt.Fprintln(os.Stderr, "\nStopping, and removing what the demo created. Press Ctrl-C again to leave it there.")
	})
	started := time.Now()
	report := filepath.Join(filepath.Dir(os.Getenv("GPUPOOL_BIN")), "demo.html")
	_ = os.Remove(report) // that of an earlier demo, if any
	played := os.Args[1:]
	if len(played) == 0 {
		for _, story := range stories {
			played = append(played, story.name)
		}
	}
	err := run(ctx, played, report)
	switch {
	case err == nil:
		fmt.Print(lastScreen(played, time.Since(started), report))
	case errors.Is(err, errNotRemoved):
		fmt.Fprintln(os.Stderr, "\nThe demo could not clean up:", err)
		os.Exit(1)
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "Stopped. No process and no instance of the demo is left.")
		os.Exit(interrupted)
	default:
		fmt.Fprintln(os.Stderr, "\nThe demo failed:", err)
		fmt.Fprintln(os.Stderr, "Everything that it started is stopped and removed. Run make demo to play it again.")
		os.Exit(1)
	}
}

// lastScreen returns what the stories showed, and what to do next.
func lastScreen(played []string, took time.Duration, report string) string {
	screen := fmt.Sprintf("\nDone in %.0f s. No process, no instance and no other file of the demo is left.\n", took.Seconds())
	for _, story := range stories {
		if slices.Contains(played, story.name) {
			screen += "- " + story.shows + "\n"
		}
	}
	next := "Next: "
	if _, err := os.Stat(report); err == nil {
		next += "open " + relative(report) + ", and "
	}
	return screen + next + "read docs/guides/first-pool.md for your own pool.\n"
}

// relative returns the path of a file as a reader types it.
func relative(file string) string {
	here, err := os.Getwd()
	if err != nil {
		return file
	}
	if short, err := filepath.Rel(here, file); err == nil {
		return short
	}
	return file
}

// run plays stories, and numbers their steps through.
func run(ctx context.Context, stories []string, report string) error {
	var kubernetes *build
	if command := os.Getenv("GPUPOOL_DEMO_BUILD"); command != "" {
		var err error
		if kubernetes, err = startBuild(ctx, command); err != nil {
			return err
		}
		defer kubernetes.stop()
	}
	steps := 0
	for _, story := range stories {
		s, err := newStage(os.Stdout, os.Getenv("GPUPOOL_BIN"), os.Getenv("TERRAFORM"))
		if err != nil {
			return err
		}
		s.steps, s.report, s.serves = steps, report, os.Getenv("GPUPOOL_DEMO_SERVE") != ""
		s.localkube, s.kubernetes, s.kubeconfig = os.Getenv("GPUPOOL_LOCALKUBE"), kubernetes, os.Getenv("GPUPOOL_DEMO_KUBECONFIG")
		if err := errors.Join(s.play(ctx, "tools/demo/stories/"+story+".txt", "examples"), s.close()); err != nil {
			return err
		}
		steps = s.steps
	}
	return nil
}
