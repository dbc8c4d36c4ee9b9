package reconcile_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// TestALostRecordIsReported: each run and status warn of what is left of an object whose record
// is lost, with its instances.
func TestALostRecordIsReported(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.run(reconcile.RunOptions{})
	id := g.Own()[0].InstanceID
	for record, want := range map[string][]string{
		"spot_pools/ap-singapore/train.json": {
			"the record of spot_pool/ap-singapore/train", "no run manages its instances " + id, "gpupool/uid=" + g.pool.UID,
			"gpupool reconcile --from-state",
		},
		"budgets/team-a.json": {"the record of budget/team-a", "no run judges it", "Put budgets/team-a back from a copy"},
	} {
		path := filepath.Join(g.Dir, record)
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		for run := range 3 {
			status, err := g.process().Runner().Status(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !status.Trouble() {
				t.Errorf("%s, run %d: status reports no trouble", record, run+1)
			}
			warnings := map[string][]string{
				"status": status.Warnings.Texts(), "run": g.run(reconcile.RunOptions{}).Warnings.Texts(),
				"dry run": g.run(reconcile.RunOptions{DryRun: true}).Warnings.Texts(),
			}
			for of, list := range warnings {
				wantOneWarning(t, of+" without "+record, list, want)
			}
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if warnings := g.run(reconcile.RunOptions{}).Warnings; len(warnings) > 0 {
		t.Errorf("with its records back, a run warns of %q", warnings)
	}
}

// wantOneWarning wants one warning about a lost record, which has all texts.
func wantOneWarning(t *testing.T, of string, list, want []string) {
	t.Helper()
	list = slices.DeleteFunc(slices.Clone(list), func(text string) bool { return !strings.HasPrefix(text, "the record of ") })
	if len(list) != 1 {
		t.Errorf("%s: %d warnings: %q", of, len(list), list)
		return
	}
	for _, text := range want {
		if !strings.Contains(list[0], text) {
			t.Errorf("%s: %q lacks %q", of, list[0], text)
		}
	}
}

// TestDestroyedObjectIsNotLost: what a deletion left for a while is explained by its
// tombstone.
func TestDestroyedObjectIsNotLost(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	b := d.Declare(func(b *budget.Declaration) { b.GPUHours = "1000" })
	d.Run()
	left := filepath.Join(d.Dir, "statuses", "budgets", "team-a.json")
	data, err := os.ReadFile(left)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Budgets().Delete(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, data, 0o600); err != nil { // as a run during the deletion does
		t.Fatal(err)
	}
	if warnings := d.Run().Warnings; len(warnings) > 0 {
		t.Errorf("a run warns of %q", warnings)
	}
}
