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

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
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

// TestAPoolGoesOnFromACopyOfItsStore copies a store in use, has the pool lose and
// get machines that the copy does not know, and goes on with the copy.
func TestAPoolGoesOnFromACopyOfItsStore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		open            bool // the copy has a launch whose outcome was learned since
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
			w := newWorld(t)
			w.mustCreate(2, 2)
			if tt.open {
				w.loseLaunch()
			}
			restored := copyStore(t, w.dir)
			w.cleanRuns()
			for _, n := range []int{2, 1} {
				w.reclaim(n)
				w.cleanRuns()
			}
			before := ids(w.own())
			if tt.lost {
				w.reclaim(2)
			}

			w.dir = restored
			if tt.withoutJournals {
				if err := os.RemoveAll(filepath.Join(w.dir, "journals")); err != nil {
					t.Fatal(err)
				}
			}
			said := w.runsWithin(2)
			w.cleanRuns()
			w.verify(2)
			if after := ids(w.own()); !tt.lost && !cmp.Equal(before, after) {
				t.Errorf("nothing was missing, and %v became %v", before, after)
			}
			if told := strings.Contains(said, "gone: reclaimed by the cloud"); told == tt.withoutJournals {
				t.Errorf("what the copy has of machines that are gone is told of: %t: %s", told, said)
			}
		})
	}
}

// loseLaunch kills a run right after a launch took effect.
func (w *world) loseLaunch() {
	w.t.Helper()
	w.reclaim(1)
	killed := &mortal{killOn: "Launch", after: true}
	_, _ = w.engine(killed).Run(context.Background(), reconcile.RunOptions{})
	if !killed.dead {
		w.t.Fatal("nothing was launched")
	}
}

// runsWithin runs three times, after each of which there must be no more than the
// maximum, and returns what the runs noticed.
func (w *world) runsWithin(maximum int) string {
	w.t.Helper()
	var said []string
	for range 3 {
		report, err := w.engine(nil).Run(context.Background(), reconcile.RunOptions{Wait: true, WaitTimeout: longWait})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, p := range report.SpotPools {
			said = append(said, p.Notices...)
		}
		if own := w.own(); len(own) > maximum {
			w.t.Fatalf("%d of at most %d are there: %s", len(own), maximum, describe(own))
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

// TestUsageGoesOnFromACopyOfItsStore: what the copy had is never counted less, and
// what came since is replayed, or told of as a gap.
func TestUsageGoesOnFromACopyOfItsStore(t *testing.T) {
	t.Parallel()
	for name, reaches := range map[string]bool{"replayed": true, "a gap": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.declare(plenty)
			first, second := d.cluster.start("ml", "first", 8), d.cluster.start("ml", "second", 4)
			d.run()
			d.cluster.step(30 * time.Minute)
			d.cluster.remove(first)
			copied := thousandths(t, consumed(t, d.run()))
			restored := copyStore(t, d.dir)

			d.cluster.step(20 * time.Minute)
			d.cluster.remove(second)
			d.cluster.start("ml", "third", 2)
			d.cluster.step(10 * time.Minute)
			went := d.run()

			d.dir = restored
			if !reaches {
				d.cluster.forget()
			}
			r := d.run()
			if reaches {
				wantConsumed(t, r, consumed(t, went))
				wantBound(t, r, "0.000")
				return
			}
			used, bound := thousandths(t, consumed(t, r)), thousandths(t, r.Budgets[0].ErrorBoundGPUHours)
			off := used - thousandths(t, consumed(t, went))
			if used < copied || max(off, -off) > bound {
				t.Errorf("%d are used, give or take %d: the copy had %d, and the store that went on %s", used, bound, copied, consumed(t, went))
			}
			if r.Budgets[0].EstimatedGPUHours == "0.000" || thousandths(t, string(r.Budgets[0].Coverage)) >= thousandths(t, string(went.Budgets[0].Coverage)) {
				t.Errorf("nothing tells of the gap: %+v", r.Budgets[0].UsageReport)
			}
			if told := strings.Join(r.Budgets[0].Warnings, "\n"); strings.Contains(told, "lost") {
				t.Errorf("the copy is whole, and the run says %s", told)
			}
		})
	}
}

// thousandths reads a number with three decimals.
func thousandths(t *testing.T, number string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.Replace(number, ".", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
