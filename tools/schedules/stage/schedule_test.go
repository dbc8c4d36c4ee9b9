//go:build unix

package stage

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// The schedules to play; without flags, the beginning of one.
var (
	seed      = flag.Uint64("seed", 0, "play this schedule only; 0 plays those from 1 on")
	file      = flag.String("file", "", "play the schedule in this file, as JSON, instead of one of a seed")
	schedules = flag.Int("schedules", 0, "how many schedules")
	rounds    = flag.Int("rounds", 16, "how many rounds each has")
	beside    = flag.Int("beside", 2*runtime.NumCPU(), "how many are played at a time")
	shrink    = flag.Duration("shrink", 0, "how long to look for a smaller schedule that breaks something, too")
	keep      = flag.Bool("keep", false, "keep the files of schedules that broke something")
	verbose   = flag.Bool("log", false, "print the log of each schedule")
)

func chosen(t *testing.T) (list []schedule.Schedule) {
	t.Helper()
	switch {
	case *file != "":
		data, err := os.ReadFile(*file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schedule.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		return []schedule.Schedule{s}
	case *seed == 0 && *schedules == 0:
		return []schedule.Schedule{schedule.Of(9, *rounds)}
	case *seed != 0:
		return []schedule.Schedule{schedule.Of(*seed, *rounds)}
	}
	for n := range *schedules {
		list = append(list, schedule.Of(uint64(n+1), *rounds))
	}
	return list
}

// TestSchedules plays seeded schedules with real processes: terraform apply with changing sizes
// and images, and two gpupool reconcile at the same time. They are killed at their calls and at
// random times. Meanwhile, the local CVM interrupts machines, fails, steps its clock, and shows
// machines and tags late. The test fails if an invariant broke, and if nothing happened that
// could have broken it. It shrinks a failing schedule.
func TestSchedules(t *testing.T) {
	t.Parallel()
	binaries, list := binariesOf(t), chosen(t)
	results := make([]result, len(list))
	places := make(chan struct{}, *beside)
	var group sync.WaitGroup
	for n, s := range list {
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			results[n] = binaries.play(t.Context(), s, func(round int) { t.Logf("seed %d: round %d of %d", s.Seed, round+1, len(s.Rounds)) })
			t.Logf("seed %d: %s%s", s.Seed, results[n].counts, results[n].log)
		})
	}
	group.Wait()
	var total schedule.Counts
	for _, r := range results {
		total = total.Plus(r.counts)
	}
	t.Logf("all: %s", total)
	for n, r := range results {
		if r.err != nil {
			t.Errorf("seed %d: %v\n%s\nrepeat it by: make schedules SEED=%d ARGS='-rounds %d'", list[n].Seed, r.err, r.kept, list[n].Seed, *rounds)
		}
	}
	for n, r := range results {
		if broken := (*BrokenError)(nil); errors.As(r.err, &broken) {
			binaries.shrink(t, schedule.Schedule{Rounds: list[n].Rounds[:broken.Round+1]})
			return
		}
	}
	if missing := total.Missing(); len(missing) > 0 && *file == "" {
		t.Errorf("nothing was shown, since there were no %v", missing)
	}
}

type result struct {
	counts schedule.Counts
	err    error
	log    string // of all if that is asked for, else of the last rounds before something broke
	kept   string // where its files are
}

func (b Binaries) play(ctx context.Context, s schedule.Schedule, heard func(round int)) (r result) {
	dir, err := os.MkdirTemp("", "gpupool-schedules-")
	if err != nil {
		return result{err: err}
	}
	w, err := b.inWorld(dir)
	if err != nil {
		return result{err: err}
	}
	r.err = errors.Join(w.Play(ctx, s, heard), w.Close())
	r.counts = w.Counts()
	if broken := (*BrokenError)(nil); errors.As(r.err, &broken) {
		r.log = "\n" + broken.Log
	}
	if *verbose {
		r.log = "\n" + w.Log()
	}
	if r.err != nil && *keep {
		r.kept = "its files are in " + dir
		return r
	}
	r.err = errors.Join(r.err, os.RemoveAll(dir))
	return r
}

func (b Binaries) inWorld(dir string) (*World, error) {
	in, err := b.In(dir)
	if err != nil {
		return nil, err
	}
	return New(in)
}

// shrink drops what a schedule breaks something without, and prints what is left.
func (b Binaries) shrink(t *testing.T, s schedule.Schedule) {
	t.Helper()
	if *shrink == 0 {
		return
	}
	t.Logf("looking for a smaller schedule, for %v at most", *shrink)
	ctx, cancel := context.WithTimeout(t.Context(), *shrink)
	defer cancel()
	s = s.Shrink(func(smaller schedule.Schedule) bool { return b.breaks(ctx, smaller) })
	name := filepath.Join(os.TempDir(), fmt.Sprintf("gpupool-schedule-%d.json", time.Now().Unix()))
	if err := os.WriteFile(name, s.JSON(), 0o600); err != nil {
		t.Error(err)
	}
	t.Logf("%s%srepeat it by: make schedules SCHEDULE=%s", s, s.JSON(), name)
}

// breaks reports whether a schedule breaks something in one of three tries, since real
// processes depend on timing. After the time is up, none does.
func (b Binaries) breaks(ctx context.Context, s schedule.Schedule) bool {
	for range 3 {
		broken := (*BrokenError)(nil)
		if ctx.Err() == nil && errors.As(b.play(ctx, s, func(int) {}).err, &broken) {
			return true
		}
	}
	return false
}

// binariesOf names the built binary and terraform or tofu. make hands both in; without it
// the binary is built here.
func binariesOf(t *testing.T) Binaries {
	t.Helper()
	b := Binaries{GPUPool: os.Getenv("GPUPOOL_BIN"), Terraform: os.Getenv("TF_ACC_TERRAFORM_PATH")}
	if b.GPUPool == "" {
		b.GPUPool = filepath.Join(t.TempDir(), "terraform-provider-gpupool")
		if out, err := exec.Command("go", "build", "-o", b.GPUPool, "../../..").CombinedOutput(); err != nil {
			t.Fatalf("building gpupool: %v\n%s", err, out)
		}
	}
	for _, name := range []string{"terraform", "tofu"} {
		if found, err := exec.LookPath(name); b.Terraform == "" && err == nil {
			b.Terraform = found
		}
	}
	if b.Terraform == "" {
		t.Fatal("neither terraform nor tofu is on PATH: run this by make test, which builds one")
	}
	return b
}
