package spotpools_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestALostJournalLaunchesNothingTwice removes the journal while a launch is pending whose
// instances are listed late, as an operator does with a damaged journal. Later runs launch
// nothing until these must be listed, and say so.
func TestALostJournalLaunchesNothingTwice(t *testing.T) {
	t.Parallel()
	apply := func(w *world, d spotpool.Declaration) []string {
		t.Helper()
		state, err := w.Pools(nil).Update(context.Background(), d, 0)
		if err != nil {
			t.Fatal(err)
		}
		return state.AllWarnings().Texts()
	}
	run := func(w *world, _ spotpool.Declaration) []string {
		t.Helper()
		report, err := w.Runner(nil).Run(context.Background(), reconcile.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p := report.SpotPools[0]
		if p.Outcome != outcome.Failed || p.Error == nil {
			t.Errorf("the run counts the pool as %s: %+v", p.Outcome, p.Error)
		}
		return p.Short
	}
	observed := func(w *world, d spotpool.Declaration) []string {
		t.Helper()
		state, err := w.Pools(nil).View(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		return state.Plan.Short.Brief().Texts()
	}
	for name, steps := range map[string][]func(*world, spotpool.Declaration) []string{
		"apply": {observed, apply, observed, apply}, "reconcile": {run, run}, "both": {run, apply, run},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{World: reconciletest.NewStillWorld(t, time.Now(), func(o *cvmsim.Options) { o.TagDelay = 8 * time.Minute }), t: t}
			w.Dir = t.TempDir() + "/store"
			w.market(reconciletest.ZoneA, 100, 1000)
			d := w.MustCreate(0, 6)
			d.Minimum = 3
			process := faults.Killed("Launch", true)
			_, _ = w.Pools(process).Update(context.Background(), d, 0)
			w.loseJournal()
			cut, _, err := w.Pools(nil).Recorded(context.Background(), d.Region, d.Name)
			if err != nil {
				t.Fatal(err)
			}
			for n, step := range steps {
				if said := step(w, cut.Declaration); len(said) == 0 || !contains(said[0], "journal", "nothing is launched until") {
					t.Errorf("step %d says %q", n, said)
				}
				w.Step(time.Minute)
			}
			for range 3 {
				w.Step(5 * time.Minute)
				if _, err := w.Runner(nil).Run(context.Background(), reconcile.RunOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			w.Verify(3)
			if n := w.Launched(); n != 3 {
				t.Errorf("%d instances were launched in all, want 3", n)
			}
			w.Reclaim(1)
			w.Step(time.Minute)
			for range 2 {
				if _, err := w.Runner(nil).Run(context.Background(), reconcile.RunOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if n := w.Launched(); n != 4 {
				t.Errorf("%d instances were launched in all, want one more for one that was reclaimed", n)
			}
		})
	}
}

// TestAnOldJournalFailsOneRun restores a copy of the journal after launches that it lacks. One
// run is refused for a used token, and later launches have new tokens.
func TestAnOldJournalFailsOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.MustCreate(3, 6)
	docs, err := w.Store().List(t.Context(), store.Journals)
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d journals: %v", len(docs), err)
	}
	for range 4 {
		w.Reclaim(1)
		w.Step(time.Minute)
		w.mustRun(reconcile.RunOptions{})
	}
	now, err := w.Store().Read(t.Context(), docs[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store().Write(t.Context(), docs[0].Key, docs[0].Data, now.Revision); err != nil {
		t.Fatal(err)
	}
	w.Reclaim(3)
	failed := 0
	for range 5 {
		w.Step(4 * time.Minute)
		report, err := w.Runner(nil).Run(context.Background(), reconcile.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if e := report.SpotPools[0].Error; e != nil && contains(e.String(), "ClientToken", "old copy") {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d runs are refused for a token, want 1", failed)
	}
	w.Verify(3)
}

// TestACreationWhoseJournalIsLostWaits resumes a creation that was killed, and whose
// journal is gone: it launches nothing twice either.
func TestACreationWhoseJournalIsLostWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *cvmsim.Options) { o.TagDelay = 8 * time.Minute })
	d := w.cutCreate()
	w.loseJournal()
	state, err := w.Pools(nil).Create(context.Background(), d, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(state.AllWarnings()) == 0 || !contains(state.AllWarnings()[0].String(), "nothing is launched until") {
		t.Errorf("it warns of %q", state.Warnings)
	}
	w.Step(11 * time.Minute)
	w.CleanRuns()
	w.Verify(3)
	if n := w.Launched(); n != 3 {
		t.Errorf("%d instances were launched in all, want 3", n)
	}
}

// TestADamagedJournalSaysHowToGoOn: what it says can be followed, and launches nothing
// twice.
func TestADamagedJournalSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(1, 2)
	docs, err := w.Store().List(context.Background(), store.Journals)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store().Write(context.Background(), docs[0].Key, docs[0].Data[:len(docs[0].Data)/2], docs[0].Revision); err != nil {
		t.Fatal(err)
	}
	_, err = w.Pools(nil).Update(context.Background(), d, 0)
	if err == nil || !contains(err.Error(), "journal", "is damaged", "Move it away", "launches nothing for 10 minutes") ||
		contains(err.Error(), "estore it from a copy") {
		t.Errorf("it says %v", err)
	}
}
