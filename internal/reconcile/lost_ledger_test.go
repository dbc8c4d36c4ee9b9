package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
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
			if _, err := g.engine().UpdateBudget(context.Background(), b); err != nil {
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
				if p.Outcome != reconcile.Failed || p.Error == nil || !strings.Contains(p.Error.Message, "the ledger was lost in part") {
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
