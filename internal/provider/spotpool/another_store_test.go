package spotpool_test

import (
	"path/filepath"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	storemove "github.com/gpupool/terraform-provider-gpupool/internal/store/move"
)

// Another store than the one that has a pool's record is refused by every operation, and
// both are named: else each would launch for it.
func TestAnotherStoreIsRefused(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	own := serve(t, w)
	o := create(t, own, train(nil))
	elsewhere := filepath.Join(t.TempDir(), "store")
	other, diags := w.Serve(nil, providertest.Values{"store": providertest.Values{"directory": elsewhere}})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	both := []string{"Spot pool is not in this store", "gpupool store move directory:" + w.StoreDir + " directory:" + elsewhere, "--from-state"}
	refused := func(doing string, diags providertest.Diagnostics) {
		t.Helper()
		t.Log(doing, "with another store")
		contains(t, diags, append([]string{"ERROR"}, both...)...)
	}
	larger := train(providertest.Values{"minimum": 3, "maximum": 3})
	_, diags = other.Read(o)
	refused("a refresh", diags)
	refused("a plan without a refresh", other.Plan(o, larger).Diagnostics)
	refused("a plan of the end", other.Plan(o, nil).Diagnostics)
	planned, end := own.Plan(o, larger), own.Plan(o, nil)
	_, diags = other.Apply(planned)
	refused("an apply", diags)
	_, diags = other.Apply(end)
	refused("a destroy", diags)
	if left := w.Pool("train"); len(left) != 2 {
		t.Errorf("the pool has %d instances", len(left))
	}
	if o, diags = own.Read(o); len(diags) > 0 {
		t.Errorf("its own store: %s", diags)
	}
	own.Destroy(o)
}

// Once the store was moved, the old argument is refused with the name of the new store,
// and with the new one nothing changes.
func TestMovedStoreIsUsedInstead(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	o := create(t, serve(t, w), train(nil))
	to := filepath.Join(t.TempDir(), "store")
	var ends [2]*directory.Store
	for n, path := range []string{w.StoreDir, to} {
		end, err := directory.Open(path, directory.Options{Create: true, Moving: true})
		if err != nil {
			t.Fatal(err)
		}
		ends[n] = end
	}
	if _, err := (storemove.Move{From: ends[0], To: ends[1]}).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	old := serve(t, w)
	_, diags := old.Read(o)
	contains(t, diags, "ERROR", "Store was moved", "use that one, with --store directory:"+to)
	contains(t, old.Plan(o, nil).Diagnostics, "was moved to directory:"+to)
	other, diags := w.Serve(nil, providertest.Values{"store": providertest.Values{"directory": to}})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if o, diags = other.Read(o); len(diags) > 0 {
		t.Errorf("a refresh: %s", diags)
	}
	if p := other.Plan(o, train(nil)); len(p.Diagnostics) > 0 || !p.State.Equal(o.State) {
		t.Errorf("a plan changes something: %s %s", p.Diagnostics, p.State)
	}
	other.Destroy(o)
}

// A plan that was saved before another workspace protected the pool ends nothing, and a
// plan of now says that the pool is protected.
func TestDestroyRespectsTheRecordsProtection(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w)
	o := create(t, s, train(nil))
	saved := s.Plan(o, nil)
	other, _ := s.Read(o)
	protectedByOther, diags := s.Apply(s.Plan(other, train(providertest.Values{"deletion_protection": true})))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	_, diags = s.Apply(saved)
	contains(t, diags, "ERROR", "changed after this plan", "terraform apply -refresh-only")
	contains(t, s.Plan(o, nil).Diagnostics, "ERROR", "Spot pool is protected from deletion")
	if left := w.Pool("train"); len(left) != 2 {
		t.Errorf("the pool has %d instances", len(left))
	}
	o, diags = s.Apply(s.Plan(protectedByOther, train(nil)))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	s.Destroy(o)
}
