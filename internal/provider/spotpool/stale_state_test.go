package spotpool_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// A block that is removed from an older state does not destroy a pool that another workspace
// protected since. The error's advice updates the state.
func TestRemovedBlockOfAStaleState(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	d := w.Terraform()
	d.Write(pool())
	d.Apply()
	protect := func(protected bool) {
		t.Helper()
		s, err := directory.Open(w.StoreDir, directory.Options{})
		if err != nil {
			t.Fatal(err)
		}
		life := record.SpotPools(record.Repository{Store: s, Actor: "test"})
		r, err := life.Load(t.Context(), "ap-singapore/train")
		if err != nil {
			t.Fatal(err)
		}
		r.Value.Declaration.DeletionProtection = protected
		r.Value.Declaration.Generation++
		if _, err := life.Save(t.Context(), r, declaration.Active, r.Value.Declaration); err != nil {
			t.Fatal(err)
		}
	}
	protect(true)
	d.Write("")
	if r := d.Run("terraform", "apply", "-auto-approve", "-input=false", "-no-color"); r.Code == 0 || !strings.Contains(r.Stderr, "protected from deletion") {
		t.Errorf("removing the block: %+v", r)
	}
	protect(false)
	r := d.Run("terraform", "apply", "-auto-approve", "-input=false", "-no-color")
	t.Logf("an apply of the older state: %+v", r)
	if r.Code != 0 {
		d.Must("terraform", "apply", "-refresh-only", "-auto-approve", "-input=false")
		d.Must("terraform", "apply", "-auto-approve", "-input=false")
	}
	if left := w.Pool("train"); len(left) != 0 {
		t.Errorf("the pool has %d instances", len(left))
	}
}
