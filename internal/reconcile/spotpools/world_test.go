package spotpools_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// world is a local CVM and a store, with what users and Tencent Cloud do to a pool.
type world struct {
	*reconciletest.World
	t *testing.T
}

func newWorld(t *testing.T, opts ...func(*cvmsim.Options)) *world {
	t.Helper()
	return &world{World: reconciletest.NewWorld(t, opts...), t: t}
}

// destroy returns a destroy of a pool, for reconciletest.Until.
func (w *world) destroy(d spotpool.Declaration) func(time.Duration) error {
	return func(timeout time.Duration) error {
		_, err := w.Pools(nil).Delete(context.Background(), d, timeout)
		return err
	}
}

// cutCreate kills a creation right after its launch was accepted.
func (w *world) cutCreate() spotpool.Declaration {
	w.t.Helper()
	d := reconciletest.Pool(3, 4)
	process := faults.Killed("Launch", true)
	_, _ = w.Pools(process).Create(context.Background(), d, reconciletest.LongWait)
	if !process.Dead() {
		w.t.Fatal("the creation never came to its launch")
	}
	return d
}

// cutLaunch has the launch of a growing pool killed right before or after its call:
// the intent stays open. It returns the declaration as a refresh finds it.
func (w *world) cutLaunch(asked bool) spotpool.Declaration {
	w.t.Helper()
	d := w.MustCreate(1, 4)
	d.Minimum = 3
	process := faults.Killed("Launch", asked)
	_, _ = w.Pools(process).Update(context.Background(), d, reconciletest.LongWait)
	if !process.Dead() {
		w.t.Fatal("the update never came to its launch")
	}
	d.Generation++
	return d
}

func (w *world) mustUpdate(d spotpool.Declaration, change func(*spotpool.Declaration)) spotpool.Declaration {
	w.t.Helper()
	change(&d)
	state, err := w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait)
	if err != nil {
		w.t.Fatal(err)
	}
	return state.Declaration
}

// loseJournal removes the pool's journal from the store.
func (w *world) loseJournal() {
	w.t.Helper()
	docs, err := w.Store().List(context.Background(), store.Journals)
	if err != nil || len(docs) != 1 {
		w.t.Fatalf("the store has %d journals (%v)", len(docs), err)
	}
	if err := w.Store().Delete(context.Background(), docs[0].Key, docs[0].Revision); err != nil {
		w.t.Fatal(err)
	}
}

// outwaitLoss lets the time pass in which nothing is launched since a journal was lost.
func (w *world) outwaitLoss() {
	w.t.Helper()
	docs, err := w.Store().List(context.Background(), store.Journals)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, doc := range docs {
		j, err := record.DecodeListed[journal.Journal](context.Background(), w.Store(), doc)
		if err != nil {
			w.t.Fatal(err)
		}
		if !j.LostAt.IsZero() {
			w.Step(spotpool.TagLag + time.Minute)
		}
	}
}

// setState puts n of the pool's running machines into a state.
func (w *world) setState(state string, n int) {
	w.t.Helper()
	var ids []string
	for _, i := range w.Own() {
		if i.State == "RUNNING" && len(ids) < n {
			ids = append(ids, i.InstanceID)
		}
	}
	if err := w.Sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: ids, State: state}); err != nil {
		w.t.Fatal(err)
	}
}

// market sets what a zone has left, and the account's spot quota in it.
func (w *world) market(zone string, stock, vCPUs int64) {
	w.t.Helper()
	if err := w.Sim.Server.SetStock(cvmsim.StockRequest{
		AvailabilityZone: zone, InstanceType: reconciletest.GPUType, Stock: &stock, VCPUQuota: &vCPUs,
	}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) price(zone, price string) {
	w.t.Helper()
	if err := w.Sim.Server.SetPrice(cvmsim.PriceRequest{AvailabilityZone: zone, InstanceType: reconciletest.GPUType, Price: price}); err != nil {
		w.t.Fatal(err)
	}
}

// working counts the pool's machines that run or will.
func (w *world) working() int {
	n := 0
	for _, i := range w.Own() {
		if i.State == "RUNNING" || i.State == "PENDING" {
			n++
		}
	}
	return n
}

// fail fails calls of Tencent Cloud from now on.
func (w *world) fail(faults ...cvmsim.Fault) {
	w.t.Helper()
	for _, fault := range faults {
		if _, err := w.Sim.Server.AddFault(fault); err != nil {
			w.t.Fatal(err)
		}
	}
}

// grow raises the minimum, and leaves before the machines are there.
func (w *world) grow(d spotpool.Declaration, minimum int) spotpool.Declaration {
	w.t.Helper()
	d.Minimum = minimum
	state, err := w.Pools(nil).Update(context.Background(), d, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return state.Declaration
}

func (w *world) configure(s cvmsim.Settings) {
	w.t.Helper()
	if err := w.Sim.Server.Configure(s); err != nil {
		w.t.Fatal(err)
	}
}

// listLate has machines that are launched from now on show late in listings.
func (w *world) listLate() {
	w.t.Helper()
	w.configure(cvmsim.Settings{ListingDelay: new(cvmsim.Duration(45 * time.Second))})
}

// gone checks that nothing is left of a destroyed pool but its tombstone, and detached
// instances.
func (w *world) gone(d spotpool.Declaration) {
	w.t.Helper()
	if own := w.Own(); len(own) > 0 {
		w.t.Errorf("the pool is destroyed, and the cloud has %d instances of it: %s", len(own), reconciletest.Describe(own))
	}
	for _, kind := range []store.Kind{store.SpotPools, store.Journals} {
		docs, err := w.Store().List(context.Background(), kind)
		if err != nil || len(docs) > 0 {
			w.t.Errorf("%d documents of %s are left (%v)", len(docs), kind, err)
		}
	}
	if _, err := w.Store().Read(context.Background(), store.Key{Kind: store.Tombstones, Name: d.UID}); err != nil {
		w.t.Errorf("the tombstone: %v", err)
	}
}

// killDeletionAt kills a deletion right before or after its first effect of a name.
func (w *world) killDeletionAt(d spotpool.Declaration, effect string, after bool) {
	w.t.Helper()
	process := faults.Killed(effect, after)
	_, _ = w.Pools(process).Delete(context.Background(), d, reconciletest.LongWait)
	if !process.Dead() {
		w.t.Fatalf("the deletion never came to %q", effect)
	}
}
