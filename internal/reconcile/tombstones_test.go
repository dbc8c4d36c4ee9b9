package reconcile_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// TestTombstonesExpireByTheRunsClock has runs a month later remove the tombstones of all
// kinds, and none before.
func TestTombstonesExpireByTheRunsClock(t *testing.T) {
	t.Parallel()
	s, err := directory.Open(filepath.Join(t.TempDir(), "store"), directory.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, tombstone := range []declaration.Tombstone{
		declaration.PoolTombstone(spotpool.Declaration{Region: "ap-singapore", Name: "train", UID: "p", AccountID: "100"}, now.Add(-48*time.Hour)),
		declaration.BudgetTombstone(budget.Declaration{Name: "team-a", UID: "b", ClusterUID: "c"}, now.Add(-48*time.Hour)),
	} {
		if _, err := record.Save(t.Context(), s, store.Tombstones, tombstone.UID, record.Document[declaration.Tombstone]{}, tombstone); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range []struct {
		after time.Duration
		left  int
	}{{0, 2}, {declaration.TombstoneLifetime, 0}} {
		p := reconcile.World{Store: s, Actor: "test", Clock: func() time.Time { return now.Add(run.after) }}
		if _, err := p.Runner().Run(t.Context(), reconcile.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		if docs, err := s.List(t.Context(), store.Tombstones); err != nil || len(docs) != run.left {
			t.Errorf("after %s there are %d tombstones, want %d (%v)", run.after, len(docs), run.left, err)
		}
	}
}
