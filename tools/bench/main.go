//go:build unix

// Bench measures gpupool at three sizes against the local CVM and a local
// Kubernetes, each figure beside something comparable that runs in the same minute, and prints the
// tables of docs/guides/performance.md.
//
// It needs the paths of the built binary in GPUPOOL_BIN, of terraform or tofu in
// TERRAFORM, and of hashicorp/time's provider in TIME_PROVIDER_BIN: run it by
// make bench. Arguments name the sections to run; none runs all.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// section is one table.
type section struct {
	name string
	run  func(ctx context.Context, b *bench) error
}

var sections = []section{
	{"reconcile", measureReconcile},
	{"nodes", measureNodes},
	{"stock", measureStock},
	{"plan", measurePlan},
	{"start", measureStart},
	{"cluster", measureCluster},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	stop()
}

func run(ctx context.Context, names []string) error {
	if len(names) > 1 && names[0] == measuredCommand {
		return runMeasured(ctx, names[1:])
	}
	if what := os.Getenv(childVariable); what != "" {
		return measureInChild(ctx, what)
	}
	b, err := newBench()
	if err != nil {
		return err
	}
	defer b.close()
	for _, s := range sections {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		fmt.Println()
		if err := s.run(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}
