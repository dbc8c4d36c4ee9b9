package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// loseLedger deletes the documents of the ledger whose names hold a text.
func loseLedger(t *testing.T, s store.Store, text string) {
	t.Helper()
	docs, err := s.List(context.Background(), store.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for _, doc := range docs {
		if !strings.Contains(doc.Key.Name, text) {
			continue
		}
		gone++
		if err := s.Delete(context.Background(), doc.Key, doc.Revision); err != nil {
			t.Fatal(err)
		}
	}
	if gone == 0 {
		t.Fatalf("nothing of the ledger is called %s", text)
	}
}

// TestLostLedgerOpensNothing loses what the ledger knew of a budget that was
// exceeded: its freeze stays, and its pools launch nothing, until its window is
// past what was lost.
func TestLostLedgerOpensNothing(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"what ended": "/closed-", "all of it": "/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGated(t)
			b := g.budget
			b.Window, b.Enforce.Action, b.Enforce.GracePeriod, b.Thresholds = "24h", budget.Freeze, "0s", []int{100}
			if _, err := g.engine().Budgets().Update(context.Background(), b); err != nil {
				t.Fatal(err)
			}
			gone := g.cluster.start("ml", "gone", 8)
			g.run(reconcile.RunOptions{})
			g.cluster.step(40 * time.Minute)
			g.cluster.remove(gone)
			wantTold(t, g.run(reconcile.RunOptions{}), "done alert", "done freeze")
			g.lose()
			g.cluster.step(time.Minute)
			loseLedger(t, g.store(), text)
			for n := range 3 {
				report := g.run(reconcile.RunOptions{})
				wantTold(t, report)
				p := report.SpotPools[0]
				if p.Outcome != outcome.Failed || p.Error == nil || !strings.Contains(p.Error.Message, "the ledger was lost in part") {
					t.Errorf("run %d: the pool is %s: %+v", n+1, p.Outcome, p.Error)
				}
				if len(g.cluster.frozen) != 1 {
					t.Errorf("run %d: the freeze was lifted", n+1)
				}
				g.cluster.step(time.Minute)
			}
			g.verify(0)
			g.cluster.step(48 * time.Hour)
			g.run(reconcile.RunOptions{})
			if len(g.cluster.frozen) != 0 {
				t.Error("the freeze stays after the window is past the loss")
			}
		})
	}
}

// TestALossIsOfItsTimeWhateverTheClockReads loses the pods that run, where this
// machine's clock is behind, and the cluster's goes on as it did.
func TestALossIsOfItsTimeWhateverTheClockReads(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(plenty)
	gone := d.cluster.start("ml", "gone", 8)
	d.run()
	d.cluster.step(30 * time.Minute)
	d.run()
	d.cluster.remove(gone)
	loseLedger(t, d.store(), "/recent")
	d.cluster.forget()
	d.cluster.step(time.Minute)
	e := d.engine()
	e.Clock = func() time.Time { return d.cluster.clock().Add(-100 * 24 * time.Hour) }
	report, err := e.Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if warnings := strings.Join(report.Budgets[0].Warnings, "\n"); !strings.Contains(warnings, "part of the ledger is lost") {
		t.Errorf("with %s GPU-hours counted, it warns of %q", consumed(t, report), warnings)
	}
}

// exceededWithALoss is a desk whose budget is exceeded by what a pod holds for
// certain, while what another one used, that is gone, is lost.
func exceededWithALoss(t *testing.T, action budget.Action, hours string) *desk {
	t.Helper()
	d := newDesk(t)
	d.declare(enforcing(action), func(b *budget.Declaration) { b.GPUHours, b.Thresholds = hours, []int{100} })
	gone := d.cluster.start("ml", "gone", 8)
	d.cluster.start("ml", "stays", 4)
	d.run()
	d.cluster.step(30 * time.Minute)
	d.cluster.remove(gone)
	d.run()
	d.cluster.step(time.Minute)
	loseLedger(t, d.store(), "/closed-")
	return d
}

// TestALossOnlyLowersWhatIsCounted: what is certain without it is enough to act on.
func TestALossOnlyLowersWhatIsCounted(t *testing.T) {
	t.Parallel()
	d := exceededWithALoss(t, budget.Evict, "10")
	d.run()
	d.cluster.step(2 * time.Hour)
	if r := d.run(); len(d.cluster.evicted) != 1 {
		t.Errorf("with %s of 10 GPU-hours used, %v were evicted: %q", consumed(t, r), d.cluster.evicted, r.Budgets[0].Warnings)
	}
}

// TestAPersonAcceptsALoss: what was lost holds nothing back from then on, and what
// is lost later does again.
func TestAPersonAcceptsALoss(t *testing.T) {
	t.Parallel()
	d := exceededWithALoss(t, budget.Freeze, "5")
	if r := d.run(); len(d.cluster.frozen) != 1 {
		t.Fatalf("the freeze is lifted though part of the ledger is lost: %q", r.Budgets[0].Warnings)
	}
	accept := func() reconcile.Report {
		r, err := d.engine().Run(context.Background(), reconcile.RunOptions{AcceptLoss: "the disk is gone"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := accept()
	wantTold(t, r, "done unfreeze")
	if warnings := strings.Join(r.Warnings, "\n"); !strings.Contains(warnings, "accepted, since the disk is gone: the ledger's document closed-") {
		t.Errorf("the report: %q", warnings)
	}
	r = d.run()
	wantTold(t, r)
	if warnings := strings.Join(r.Budgets[0].Warnings, "\n"); strings.Contains(warnings, "lost") {
		t.Errorf("the next run still warns: %q", warnings)
	}
	if warnings := strings.Join(accept().Warnings, "\n"); !strings.Contains(warnings, "nothing is missing") {
		t.Errorf("accepting again says %q", warnings)
	}
	d.cluster.step(75 * time.Minute)
	wantTold(t, d.run(), "done alert", "done freeze")
	for uid := range d.cluster.pods {
		d.cluster.remove(uid)
	}
	d.run()
	d.cluster.step(time.Minute)
	loseLedger(t, d.store(), "/closed-")
	wantTold(t, d.run())
	if len(d.cluster.frozen) != 1 {
		t.Error("a loss that came later lifted the freeze")
	}
}

// TestAPersonAcceptsWhatIsForgotten by runs of a shorter window.
func TestAPersonAcceptsWhatIsForgotten(t *testing.T) {
	t.Parallel()
	d, b := worked(t, "20", time.Hour)
	d.update(b, func(b *budget.Declaration) { b.Window, b.GPUHours = "30d", "90" })
	wantTold(t, d.run())
	r, err := d.engine().Run(context.Background(), reconcile.RunOptions{AcceptLoss: "counted by hand", KeepLedger: d.keep})
	if err != nil {
		t.Fatal(err)
	}
	wantTold(t, r, "done unfreeze")
	wantTold(t, d.run())
}
