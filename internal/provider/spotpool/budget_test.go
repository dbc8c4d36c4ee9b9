package spotpool_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// By Terraform: a budget and its pool are declared together. The pool waits for the first run's
// evaluation, and the next apply launches it.
func TestBudgetAndPoolTogether(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	namespace := w.Cluster.Namespace(t)
	config := w.Config(`
resource "gpupool_budget" "team_a" {
  name      = "team-a"
  gpu_hours = "1000"
  window    = "24h"
  selector  = { namespaces = ["` + namespace + `"] }
}
` + pool(attributes{"budget": "gpupool_budget.team_a.name"}))
	run(t,
		resource.TestStep{
			Config:            config,
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionCreate), actions(firstLaunch+"; if its budget team-a allows it then")),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 0)},
		},
		resource.TestStep{
			PreConfig: func() { w.Judge("team-a", used(1)) },
			Config:    config,
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate),
				actions("launch 2 spot GN7.2XLARGE32 in ap-singapore-2: capacity 0 is below minimum 2; 1.90 CNY an hour each")),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 2)},
		},
	)
}

// A budget can be destroyed while a pool refers to it by a literal name: the pool keeps its
// instances, and both are planned independently.
func TestBudgetIsDestroyedUnderAPool(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	team := `
resource "gpupool_budget" "team_a" {
  name      = "team-a"
  gpu_hours = "1000"
  window    = "24h"
  selector  = { namespaces = ["ml"] }
}
`
	train := pool(attributes{"budget": `"team-a"`})
	run(t,
		resource.TestStep{Config: w.Config(team)},
		resource.TestStep{PreConfig: func() { w.Judge("team-a", used(1)) }, Config: w.Config(team + train), Check: held(w, 2)},
		resource.TestStep{
			Config: w.Config(train),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionNoop),
				plancheck.ExpectResourceAction("gpupool_budget.team_a", plancheck.ResourceActionDestroy)),
			Check: held(w, 2),
		},
		resource.TestStep{Config: w.Config(train), ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan()), Check: held(w, 2)},
	)
}

// A pool whose budget was destroyed keeps its instances. Each refresh warns that nothing more
// is launched, not only once it is short.
func TestBudgetIsDestroyed(t *testing.T) {
	t.Parallel()
	w, s, o := createGated(t)
	process := w.Process()
	d, err := process.Budgets().Find(t.Context(), "team-a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := process.Budgets().Delete(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s = fresh(t, w)
		var diags providertest.Diagnostics
		o, diags = s.Read(o)
		contains(t, diags, "WARNING", "Spot pool ap-singapore/train", `has no budget "team-a"`, "Declare the budget")
	}
	if p := s.Plan(o, train(gated)); len(p.Diagnostics) > 0 || !p.State.Equal(o.State) {
		t.Errorf("warned twice: %s", p.Diagnostics)
	}
	reclaim(t, w, 1)
	s = fresh(t, w)
	o, diags := s.Read(o)
	if len(diags) > 0 {
		t.Errorf("refreshing a pool that is short: %s", diags)
	}
	contains(t, s.Plan(o, train(gated)).Diagnostics, "nothing can be launched now", `has no budget "team-a"`)
	s.Destroy(o)
}
