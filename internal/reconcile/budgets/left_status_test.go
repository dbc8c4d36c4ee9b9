package budgets_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestTheStatusOfTheLastBudgetIsRemoved: a run that was under way when it was destroyed
// wrote that status. Once the tombstone expires, it would count as what a lost record left.
func TestTheStatusOfTheLastBudgetIsRemoved(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare()
	d.Run()
	key := store.Key{Kind: store.Statuses, Name: record.BudgetStatusName(b.Name)}
	doc, err := d.Store().Read(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Store().Write(context.Background(), key, doc.Data, ""); err != nil {
		t.Fatal(err)
	}
	r := d.Run()
	if _, err := d.Store().Read(context.Background(), key); !errors.Is(err, store.ErrNotFound) || len(r.Warnings) > 0 {
		t.Errorf("the status is left (%v), and the run warns of %q", err, r.Warnings)
	}
}
