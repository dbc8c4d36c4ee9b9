package manifests_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

// TestEveryRightHasItsPowers shows that the table has each right that is printed,
// and none else.
func TestEveryRightHasItsPowers(t *testing.T) {
	t.Parallel()
	var told []string
	for _, p := range manifests.Powers() {
		if p.Where == "" || p.Remains == "" || p.Never == "" {
			t.Errorf("%v %v: something is left out", p.Verbs, p.Resources)
		}
		for _, resource := range p.Resources {
			for _, verb := range p.Verbs {
				told = append(told, verb+" "+resource)
			}
		}
	}
	slices.Sort(told)
	told = slices.Compact(told) // some hold in several places
	var all []string
	for _, account := range []string{manifests.ReconcileAccount, manifests.TerraformAccount, manifests.NoticeAccount} {
		all = append(all, printed(t, withAll(), account)...)
	}
	slices.Sort(all)
	if diff := cmp.Diff(slices.Compact(all), told); diff != "" {
		t.Errorf("the table is not what is printed (-printed +table)\n%s", diff)
	}
	for _, action := range []budget.Action{budget.AlertOnly, budget.Freeze, budget.Pause} {
		o := options()
		o.Enforcement = action
		for _, right := range append(printed(t, o, manifests.ReconcileAccount), printed(t, o, manifests.TerraformAccount)...) {
			if !slices.Contains(told, right) {
				t.Errorf("with %s: %s is not in the table", action, right)
			}
		}
	}
}
