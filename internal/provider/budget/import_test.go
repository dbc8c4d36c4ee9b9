package budget_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// imported takes the budget of these tests over.
const imported = "import {\n  to = gpupool_budget.team_a\n  id = \"team-a\"\n}\n"

// A budget that is imported with a configuration that says what the record says, in
// whatever words, is imported and not changed.
func TestImportChangesNothing(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	state, err := w.Process().Budgets().Create(t.Context(), core.Declaration{
		Name: "team-a", GPUHours: "5.50", Window: "1d", Thresholds: []int{80, 100},
		Selector: core.Selector{
			Namespaces: []string{"a", "b"}, MatchLabels: map[string]string{"team": "a"},
			MatchExpressions: []core.Expression{{Key: "tier", Operator: "In", Values: []string{"x", "y"}}, {Key: "gpu", Operator: "Exists"}},
		},
		Enforce: core.Enforcement{
			Action: core.Evict, GracePeriod: "30m", ProtectedPriorityClass: "production", ProtectedNamespaces: []string{"serving"},
		},
		ResourceWeights: map[string]string{"nvidia.com/gpu": "1/2"}, ModelWeights: map[string]string{"Tesla-T4": "0.5"}, BreakdownLabels: []string{"user"},
	}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	config := w.BudgetConfig(imported + budget(attributes{
		"gpu_hours": `"5.5"`, "window": `"24h"`, "thresholds": "[80, 100]",
		"selector": `{
			namespaces        = ["b", "a"]
			match_labels      = { team = "a" }
			match_expressions = [{ key = "tier", operator = "In", values = ["y", "x"] }, { key = "gpu", operator = "Exists" }]
		}`,
		"enforcement":      `{ action = "evict", grace_period = "1800s", protected_priority_class = "production", protected_namespaces = ["serving"] }`,
		"resource_weights": `{ "nvidia.com/gpu" = "0.5" }`, "model_weights": `{ "Tesla-T4" = "1/2" }`, "breakdown_labels": `["user"]`,
	}))
	run(t,
		resource.TestStep{
			Config:            config,
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionNoop)),
			ConfigStateChecks: []statecheck.StateCheck{generation(1), text("uid", state.Declaration.UID), text("gpu_hours", "5.50")},
		},
		resource.TestStep{Config: config, ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan())},
	)
}

// TestABudgetOfAFileIsImported: an apply takes it over, so that the file no longer changes or deletes it.
func TestABudgetOfAFileIsImported(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	declared := core.Declaration{Name: "team-a", GPUHours: "5", Window: "24h", Selector: core.Selector{Namespaces: []string{"a"}}}
	if _, err := w.Process().Budgets().DeclareFile(t.Context(), []core.Declaration{declared}); err != nil {
		t.Fatal(err)
	}
	fromFile := func() bool {
		d, err := w.Process().Budgets().Find(t.Context(), "team-a")
		if err != nil {
			t.Fatal(err)
		}
		return d.FromFile()
	}
	config := w.BudgetConfig(imported + budget(attributes{"gpu_hours": `"5"`, "window": `"24h"`, "selector": `{ namespaces = ["a"] }`}))
	run(t,
		resource.TestStep{
			PreConfig: func() {
				if !fromFile() {
					t.Error("the file does not manage it")
				}
			},
			Config: config, ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate)),
		},
		resource.TestStep{
			PreConfig: func() {
				if fromFile() {
					t.Error("the file still manages it")
				}
				if _, err := w.Process().Budgets().DeclareFile(t.Context(), nil); err != nil {
					t.Error(err)
				}
			},
			Config: config, ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan()),
		},
	)
}

// An existing budget is not overwritten.
func TestBudgetThatExists(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	p := w.Process()
	state, err := p.Budgets().Create(t.Context(), core.Declaration{
		Name: "team-a", GPUHours: "5", Window: "24h", Selector: core.Selector{Namespaces: []string{"theirs"}},
	}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	run(t,
		resource.TestStep{Config: w.BudgetConfig(budget()), ExpectError: message("exists already")},
		resource.TestStep{Config: w.BudgetConfig(budget()), ExpectError: message("terraform import ADDRESS team-a")},
		resource.TestStep{
			Config:       w.BudgetConfig(budget()),
			ResourceName: address, ImportState: true, ImportStateId: "team-a", ImportStatePersist: true,
		},
		resource.TestStep{
			Config:            w.BudgetConfig(budget()),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{text("uid", state.Declaration.UID), generation(2), text("gpu_hours", "100")},
		},
	)
}

func TestMalformedImports(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	for id, want := range map[string]string{
		"Team A": "is not the name of a budget", "a/b": "is not the name of a budget", "team-x": "has no budget \"team-x\"",
	} {
		_, diags := s.Import(id, nil)
		contains(t, diags, want)
	}
	create(t, s, values(nil))
	o, diags := s.Import("", providertest.Values{"name": "team-a"})
	if len(diags) > 0 || o.Attribute("gpu_hours") != "100" {
		t.Errorf("by its identity: %s", diags)
	}
}
