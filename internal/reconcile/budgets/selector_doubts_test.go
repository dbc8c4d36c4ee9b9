package budgets_test

import (
	"slices"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// TestANamespaceThatDoesNotExistIsReported by the run and by the status that it leaves, with
// the one that was probably meant.
func TestANamespaceThatDoesNotExistIsReported(t *testing.T) {
	t.Parallel()
	const doubt = `its selector has the namespace "nl", which does not exist in the cluster: did you mean "ml"?`
	d := newFixture(t)
	d.Declare(func(b *budget.Declaration) { b.Selector = budget.Selector{Namespaces: []string{"web", "nl"}} })
	r := d.Run()
	if len(r.Budgets) != 1 || !slices.Contains(r.Budgets[0].Warnings, doubt) {
		t.Errorf("the run says %+v", r.Budgets)
	}
	status, err := d.Runner().Status(t.Context())
	if err != nil || len(status.Budgets) != 1 || !slices.Contains(status.Budgets[0].Warnings, doubt) {
		t.Errorf("the status says %+v, %v", status.Budgets, err)
	}
}
