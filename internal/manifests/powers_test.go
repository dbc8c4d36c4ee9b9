package manifests_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

// printed are the rights that the manifests give to an account, as "list pods".
func printed(t *testing.T, o manifests.Options, account string) []string {
	t.Helper()
	rules, bound := map[string][]rbacv1.PolicyRule{}, map[string]bool{}
	to := func(subjects []rbacv1.Subject, role rbacv1.RoleRef) {
		if slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool { return s.Name == account }) {
			bound[role.Kind+" "+role.Name] = true
		}
	}
	for _, object := range objects(t, o) {
		switch o := object.Object.(type) {
		case *rbacv1.Role:
			rules["Role "+o.Name] = o.Rules
		case *rbacv1.ClusterRole:
			rules["ClusterRole "+o.Name] = o.Rules
		case *rbacv1.RoleBinding:
			to(o.Subjects, o.RoleRef)
		case *rbacv1.ClusterRoleBinding:
			to(o.Subjects, o.RoleRef)
		}
	}
	var all []rbacv1.PolicyRule
	for role := range bound {
		all = append(all, rules[role]...)
	}
	return verbs(all)
}

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
