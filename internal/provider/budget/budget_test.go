package budget_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

func TestMain(m *testing.M) { providertest.Main(m) }

const address = "gpupool_budget.team_a"

// attributes are arguments of a budget, in HCL. Empty ones are left out.
type attributes map[string]string

// budget is a budget of the team's, with arguments over the usual ones.
func budget(changes ...attributes) string {
	all := attributes{
		"name": `"team-a"`, "gpu_hours": `"100"`, "window": `"24h"`, "selector": `{ namespaces = ["ml"], match_labels = { team = "a" } }`,
	}
	return providertest.Block("gpupool_budget", "team_a", all, changes...)
}

func run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: providertest.Factories(), Steps: steps})
}

func planned(checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: checks}
}

func action(a plancheck.ResourceActionType) plancheck.PlanCheck {
	return plancheck.ExpectResourceAction(address, a)
}

func is(name string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), want)
}

func text(name, want string) statecheck.StateCheck { return is(name, knownvalue.StringExact(want)) }

func generation(n int64) statecheck.StateCheck { return is("generation", knownvalue.Int64Exact(n)) }

func message(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join(strings.Fields(regexp.QuoteMeta(words)), `\s+`))
}
