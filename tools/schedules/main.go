//go:build unix

// Schedules plays seeded schedules with real processes: terraform apply with
// changing sizes and images, and two gpupool reconcile beside it, killed at random
// moments and in the middle of calls, while the local CVM reclaims machines, fails,
// steps its clock, and shows machines and tags late. It fails where something broke
// that must always hold, and where nothing happened that could have broken it.
//
// It needs the paths of the built binary in GPUPOOL_BIN and of terraform or tofu in
// TERRAFORM: run it by make schedules. A schedule is repeated by its seed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/stage"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "schedules:", err)
		os.Exit(1)
	}
}

// options say what to play.
type options struct {
	seed          uint64 // 0: 1 to schedules
	schedules     int
	rounds        int
	beside        int
	keep, verbose bool
}

func read(args []string) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("schedules", flag.ContinueOnError)
	flags.Uint64Var(&o.seed, "seed", 0, "play this schedule alone; 0 plays those from 1 on")
	flags.IntVar(&o.schedules, "schedules", 10, "how many schedules")
	flags.IntVar(&o.rounds, "rounds", 40, "how many rounds each has")
	flags.IntVar(&o.beside, "beside", 2*runtime.NumCPU(), "how many are played at a time")
	flags.BoolVar(&o.keep, "keep", false, "keep the files of schedules that broke something")
	flags.BoolVar(&o.verbose, "log", false, "print the log of each schedule")
	return o, flags.Parse(args)
}

func run(ctx context.Context, args []string) error {
	o, err := read(args)
	if err != nil {
		return err
	}
	seeds := []uint64{o.seed}
	if o.seed == 0 {
		seeds = nil
		for n := range o.schedules {
			seeds = append(seeds, uint64(n+1))
		}
	}
	started := time.Now()
	results := playAll(ctx, o, seeds)
	var total schedule.Counts
	broke := 0
	for n, r := range results {
		total = total.Plus(r.counts)
		fmt.Printf("seed %d: %s\n", seeds[n], r.counts)
		if o.verbose {
			fmt.Println(r.log)
		}
		if r.err != nil {
			broke++
			report(o, seeds[n], r)
		}
	}
	fmt.Printf("all: %s, in %.0f s\n", total, time.Since(started).Seconds())
	if broke > 0 {
		return fmt.Errorf("%d of %d schedules failed", broke, len(seeds))
	}
	if missing := total.Missing(); len(missing) > 0 {
		return fmt.Errorf("nothing was shown, since there were no %v", missing)
	}
	return nil
}

// result is what became of a schedule.
type result struct {
	counts schedule.Counts
	err    error
	log    string
	kept   string
}

// playAll plays schedules, a few at a time.
func playAll(ctx context.Context, o options, seeds []uint64) []result {
	results := make([]result, len(seeds))
	progress := newProgress(os.Stderr, o.rounds)
	places := make(chan struct{}, o.beside)
	var group sync.WaitGroup
	for n, seed := range seeds {
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			results[n] = play(ctx, o, seed, progress)
			progress.done(seed, results[n].err)
		})
	}
	group.Wait()
	progress.stop()
	return results
}

// play plays one schedule in a world of its own.
func play(ctx context.Context, o options, seed uint64, progress *progress) (r result) {
	dir, err := os.MkdirTemp("", "gpupool-schedules-")
	if err != nil {
		return result{err: err}
	}
	w, err := stage.NewWorld(dir, stage.Programs{GPUPool: os.Getenv("GPUPOOL_BIN"), Terraform: os.Getenv("TERRAFORM")})
	if err != nil {
		return result{err: errors.Join(err, os.RemoveAll(dir))}
	}
	r.err = w.Play(ctx, schedule.Draw(seed, o.rounds), func(round int) { progress.round(seed, round) })
	r.err = errors.Join(r.err, w.Close())
	r.counts = w.Counts()
	if o.verbose {
		r.log = w.Log()
	}
	if r.err != nil && o.keep {
		r.kept = dir
		return r
	}
	r.err = errors.Join(r.err, os.RemoveAll(dir))
	return r
}

// report says what a schedule broke, and how to repeat it.
func report(o options, seed uint64, r result) {
	var broken *stage.BrokenError
	if errors.As(r.err, &broken) && !o.verbose {
		fmt.Println(broken.Log)
	}
	fmt.Println(r.err)
	if r.kept != "" {
		fmt.Println("its files are in", filepath.Clean(r.kept))
	}
	fmt.Printf("repeat it by: make schedules SEED=%d\n\n", seed)
}
