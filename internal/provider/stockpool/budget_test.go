package stockpool_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// TestABudgetPausesThePoolAndLetsItGo: the status that a run made of it decides. A new budget
// has none, and the pool waits for it.
func TestABudgetPausesThePoolAndLetsItGo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	budget := fmt.Sprintf(`
resource "gpupool_budget" "b" {
  name        = "b"
  gpu_hours   = "100"
  window      = "24h"
  selector    = { namespaces = [%q] }
  enforcement = { action = "pause", grace_period = "0s" }
}
`, s.namespace)
	config := s.pool(attributes{"budget": "gpupool_budget.b.name"}) + budget + dataSource
	judged := func(consumed int64, enforce *time.Time) func() {
		return func() {
			s.Judge("b", func(of *core.Status) { of.Usage.Consumed, of.EnforceAt = consumed, enforce })
		}
	}
	past := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	is := func(phase string, desired int64) []statecheck.StateCheck {
		return []statecheck.StateCheck{is(data, "phase", knownvalue.StringRegexp(regexp.MustCompile("^("+phase+")$"))), number(data, "desired", desired)}
	}
	run(t,
		resource.TestStep{Config: config, ConfigStateChecks: is("Pending", 0)},
		resource.TestStep{
			PreConfig: judged(0, nil), Config: config, ConfigPlanChecks: planned(plancheck.ResourceActionUpdate), ConfigStateChecks: is("Ready", 2),
		},
		resource.TestStep{
			PreConfig: judged(400_000_000, &past), Config: config, ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
			ConfigStateChecks: is("Pausing|Paused", 0),
		},
		resource.TestStep{
			PreConfig: judged(0, nil), Config: config, ConfigPlanChecks: planned(plancheck.ResourceActionUpdate), ConfigStateChecks: is("Ready", 2),
		},
	)
}
