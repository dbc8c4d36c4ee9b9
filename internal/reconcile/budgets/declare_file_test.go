package budgets_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

func fromFile(name, hours string) budget.Declaration {
	return budget.Declaration{Name: name, GPUHours: hours, Window: "7d", Selector: budget.Selector{MatchLabels: map[string]string{"team": name}}}
}

// TestDeclareFile creates, changes, keeps and deletes budgets as a file changes. A budget that
// Terraform takes over stays when it leaves the file.
func TestDeclareFile(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	terraform := d.Declare(func(of *budget.Declaration) { of.Name = "terraform" })
	declare := func(list ...budget.Declaration) map[string]budgets.Change {
		t.Helper()
		done, err := d.Budgets().DeclareFile(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		changes := map[string]budgets.Change{}
		for _, one := range done {
			changes[strings.TrimPrefix(one.Object, "budget/")] = one.Change
		}
		return changes
	}
	expect := func(got, want map[string]budgets.Change) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	expect(declare(fromFile("a", "100"), fromFile("b", "5"), fromFile("terraform", "1")),
		map[string]budgets.Change{"a": budgets.Created, "b": budgets.Created, "terraform": budgets.Kept})
	a, err := d.Budgets().Find(t.Context(), "a")
	if err != nil || !a.FromFile() || a.Enforce.Action != budget.AlertOnly || a.Generation != 1 {
		t.Fatalf("declared as %+v, %v", a, err)
	}
	expect(declare(fromFile("a", "200"), fromFile("b", "5")), map[string]budgets.Change{"a": budgets.Updated, "b": budgets.Unchanged})

	taken, err := d.Budgets().Find(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	published := taken.PublishedAt
	taken.ManagedBy = ""
	if _, err := d.Budgets().Update(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	expect(declare(), map[string]budgets.Change{"b": budgets.Deleted})
	if a, err = d.Budgets().Find(t.Context(), "a"); err != nil || a.GPUHours != "200" || !a.PublishedAt.Equal(published) {
		t.Errorf("the budget that Terraform took over: %+v, %v", a, err)
	}
	if now, err := d.Budgets().Find(t.Context(), "terraform"); err != nil || now.GPUHours != terraform.GPUHours {
		t.Errorf("the budget of Terraform: %+v, %v", now, err)
	}
	expect(declare(fromFile("b", "5")), map[string]budgets.Change{"b": budgets.Created})

	if _, err := d.Budgets().DeclareFile(t.Context(), []budget.Declaration{fromFile("c", "5"), fromFile("d", "many")}); err == nil {
		t.Error("an invalid file is accepted")
	}
	if _, err := d.Budgets().Find(t.Context(), "c"); err == nil {
		t.Error("an invalid file is accepted in part")
	}
}
