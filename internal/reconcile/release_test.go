package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// suspended is a world with a pool of nodes whose last instances never joined.
type suspended struct {
	*heldWorld
	name string // of its journal
}

func newSuspended(t *testing.T, late ...string) *suspended {
	t.Helper()
	w := &suspended{heldWorld: &heldWorld{World: reconciletest.NewWorld(t), t: t, cluster: reconciletest.NewCluster()}}
	d := reconciletest.Pool(1, 2)
	d.Nodes = &spotpool.Nodes{}
	created, err := w.process(nil).SpotPools().Create(context.Background(), d.WithDefaults(), reconciletest.LongWait)
	if err != nil {
		t.Fatal(err)
	}
	w.pool = created.Declaration
	w.name = w.pool.Key() + "/" + w.pool.UID
	j := w.journal()
	changed := j.Value
	changed.EarlyFailures = node.Streak{Configuration: "1:beef", InstanceIDs: late}
	if _, err := record.Save(context.Background(), w.Store(), store.Journals, w.name, j, changed); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *suspended) process(m *faults.Process) reconcile.World {
	p := w.heldWorld.process(m)
	p.Cluster = w.cluster.Connect
	return p
}

func (w *suspended) journal() record.Document[journal.Journal] {
	w.t.Helper()
	j, err := record.Load[journal.Journal](context.Background(), w.Store(), store.Journals, w.name)
	if err != nil || !j.Exists() {
		w.t.Fatalf("no journal: %v", err)
	}
	return j
}

func (w *suspended) late() int { return len(w.journal().Value.EarlyFailures.InstanceIDs) }

func TestAReleaseHasReplacingGoOn(t *testing.T) {
	t.Parallel()
	ann := exception.Release{Who: "ann"}
	w := newSuspended(t, "ins-1", "ins-2")
	p := w.process(nil)
	if _, err := p.SpotPools().Hold(context.Background(), "train", asked(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	const why = "2 instances in a row failed before they had worked for an hour"
	if held, err := p.SpotPools().Release(context.Background(), "train", ann); err != nil || len(held.Holds) != 1 || held.Suspended != why {
		t.Errorf("released: %+v, %v", held, err)
	}
	if n := w.late(); n != 0 {
		t.Errorf("%d instances count as late still", n)
	}
	if held, err := p.SpotPools().Release(context.Background(), "train", ann); err != nil || len(held.Holds) != 0 || held.Suspended != "" {
		t.Errorf("released again: %+v, %v", held, err)
	}

	one := newSuspended(t, "ins-1") // which suspends nothing
	if held, err := one.process(nil).SpotPools().Release(context.Background(), "train", ann); err != nil || held.Suspended != "" || one.late() != 1 {
		t.Errorf("released after one: %+v, %v, %d are late", held, err, one.late())
	}
}

// TestAReleaseWaitsForWhoActsOnThePool does not change the journal while another process has
// the pool's lock.
func TestAReleaseWaitsForWhoActsOnThePool(t *testing.T) {
	t.Parallel()
	w := newSuspended(t, "ins-1", "ins-2")
	p := w.process(nil)
	p.LockTimeout = 0
	if _, err := p.SpotPools().Hold(context.Background(), "train", asked(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	lock, err := w.Store().Lock(context.Background(), w.pool.Object(), 0)
	if err != nil {
		t.Fatal(err)
	}
	held, err := p.SpotPools().Release(context.Background(), "train", exception.Release{Who: "ann"})
	if len(held.Holds) != 1 || !record.IsLocked(err) || !strings.Contains(err.Error(), "is no longer on hold, but replacing stays suspended") {
		t.Errorf("released: %+v, %v", held, err)
	}
	if n := w.late(); n != 2 {
		t.Errorf("%d instances count as late", n)
	}
	_ = lock.Release()
	if held, err := p.SpotPools().Release(context.Background(), "train", exception.Release{Who: "ann"}); err != nil || held.Suspended == "" {
		t.Errorf("released again: %+v, %v", held, err)
	}
}
