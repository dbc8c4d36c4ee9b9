package manifests_test

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// TestRolesOfAPIUsers asks for each right that gpupool serve asks for.
func TestRolesOfAPIUsers(t *testing.T) {
	t.Parallel()
	rules := map[string][]rbacv1.PolicyRule{}
	o := options()
	o.API = true
	for _, object := range objects(t, o) {
		if role, ok := object.Object.(*rbacv1.ClusterRole); ok {
			rules[strings.TrimPrefix(role.Name, manifests.DefaultNamespace+"-")] = role.Rules
		}
	}
	questions := []struct {
		request, verb, resource string
		reader                  bool
	}{
		{"GET /spotpools", access.Get, access.SpotPools, true},
		{"GET /budgets", access.Get, access.Budgets, true},
		{"GET /stockpools", access.Get, access.StockPools, true},
		{"GET /jobs", access.Get, access.Jobs, true},
		{"GET /metrics", access.Get, access.Metrics, true},
		{"DELETE /jobs/{id}", access.Delete, access.Jobs, false},
		{"POST /budgets/{name}/grants", access.Create, access.Grants, false},
		{"POST /spotpools/{region}/{name}/holds", access.Create, access.Holds, false},
		{"POST /runs", access.Create, access.Runs, false},
		{"POST /stockpools", access.Create, access.StockPools, false},
	}
	for _, q := range questions {
		for role, want := range map[string]bool{"api-reader": q.reader, "api-requester": true} {
			allows := func(r rbacv1.PolicyRule) bool {
				return slices.Equal(r.APIGroups, []string{access.Group}) && slices.Contains(r.Resources, q.resource) && slices.Contains(r.Verbs, q.verb)
			}
			if got := slices.ContainsFunc(rules[role], allows); got != want {
				t.Errorf("%s allows %s: %t, want %t", role, q.request, got, want)
			}
		}
	}
	if all := verbs(rules["api-requester"]); len(all) != len(questions) {
		t.Errorf("a requester may %v, of which not all is asked for", all)
	}
}

// TestEachSlotCanBeUsed: both accounts may write each freeze slot, up to the most that can be printed.
func TestEachSlotCanBeUsed(t *testing.T) {
	t.Parallel()
	o := options()
	o.FreezeSlots = len(kubecluster.FreezeSlotNames())
	all := objects(t, o)
	slots := 0
	for _, object := range all {
		name := nameOf(t, object)
		if !slices.Contains(kubecluster.FreezeSlotNames(), name) {
			continue
		}
		slots++
		for _, account := range []string{manifests.ReconcileAccount, manifests.TerraformAccount} {
			writes := apiCall{verb: "update", group: "admissionregistration.k8s.io", resource: "validatingadmissionpolicybindings", name: name}
			if !slices.ContainsFunc(grantsOf(all), func(g grant) bool { return g.account == account && g.allows(writes) }) {
				t.Errorf("%s may not write %s", account, name)
			}
		}
	}
	if slots != o.FreezeSlots {
		t.Errorf("%d slots are printed, want %d", slots, o.FreezeSlots)
	}
}
