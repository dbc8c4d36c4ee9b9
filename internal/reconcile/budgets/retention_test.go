package budgets_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestRecordsOutsideAllWindowsAreDropped for a budget with durations in days, and for one with durations in
// hours. A longer window later finds nothing of before.
func TestRecordsOutsideAllWindowsAreDropped(t *testing.T) {
	t.Parallel()
	for _, grace := range []string{"24h", "1d"} {
		d := newFixture(t)
		d.Keep = time.Hour
		b := d.Declare(func(b *budget.Declaration) { b.Window, b.Enforce.GracePeriod = "1h", grace })
		pod := d.Cluster.Start("ml", "a", 8)
		d.Cluster.Step(time.Hour)
		wantConsumed(t, d.Run(), "8.000")
		d.Cluster.Remove(pod)
		d.Run()
		d.Cluster.Step(4 * 24 * time.Hour)
		d.Run()
		b.Window = "30d"
		if _, err := d.Budgets().Update(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		wantConsumed(t, d.Run(), "0.000")
	}
}

// update changes a budget that is declared.
func (d *fixture) update(b budget.Declaration, change func(*budget.Declaration)) budget.Declaration {
	d.t.Helper()
	change(&b)
	state, err := d.Budgets().Update(context.Background(), b)
	if err != nil {
		d.t.Fatal(err)
	}
	return state.Declaration
}

// worked is a fixture whose pods used 24 GPU-hours on each of four days, under a
// budget of so many in 24 hours.
func worked(t *testing.T, hours string, keep time.Duration) (*fixture, budget.Declaration) {
	t.Helper()
	d := newFixture(t)
	d.Keep = keep
	b := d.Declare(enforcing(budget.Freeze), func(b *budget.Declaration) { b.GPUHours, b.Thresholds = hours, []int{100} })
	for range 4 {
		uid := d.Cluster.Start("ml", "a", 8)
		d.Run()
		d.Cluster.Step(3 * time.Hour)
		d.Cluster.Remove(uid)
		d.Run()
		d.Cluster.Step(21 * time.Hour)
		d.Run()
	}
	return d, b
}

// TestALongerWindowCountsWhatWasBefore, and so does a budget that takes the place
// of another, after runs of a shorter one.
func TestALongerWindowCountsWhatWasBefore(t *testing.T) {
	t.Parallel()
	d, b := worked(t, "20", 0)
	b = d.update(b, func(b *budget.Declaration) { b.Window, b.GPUHours = "30d", "90" })
	wantConsumed(t, d.Run(), "96.000")
	if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	d.Declare(func(b *budget.Declaration) { b.Name = "beside" })
	d.Run()
	d.Declare(func(b *budget.Declaration) { b.Window = "30d" })
	wantConsumed(t, d.Run(), "96.000")
}

// TestDroppedRecordsLiftNothing drops records that a longer window needs later: whether usage is below the
// limit is then unknown.
func TestDroppedRecordsLiftNothing(t *testing.T) {
	t.Parallel()
	d, b := worked(t, "20", time.Hour)
	if len(d.Cluster.Frozen) != 1 {
		t.Fatal("nothing is frozen")
	}
	b = d.update(b, func(b *budget.Declaration) { b.Window, b.GPUHours = "30d", "90" })
	for n := range 3 {
		r := d.Run()
		wantTold(t, r)
		warnings := strings.Join(r.Budgets[0].Warnings.Texts(), "\n")
		if len(d.Cluster.Frozen) != 1 || !strings.Contains(warnings, "was already dropped") || !strings.Contains(warnings, "nothing in force is lifted") {
			t.Errorf("run %d, with %s of 90 GPU-hours counted: frozen %v, warnings %q", n+1, reconciletest.Consumed(t, r), d.Cluster.Frozen, warnings)
		}
		d.Cluster.Step(time.Minute)
	}
	d.update(b, func(b *budget.Declaration) { b.Enforce.Action = budget.AlertOnly })
	wantTold(t, d.Run(), "done unfreeze")
}

// TestANewLedgerEnforcesAndLifts: it covers little of its budget's window, and
// what falls below the limit falls by itself.
func TestANewLedgerEnforcesAndLifts(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Freeze), func(b *budget.Declaration) { b.Window, b.Thresholds = "30d", []int{100} })
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	wantTold(t, d.Run(), "done alert", "done freeze")
	b = d.update(b, func(b *budget.Declaration) { b.GPUHours = "1000" })
	wantTold(t, d.Run(), "done unfreeze")
	d.update(b, func(b *budget.Declaration) { b.GPUHours = "8" })
	wantTold(t, d.Run(), "done alert", "done freeze")
}

// TestABudgetThatCannotBeReadStopsNoRetention, nor does one of another cluster:
// and what the first one's window held when it was last read is kept.
func TestABudgetThatCannotBeReadStopsNoRetention(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*fixture){
		"damaged": func(d *fixture) {
			key := store.Key{Kind: store.Budgets, Name: "beside"}
			doc, err := d.Store().Read(context.Background(), key)
			if err != nil {
				d.t.Fatal(err)
			}
			if _, err := d.Store().Write(context.Background(), key, []byte("{"), doc.Revision); err != nil {
				d.t.Fatal(err)
			}
		},
		"of another cluster": func(d *fixture) {
			uid := d.Cluster.ClusterUID
			d.Cluster.ClusterUID = "99999999-2222-3333-4444-555555555555"
			d.Declare(func(b *budget.Declaration) { b.Name, b.Window = "far", "90d" })
			d.Cluster.ClusterUID = uid
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(func(b *budget.Declaration) { b.Window = "1h" })
			d.Declare(func(b *budget.Declaration) { b.Name, b.Window = "beside", "5d" })
			for day := range 12 {
				uid := d.Cluster.Start("ml", "a", 1)
				d.runKeeping(time.Hour)
				d.Cluster.Step(12 * time.Hour)
				d.Cluster.Remove(uid)
				d.runKeeping(time.Hour)
				d.Cluster.Step(12 * time.Hour)
				if day == 5 {
					spoil(d)
				}
			}
			var closed []string
			for key := range d.Documents() {
				if strings.Contains(key, "/closed-") {
					closed = append(closed, key)
				}
			}
			if len(closed) < 5 || len(closed) > 8 {
				t.Errorf("%d closed documents are kept for a window of 5 days: %v", len(closed), closed)
			}
		})
	}
}

// runKeeping runs, whatever becomes of single budgets.
func (d *fixture) runKeeping(keep time.Duration) {
	d.t.Helper()
	if _, err := d.Runner().Run(context.Background(), reconcile.RunOptions{KeepLedger: keep}); err != nil {
		d.t.Fatal(err)
	}
}
