// Package simulated_test plays drawn schedules in one process and in simulated time. The flows
// of Terraform's provider and gpupool reconcile are goroutines. They are killed at calls of
// Tencent Cloud, at writes of the store, and at any time.
package simulated_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/stage"
)

var stored = flag.String("schedules", "testdata/*.json", "the files of schedules to play again")

func TestMain(m *testing.M) { soaktest.Main(m, 20, 200) }

func TestSchedulesKeepTheInvariants(t *testing.T) {
	t.Parallel()
	p := newPlayer(t)
	t.Run("found", p.found)
	t.Run("drawn", p.drawn)
}

func (p player) drawn(t *testing.T) {
	var total schedule.Counts
	rapid.Check(t, func(rt *rapid.T) {
		s := schedule.Draw(rt, 1, 8)
		counts, err := p.play(s)
		total = total.Plus(counts)
		if err != nil {
			rt.Logf("%s%s%s", s, s.JSON(), logOf(err))
			rt.Fatal(err)
		}
	})
	t.Log(total)
	if missing := total.Missing(); len(missing) > 0 && !t.Failed() {
		t.Errorf("nothing was shown, since there were no %v", missing)
	}
}

type player struct {
	schedules chan schedule.Schedule
	results   chan result
}

type result struct {
	counts schedule.Counts
	err    error
}

func newPlayer(t *testing.T) player {
	t.Helper()
	p := player{make(chan schedule.Schedule), make(chan result)}
	var played sync.WaitGroup
	played.Go(func() {
		synctest.Test(t, func(*testing.T) {
			for s := range p.schedules {
				p.results <- play(s)
			}
		})
	})
	t.Cleanup(func() { close(p.schedules); played.Wait() })
	return p
}

func (p player) play(s schedule.Schedule) (schedule.Counts, error) {
	p.schedules <- s
	r := <-p.results
	return r.counts, r.err
}

func play(s schedule.Schedule) result {
	w, err := stage.New(newPrograms())
	if err != nil {
		return result{err: err}
	}
	err = w.Play(context.Background(), s, func(int) {})
	return result{w.Counts(), errors.Join(err, w.Close())}
}

// found plays schedules that once broke something, or that a flag names.
func (p player) found(t *testing.T) {
	files, err := filepath.Glob(*stored)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d schedules: %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := schedule.Read(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := p.play(s); err != nil {
			t.Errorf("%s\n%s%s%v", name, s, logOf(err), err)
		}
	}
}

// logOf is what happened in the last rounds before something was broken.
func logOf(err error) string {
	var broken *stage.BrokenError
	if errors.As(err, &broken) {
		return broken.Log
	}
	return ""
}
