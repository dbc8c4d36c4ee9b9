package budgets_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// TestALossIsOfItsTimeWhateverTheClockReads loses the pods that run, where this
// machine's clock is behind, and the cluster's goes on as it did.
func TestALossIsOfItsTimeWhateverTheClockReads(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(plenty)
	gone := d.Cluster.Start("ml", "gone", 8)
	d.Run()
	d.Cluster.Step(30 * time.Minute)
	d.Run()
	d.Cluster.Remove(gone)
	reconciletest.LoseLedger(t, d.Store(), "/recent")
	d.Cluster.Forget()
	d.Cluster.Step(time.Minute)
	p := d.Process()
	p.Clock = func() time.Time { return d.Cluster.Now().Add(-100 * 24 * time.Hour) }
	report, err := p.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if warnings := strings.Join(report.Budgets[0].Warnings.Texts(), "\n"); !strings.Contains(warnings, "part of the ledger is lost") {
		t.Errorf("with %s GPU-hours counted, it warns of %q", reconciletest.Consumed(t, report), warnings)
	}
}

// exceededWithALoss is a fixture whose budget is exceeded by what a pod holds for
// certain, while what another one used, that is gone, is lost.
func exceededWithALoss(t *testing.T, action budget.Action, hours string) *fixture {
	t.Helper()
	d := newFixture(t)
	d.Declare(enforcing(action), func(b *budget.Declaration) { b.GPUHours, b.Thresholds = hours, []int{100} })
	gone := d.Cluster.Start("ml", "gone", 8)
	d.Cluster.Start("ml", "stays", 4)
	d.Run()
	d.Cluster.Step(30 * time.Minute)
	d.Cluster.Remove(gone)
	d.Run()
	d.Cluster.Step(time.Minute)
	reconciletest.LoseLedger(t, d.Store(), "/closed-")
	return d
}

// TestALossOnlyLowersWhatIsCounted: what is certain without it is enough to act on.
func TestALossOnlyLowersWhatIsCounted(t *testing.T) {
	t.Parallel()
	d := exceededWithALoss(t, budget.Evict, "10")
	d.Run()
	d.Cluster.Step(2 * time.Hour)
	if r := d.Run(); len(d.Cluster.Evicted) != 1 {
		t.Errorf("with %s of 10 GPU-hours used, %v were evicted: %q", reconciletest.Consumed(t, r), d.Cluster.Evicted, r.Budgets[0].Warnings)
	}
}

// TestAPersonAcceptsALoss: what was lost holds nothing back from then on, and what
// is lost later does again.
func TestAPersonAcceptsALoss(t *testing.T) {
	t.Parallel()
	d := exceededWithALoss(t, budget.Freeze, "5")
	if r := d.Run(); len(d.Cluster.Frozen) != 1 {
		t.Fatalf("the freeze is lifted though part of the ledger is lost: %q", r.Budgets[0].Warnings)
	}
	accept := func() reconcile.Report {
		r, err := d.Runner().Run(context.Background(), reconcile.RunOptions{AcceptLoss: "the disk is gone"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := accept()
	wantTold(t, r, "done unfreeze")
	if warnings := strings.Join(r.Warnings.Texts(), "\n"); !strings.Contains(warnings, "loss accepted (the disk is gone): the ledger's document closed-") {
		t.Errorf("the report: %q", warnings)
	}
	r = d.Run()
	wantTold(t, r)
	if warnings := strings.Join(r.Budgets[0].Warnings.Texts(), "\n"); strings.Contains(warnings, "lost") {
		t.Errorf("the next run still warns: %q", warnings)
	}
	if warnings := strings.Join(accept().Warnings.Texts(), "\n"); !strings.Contains(warnings, "every loss of the ledger was accepted before") {
		t.Errorf("accepting again says %q", warnings)
	}
	d.Cluster.Step(75 * time.Minute)
	wantTold(t, d.Run(), "done alert", "done freeze")
	for uid := range d.Cluster.Pods {
		d.Cluster.Remove(uid)
	}
	d.Run()
	d.Cluster.Step(time.Minute)
	reconciletest.LoseLedger(t, d.Store(), "/closed-")
	wantTold(t, d.Run())
	if len(d.Cluster.Frozen) != 1 {
		t.Error("a loss that came later lifted the freeze")
	}
}

// TestAPersonAcceptsWhatIsForgotten by runs of a shorter window.
func TestAPersonAcceptsWhatIsForgotten(t *testing.T) {
	t.Parallel()
	d, b := worked(t, "20", time.Hour)
	d.update(b, func(b *budget.Declaration) { b.Window, b.GPUHours = "30d", "90" })
	wantTold(t, d.Run())
	r, err := d.Runner().Run(context.Background(), reconcile.RunOptions{AcceptLoss: "counted by hand", KeepLedger: d.Keep})
	if err != nil {
		t.Fatal(err)
	}
	wantTold(t, r, "done unfreeze")
	wantTold(t, d.Run())
}

// TestFreezeIsRepairedWhileUsageIsUnknown edits a freeze: it stays in force as decided.
func TestFreezeIsRepairedWhileUsageIsUnknown(t *testing.T) {
	t.Parallel()
	d := exceededWithALoss(t, budget.Freeze, "5")
	d.Run()
	for uid, f := range d.Cluster.Frozen {
		f.ProtectedNamespaces = append(slices.Clone(f.ProtectedNamespaces), "ml")
		d.Cluster.Frozen[uid] = f
	}
	d.Cluster.Step(time.Minute)
	d.Run()
	if len(d.Cluster.Frozen) != 1 {
		t.Fatalf("%d budgets are frozen", len(d.Cluster.Frozen))
	}
	for _, f := range d.Cluster.Frozen {
		if slices.Contains(f.ProtectedNamespaces, "ml") {
			t.Errorf("the freeze still leaves out %q", f.ProtectedNamespaces)
		}
	}
}
