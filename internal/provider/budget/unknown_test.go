package budget_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// later is a resource whose output is not known before it is applied.
func later(values string) string {
	return "resource \"terraform_data\" \"later\" {\n  input = " + values + "\n}\n"
}

// Values that another resource gives are unknown at plan, wherever they stand, and
// come right at apply.
func TestValuesKnownAfterApply(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	config := budget(attributes{
		"gpu_hours": "terraform_data.later.output.hours", "window": "terraform_data.later.output.window",
		"selector": `{
			namespaces        = ["ml", terraform_data.later.output.name]
			match_labels      = { team = terraform_data.later.output.name }
			match_expressions = [{ key = "tier", operator = "In", values = [terraform_data.later.output.name] }]
		}`,
		"thresholds":       "[50, terraform_data.later.output.percent]",
		"enforcement":      `{ action = terraform_data.later.output.action, grace_period = "30m" }`,
		"resource_weights": `{ "example.com/gpu" = terraform_data.later.output.weight }`,
		"breakdown_labels": "[terraform_data.later.output.name]",
	})
	first := `{ hours = 100, window = "24h", name = "a", percent = 90, action = "freeze", weight = "0.5" }`
	unknown := func(name string) plancheck.PlanCheck {
		return plancheck.ExpectUnknownValue(address, tfjsonpath.New(name))
	}
	run(t,
		resource.TestStep{
			Config:           w.BudgetConfig(later(first) + config),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionCreate), unknown("gpu_hours"), unknown("window")),
			ConfigStateChecks: []statecheck.StateCheck{
				generation(1), text("gpu_hours", "100"), text("window", "24h"),
				is("enforcement", knownvalue.ObjectPartial(map[string]knownvalue.Check{
					"action": knownvalue.StringExact("freeze"), "grace_period": knownvalue.StringExact("30m"), "max_gap": knownvalue.StringExact("15m"),
				})),
			},
		},
		resource.TestStep{
			Config:            w.BudgetConfig(later(`{ hours = 200, window = "7d", name = "b", percent = 95, action = "evict", weight = "1/7" }`) + config),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate), unknown("gpu_hours"), unknown("generation")),
			ConfigStateChecks: []statecheck.StateCheck{generation(2), text("gpu_hours", "200"), text("window", "7d")},
		},
		resource.TestStep{ // unknown, and then what it was, in other words
			Config: w.BudgetConfig(later(`{ hours = "200.0", window = "168h", name = "b", percent = 95, action = "evict", weight = "2/14" }`) +
				config),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate), unknown("gpu_hours"), unknown("generation")),
			ConfigStateChecks: []statecheck.StateCheck{generation(2), text("gpu_hours", "200"), text("window", "7d")},
		},
	)
}

// An apply reports a bad value that becomes known only then, at its attribute, and records
// nothing.
func TestBadValuesKnownAfterApply(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	for name, test := range map[string]struct {
		values string
		change attributes
		want   string
	}{
		"hours": {`"a lot"`, attributes{"gpu_hours": "terraform_data.later.output"}, `invalid number of GPU-hours "a lot"`},
		"namespace": {
			`"M L"`, attributes{"selector": "{ namespaces = [terraform_data.later.output] }"}, `selector.namespaces[0]: invalid namespace name "M L"`,
		},
		"no pods": {`[]`, attributes{"selector": "{ namespaces = terraform_data.later.output }"}, "selector is empty"},
		"percent": {"50.5", attributes{"thresholds": "[terraform_data.later.output]"}, "thresholds[0]: 50.5 is not a whole percent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, resource.TestStep{Config: w.BudgetConfig(later(test.values) + budget(test.change)), ExpectError: message(test.want)})
			nothingRecorded(t, w)
		})
	}
}

// A provider whose cluster is not known yet can still plan new budgets, and one
// whose account isn't can do everything with them.
func TestProviderKnownAfterApply(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	data := fmt.Sprintf("resource \"terraform_data\" \"later\" {\n  input = { path = %q, endpoint = \"http://127.0.0.1:1\" }\n}\n", w.Cluster.Kubeconfig())
	run(t,
		resource.TestStep{
			Config: w.BudgetConfigWith(map[string]string{
				"kubernetes": "{ config_path = terraform_data.later.output.path }", "endpoint": "terraform_data.later.output.endpoint",
			}, data+budget()),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionCreate)),
		},
	)
}
