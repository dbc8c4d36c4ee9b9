package spotpool_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// Values that another resource gives are unknown at plan; what depends on them
// is, too, and comes right at apply.
func TestValuesKnownAfterApply(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	config := pool(attributes{
		"minimum": "terraform_data.later.output.minimum", "tags": "{ team = terraform_data.later.output.tag }",
		"user_data_raw": "terraform_data.later.output.script",
		"offerings":     `[{ availability_zone = terraform_data.later.output.zone, instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" }]`,
	})
	data := func(minimum string) string {
		return "resource \"terraform_data\" \"later\" {\n  input = { minimum = " + minimum + `, tag = "a", zone = "ap-singapore-2", script = "#!/bin/sh" }` +
			"\n}\n"
	}
	unknownActions := plancheck.ExpectUnknownValue(address, tfjsonpath.New("planned_actions"))
	run(t,
		resource.TestStep{
			Config:           w.Config(data("1") + config),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionCreate), unknownActions),
			ConfigStateChecks: []statecheck.StateCheck{
				number("capacity", 1),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("planned_actions"), knownvalue.ListExact([]knownvalue.Check{
					knownvalue.StringExact("launch 1 spot instance: capacity 0 is below minimum 1; the offering is chosen at apply"),
				})),
			},
		},
		resource.TestStep{
			Config: w.Config(data("3") + config),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), unknownActions,
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("generation"))),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 3), number("generation", 2)},
		},
		resource.TestStep{ // unknown, and then what it was
			Config: w.Config("resource \"terraform_data\" \"earlier\" {\n  input = 3\n}\n" + pool(attributes{
				"minimum": "terraform_data.earlier.output", "tags": `{ team = "a" }`, "user_data_raw": `"#!/bin/sh"`,
				"offerings": `[{ availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" }]`,
			})),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate), unknownActions),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 3), number("generation", 2)},
		},
	)
}

// A provider whose arguments are not known yet can still plan new pools.
func TestProviderKnownAfterApply(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	data := "resource \"terraform_data\" \"region\" {\n  input = \"ap-singapore\"\n}\n"
	run(t, resource.TestStep{
		Config: w.ConfigWith(map[string]string{"region": "terraform_data.region.output"}, data+pool()),
		ConfigPlanChecks: planned(
			plancheck.ExpectUnknownValue(address, tfjsonpath.New("region")),
			actions(firstLaunch),
		),
		ConfigStateChecks: []statecheck.StateCheck{number("capacity", 2)},
	})
}

// A cluster that is created in the same run keeps pools from nothing: they need
// none.
func TestClusterKnownAfterApply(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	data := "resource \"terraform_data\" \"cluster\" {\n  input = \"https://127.0.0.1:1\"\n}\n"
	config := w.ConfigWith(map[string]string{"kubernetes": "{ host = terraform_data.cluster.output }"}, data+pool())
	run(t,
		resource.TestStep{
			Config:            config,
			ConfigPlanChecks:  planned(actions(firstLaunch)),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 2)},
		},
		resource.TestStep{ // nor does one without a server
			Config: config, ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan()),
		},
	)
}
