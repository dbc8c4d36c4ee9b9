package budgets_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

// TestPausesRecoverFromKills kills runs that pause or resume more workloads than one batch for two budgets,
// and a destroy that resumes them. The kills come right after an effect, and in a soak right before
// it, too. Each workload is restored to its previous state.
func TestPausesRecoverFromKills(t *testing.T) {
	t.Parallel()
	const workloads = 60
	type scene struct {
		d    *fixture
		a, b budget.Declaration
	}
	exceeded := func(t *testing.T) scene {
		t.Helper()
		d := newFixture(t)
		s := scene{d: d}
		s.a = d.Declare(enforcing(budget.Pause), quietly, func(b *budget.Declaration) { b.Name = "a" })
		s.b = d.Declare(enforcing(budget.Pause), quietly, func(b *budget.Declaration) { b.Name, b.Enforce.OnManualResume = "b", budget.ResumePause })
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
	run := func(s scene, p *faults.Process) error {
		_, err := s.d.ProcessBy(p).Runner().Run(s.d.t.Context(), reconcile.RunOptions{})
		return err
	}
	wantPaused := func(s scene, held int) {
		s.d.t.Helper()
		if n := len(s.d.Cluster.Stopped()); n != workloads || len(s.d.holds()) != held {
			s.d.t.Fatalf("%d are stopped, and %d held", n, len(s.d.holds()))
		}
	}
	wantResumed := func(s scene) {
		s.d.t.Helper()
		if len(s.d.Cluster.Stopped()) > 0 || len(s.d.holds()) > 0 {
			s.d.t.Fatalf("%v are stopped, and the store holds %v", s.d.Cluster.Stopped(), s.d.holds())
		}
		for n := range workloads {
			if w := s.d.Cluster.Workloads[fmt.Sprintf("uid-of-w-%02d", n)]; w.Replicas != int32(1+n) {
				s.d.t.Errorf("%s has %d replicas", w.Name, w.Replicas)
			}
		}
	}
	operations := []faults.Operation[scene]{
		{Name: "a run that pauses", Begin: exceeded, Do: run, Holds: func(s scene, _ faults.Fault, _ error) {
			s.d.Run()
			wantPaused(s, 2*workloads)
			s.d.raise(s.a)
			s.d.Run()
			wantPaused(s, workloads)
			s.d.raise(s.b)
			s.d.Run()
			wantResumed(s)
		}},
		{Name: "a run that resumes", Begin: func(t *testing.T) scene {
			t.Helper()
			s := paused(t)
			s.d.raise(s.a)
			s.d.raise(s.b)
			return s
		}, Do: run, Holds: func(s scene, _ faults.Fault, _ error) {
			s.d.Run()
			wantResumed(s)
		}},
		{Name: "a destroy", Begin: func(t *testing.T) scene {
			t.Helper()
			s := paused(t)
			if _, err := s.d.Budgets().Delete(context.Background(), s.a); err != nil {
				t.Fatal(err)
			}
			wantPaused(s, workloads)
			return s
		}, Do: func(s scene, p *faults.Process) error {
			_, err := s.d.ProcessBy(p).Budgets().Delete(s.d.t.Context(), s.b)
			return err
		}, Holds: func(s scene, _ faults.Fault, _ error) {
			if _, err := s.d.Budgets().Delete(context.Background(), s.b); err != nil {
				s.d.t.Fatal(err)
			}
			s.d.Run()
			wantResumed(s)
		}},
	}
	faults.PlayAll(t, operations, func(_ faults.Operation[scene], trace []string) []faults.Fault {
		return slices.DeleteFunc(faults.Kills(trace), func(f faults.Fault) bool {
			// Each write of what is held, and here and there one between them.
			return f.On != "Write pauses" && f.On != "Delete pauses" && f.At%8 != 1
		})
	})
}
