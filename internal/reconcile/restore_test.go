package reconcile_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// copyStore copies the store in a directory to a new place, as cp -a does.
func copyStore(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// TestAPoolGoesOnFromACopyOfItsStore copies a store in use, lets the pool lose and get
// instances that the copy lacks, and continues with the copy.
func TestAPoolGoesOnFromACopyOfItsStore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		open            bool // the copy has a launch whose outcome is known by now
		withoutJournals bool
		lost            bool // nothing runs any more: the tokens that were used since are unknown
	}{
		"whole": {}, "with an open launch": {open: true}, "with nothing running": {lost: true},
		"without its journals":                         {withoutJournals: true},
		"without its journals, one of an open launch":  {open: true, withoutJournals: true},
		"without its journals, and nothing is running": {withoutJournals: true, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := reconciletest.NewWorld(t)
			w.MustCreate(2, 2)
			if tt.open {
				loseLaunch(t, w)
			}
			restored := copyStore(t, w.Dir)
			w.CleanRuns()
			for _, n := range []int{2, 1} {
				w.Reclaim(n)
				w.CleanRuns()
			}
			before := ids(w.Own())
			if tt.lost {
				w.Reclaim(2)
			}

			w.Dir = restored
			if tt.withoutJournals {
				if err := os.RemoveAll(filepath.Join(w.Dir, "journals")); err != nil {
					t.Fatal(err)
				}
			}
			said := runsWithin(t, w, 2)
			if tt.withoutJournals || tt.lost { // launches wait until listings would show any earlier one
				if _, err := w.Sim.Server.StepClock(spotpool.TagLag); err != nil {
					t.Fatal(err)
				}
			}
			w.CleanRuns()
			w.Verify(2)
			if after := ids(w.Own()); !tt.lost && !cmp.Equal(before, after) {
				t.Errorf("nothing was missing, and %v became %v", before, after)
			}
			if told := strings.Contains(said, "gone: reclaimed by Tencent Cloud"); told == tt.withoutJournals {
				t.Errorf("lost instances of the copy are reported: %t: %s", told, said)
			}
		})
	}
}

// loseLaunch kills a run right after a launch took effect.
func loseLaunch(t *testing.T, w *reconciletest.World) {
	t.Helper()
	w.Reclaim(1)
	killed := faults.Killed("Launch", true)
	_, _ = w.Runner(killed).Run(context.Background(), reconcile.RunOptions{})
	if !killed.Dead() {
		t.Fatal("nothing was launched")
	}
}

// runsWithin runs three times, after each of which there must be no more than the
// maximum, and returns what the runs noticed.
func runsWithin(t *testing.T, w *reconciletest.World, maximum int) string {
	t.Helper()
	var said []string
	for range 3 {
		report, err := w.Runner(nil).Run(context.Background(), reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range report.SpotPools {
			said = append(said, p.Messages.Texts()...)
		}
		if own := w.Own(); len(own) > maximum {
			t.Fatalf("%d of at most %d are there: %s", len(own), maximum, reconciletest.Describe(own))
		}
	}
	return strings.Join(said, "\n")
}

func ids(list []cvmsim.Instance) []string {
	var all []string
	for _, i := range list {
		all = append(all, i.InstanceID)
	}
	slices.Sort(all)
	return all
}

// TestUsageGoesOnFromACopyOfItsStore: usage of the copy is never counted less, and later usage
// is replayed, or reported as a gap.
func TestUsageGoesOnFromACopyOfItsStore(t *testing.T) {
	t.Parallel()
	for name, reaches := range map[string]bool{"replayed": true, "a gap": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := reconciletest.NewFixture(t)
			d.Declare(func(b *budget.Declaration) { b.GPUHours = "1000" })
			first, second := d.Cluster.Start("ml", "first", 8), d.Cluster.Start("ml", "second", 4)
			d.Run()
			d.Cluster.Step(30 * time.Minute)
			d.Cluster.Remove(first)
			copied := thousandths(t, reconciletest.Consumed(t, d.Run()))
			restored := copyStore(t, d.Dir)

			d.Cluster.Step(20 * time.Minute)
			d.Cluster.Remove(second)
			d.Cluster.Start("ml", "third", 2)
			d.Cluster.Step(10 * time.Minute)
			went := d.Run()

			d.Dir = restored
			if !reaches {
				d.Cluster.Forget()
			}
			r := d.Run()
			if reaches {
				if got, want := reconciletest.Consumed(t, r), reconciletest.Consumed(t, went); got != want || r.Budgets[0].ErrorBoundGPUHours != "0.000" {
					t.Errorf("%s GPU-hours are consumed, want %s; the error bound is %s", got, want, r.Budgets[0].ErrorBoundGPUHours)
				}
				return
			}
			used, bound := thousandths(t, reconciletest.Consumed(t, r)), thousandths(t, r.Budgets[0].ErrorBoundGPUHours)
			off := used - thousandths(t, reconciletest.Consumed(t, went))
			if used < copied || max(off, -off) > bound {
				t.Errorf("%d are used, give or take %d: the copy had %d, and the store that went on %s", used, bound, copied, reconciletest.Consumed(t, went))
			}
			if r.Budgets[0].EstimatedGPUHours == "0.000" || thousandths(t, string(r.Budgets[0].Coverage)) >= thousandths(t, string(went.Budgets[0].Coverage)) {
				t.Errorf("the gap is not reported: %+v", r.Budgets[0].UsageReport)
			}
			if told := strings.Join(r.Budgets[0].Warnings.Texts(), "\n"); strings.Contains(told, "lost") {
				t.Errorf("the copy is whole, and the run says %s", told)
			}
		})
	}
}

func thousandths(t *testing.T, number string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.Replace(number, ".", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
