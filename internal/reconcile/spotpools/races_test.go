package spotpools_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// TestRunsBesideAnApplyKeepToMaximum runs two reconciles during an apply, in 40 schedules, with
// a soak in 200. They have random pauses before each effect, a reclaim in the middle,
// late tags, and some kills. The pool never exceeds its maximum, and a clean run afterwards
// leaves it at its minimum.
func TestRunsBesideAnApplyKeepToMaximum(t *testing.T) {
	t.Parallel()
	seeds := uint64(40)
	if soaktest.On() {
		seeds = 200
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			w := newWorld(t, func(o *cvmsim.Options) { o.TagDelay = time.Duration(random.IntN(5)) * time.Second })
			d := w.MustCreate(2, 4)
			w.Reclaim(1 + random.IntN(2))
			schedule := newSchedule(random)
			stopWatching := w.watchMaximum(4)

			var group sync.WaitGroup
			for range 2 {
				process := schedule.process()
				group.Go(func() {
					_, err := w.Runner(process).Run(context.Background(), reconcile.RunOptions{})
					var locked *reconcile.RunLockedError
					if err != nil && !errors.As(err, &locked) && !errors.Is(err, faults.ErrKilled) {
						t.Errorf("reconcile: %v", err)
					}
				})
			}
			process := schedule.process()
			group.Go(func() {
				raised := d
				raised.Minimum = 3
				_, err := w.Pools(process).Update(context.Background(), raised, reconciletest.LongWait)
				if err != nil && !errors.Is(err, faults.ErrKilled) && process.Fault == (faults.Fault{}) {
					t.Errorf("apply: %v", err)
				}
			})
			time.Sleep(time.Duration(random.IntN(15)) * time.Millisecond)
			_, _ = w.Sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: "train", Count: 1}) // there may be none
			group.Wait()

			updateAgain(func(d *spotpool.Declaration) { d.Minimum = 3 })(w, d)
			w.CleanRuns()
			stopWatching()
			w.Verify(3)
		})
	}
}

// schedule hands out processes that pause at random.
type schedule struct {
	mu     sync.Mutex
	random *rand.Rand
}

func newSchedule(random *rand.Rand) *schedule {
	return &schedule{random: rand.New(rand.NewPCG(random.Uint64(), 2))}
}

func (s *schedule) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

func (s *schedule) process() *faults.Process {
	m := &faults.Process{Before: func(faults.Call) { time.Sleep(time.Duration(s.draw(3000)) * time.Microsecond) }}
	if s.draw(3) == 0 {
		m.Fault = faults.Fault{At: 1 + s.draw(12), After: s.draw(2) == 0}
	}
	return m
}

// watchMaximum fails the test if Tencent Cloud ever has more of the pool's instances than
// maximum.
func (w *world) watchMaximum(maximum int) (stop func()) {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
			if own := w.Own(); len(own) > maximum {
				w.t.Errorf("the pool holds %d instances, and maximum is %d: %s", len(own), maximum, reconciletest.Describe(own))
				return
			}
		}
	})
	return func() { close(done); watching.Wait() }
}

// TestOneOfTwoCreationsOfANameSucceeds has two Terraform states create a pool of the same name:
// one succeeds, the other must import, and no instance is lost.
func TestOneOfTwoCreationsOfANameSucceeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var group sync.WaitGroup
	errs := make([]error, 2)
	for n := range errs {
		group.Go(func() {
			_, errs[n] = w.Pools(nil).Create(context.Background(), reconciletest.Pool(2, 4), reconciletest.LongWait)
		})
	}
	group.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("one create must succeed and one fail, not %v and %v", errs[0], errs[1])
	}
	var exists *record.ExistsError
	if err := errors.Join(errs...); !errors.As(err, &exists) {
		t.Errorf("the error does not say that the pool exists: %v", err)
	}
	w.Verify(2)

	other := *w.World // the same cloud
	other.Dir = t.TempDir() + "/store"
	if _, err := other.Pools(nil).Create(context.Background(), reconciletest.Pool(2, 4), reconciletest.LongWait); !errors.As(err, &exists) {
		t.Errorf("with another store: %v", err)
	}
	w.Verify(2)
}
