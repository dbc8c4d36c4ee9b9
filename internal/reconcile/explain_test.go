package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestAnExplanationGoesWithoutADamagedDay of the history: that day is reported as lost, and all
// else is reported.
func TestAnExplanationGoesWithoutADamagedDay(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	d.Declare(func(b *budget.Declaration) { b.Enforce.Action = budget.Evict })
	d.Cluster.Start("ml", "a", 8)
	d.Cluster.Step(time.Hour)
	d.Run()
	today := history.DayOf(d.Cluster.Now())
	d.Cluster.Step(today.Next().Begin().Add(time.Hour).Sub(d.Cluster.Now()))
	d.Declare(func(b *budget.Declaration) { b.Name = "team-b" })
	d.Run()
	key := store.Key{Kind: store.History, Name: today.HeadName(1)}
	doc, err := d.Store().Read(t.Context(), key)
	if errors.Is(err, store.ErrNotFound) {
		t.Fatalf("the history tells nothing of %s", today)
	}
	if _, err := d.Store().Write(t.Context(), key, []byte("PAR1"), doc.Revision); err != nil {
		t.Fatal(err)
	}
	x, err := d.Runner().Explain(context.Background())
	if err != nil || len(x.Budgets) != 2 || len(x.Events) == 0 {
		t.Fatalf("it explains %d budgets, with %d events: %v", len(x.Budgets), len(x.Events), err)
	}
	if !strings.Contains(strings.Join(x.Warnings.Texts(), "\n"), "history of "+string(today)+" is lost") {
		t.Errorf("warnings: %q", x.Warnings)
	}
}
