package budgets_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

// TestAKillAmongPausesIsGoneOnFrom kills runs that pause, or resume, more workloads
// than one batch for two budgets, and a destroy that resumes them, here and there:
// whatever was cut short is gone on with, and each workload gets back what it had. It is
// right after the effect, and with -every-fault right before it, too.
func TestAKillAmongPausesIsGoneOnFrom(t *testing.T) {
	t.Parallel()
	const workloads = 60
	type scene struct {
		d    *desk
		a, b budget.Declaration
	}
	exceeded := func(t *testing.T) scene {
		t.Helper()
		d := newDesk(t)
		s := scene{d: d}
		s.a = d.Declare(enforcing(budget.Pause), quietly, func(b *budget.Declaration) { b.Name = "a" })
		s.b = d.Declare(enforcing(budget.Pause), quietly, func(b *budget.Declaration) { b.Name, b.Enforce.Repause = "b", true })
		for n := range workloads {
			name := fmt.Sprintf("w-%02d", n)
			d.Cluster.Start("ml", name, 1, ownedBy("Deployment", name))
			w := budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: name, UID: "uid-of-" + name}}
			d.Cluster.WorkloadOf(w).Replicas = int32(1 + n)
		}
		d.Cluster.Step(time.Hour)
		return s
	}
	paused := func(t *testing.T) scene {
		t.Helper()
		s := exceeded(t)
		s.d.Run()
		return s
	}
	run := func(ctx context.Context, e *reconcile.Engine, _ scene) error {
		_, err := e.Run(ctx, reconcile.RunOptions{})
		return err
	}
	wantPaused := func(t *testing.T, s scene, held int) {
		t.Helper()
		if n := len(s.d.Cluster.Stopped()); n != workloads || len(s.d.holds()) != held {
			t.Fatalf("%d are stopped, and %d held", n, len(s.d.holds()))
		}
	}
	wantResumed := func(t *testing.T, s scene) {
		t.Helper()
		if len(s.d.Cluster.Stopped()) > 0 || len(s.d.holds()) > 0 {
			t.Fatalf("%v are stopped, and the store holds %v", s.d.Cluster.Stopped(), s.d.holds())
		}
		for n := range workloads {
			if w := s.d.Cluster.Workloads[fmt.Sprintf("uid-of-w-%02d", n)]; w.Replicas != int32(1+n) {
				t.Errorf("%s has %d replicas", w.Name, w.Replicas)
			}
		}
	}
	for _, story := range []struct {
		name    string
		prepare func(t *testing.T) scene
		do      func(ctx context.Context, e *reconcile.Engine, s scene) error
		verify  func(t *testing.T, s scene)
	}{
		{"a run that pauses", exceeded, run, func(t *testing.T, s scene) {
			t.Helper()
			s.d.Run()
			wantPaused(t, s, 2*workloads)
			s.d.raise(s.a)
			s.d.Run()
			wantPaused(t, s, workloads)
			s.d.raise(s.b)
			s.d.Run()
			wantResumed(t, s)
		}},
		{"a run that resumes", func(t *testing.T) scene {
			t.Helper()
			s := paused(t)
			s.d.raise(s.a)
			s.d.raise(s.b)
			return s
		}, run, func(t *testing.T, s scene) {
			t.Helper()
			s.d.Run()
			wantResumed(t, s)
		}},
		{"a destroy", func(t *testing.T) scene {
			t.Helper()
			s := paused(t)
			if _, err := s.d.Budgets().Delete(context.Background(), s.a); err != nil {
				t.Fatal(err)
			}
			wantPaused(t, s, workloads)
			return s
		}, func(ctx context.Context, e *reconcile.Engine, s scene) error {
			_, err := e.Budgets().Delete(ctx, s.b)
			return err
		}, func(t *testing.T, s scene) {
			t.Helper()
			if _, err := s.d.Budgets().Delete(context.Background(), s.b); err != nil {
				t.Fatal(err)
			}
			s.d.Run()
			wantResumed(t, s)
		}},
	} {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			s, observer := story.prepare(t), &faults.Process{}
			if err := story.do(context.Background(), s.d.EngineBy(observer), s); err != nil {
				t.Fatalf("without a kill: %v", err)
			}
			story.verify(t, s)
			for _, m := range faults.Kills(observer.Trace()) {
				// Each write of what is held, and here and there one between them.
				if m.On != "Write pauses" && m.On != "Delete pauses" && m.At%11 != 1 {
					continue
				}
				t.Run(m.String(), func(t *testing.T) {
					t.Parallel()
					s := story.prepare(t)
					_ = story.do(context.Background(), s.d.EngineBy(&faults.Process{Fault: m}), s)
					story.verify(t, s)
				})
			}
		})
	}
}
