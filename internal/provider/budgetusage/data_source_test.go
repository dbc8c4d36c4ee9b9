package budgetusage_test

import (
	"math/big"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

func TestMain(m *testing.M) { providertest.Main(m) }

const (
	address = "data.gpupool_budget_usage.team_a"
	team    = `
resource "gpupool_budget" "team_a" {
  name             = "team-a"
  gpu_hours        = "100"
  window           = "24h"
  selector         = { namespaces = ["ml"] }
  breakdown_labels = ["user"]
}
`
	usage = `
data "gpupool_budget_usage" "team_a" {
  budget = gpupool_budget.team_a.name
}
`
)

func is(name string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), want)
}

func text(name, want string) statecheck.StateCheck { return is(name, knownvalue.StringExact(want)) }

func number(name, want string) statecheck.StateCheck {
	f, _, err := big.ParseFloat(want, 10, 512, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return is(name, knownvalue.NumberExact(f))
}

func TestUsageOfABudget(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	since := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	exhausted := since.Add(3 * time.Hour)
	var at, start string
	recovers := since.Add(20 * time.Hour)
	judge := func(consumed int64, exceeded, projected *time.Time) func() {
		return func() {
			w.Judge("team-a", func(s *budget.Status) {
				s.ExceededSince, s.Usage.ProjectedExhaustion = exceeded, projected
				if exceeded != nil {
					s.EnforceAt, s.Usage.RecoversAt = &exhausted, &recovers
					s.Enforced = []budget.Action{budget.Freeze}
				}
				u := &s.Usage
				u.Consumed, u.Estimated, u.ErrorBound, u.Coverage = consumed, 1_500_000, 750_000, 995
				u.TrackedPods, u.ActivePods, u.BurnRate = 7, 3, 1500
				u.ByNamespace = map[string]int64{"ml": consumed}
				u.ByLabel = map[string]map[string]int64{"user": {"ann": budget.Hour / 3, "": consumed - budget.Hour/3}}
				at, start = s.At.Format(time.RFC3339), u.WindowStart.Format(time.RFC3339)
			})
		}
	}
	var none []statecheck.StateCheck
	for _, name := range []string{
		"as_of", "generation", "used", "remaining", "estimated", "error_bound", "coverage", "burn_rate_gpus", "exceeded", "exceeded_since",
		"projected_exhaustion", "recovers_at", "tracked_pods", "active_pods", "window_start", "window_end", "enforce_at", "enforced", "by_namespace",
		"by_label",
	} {
		none = append(none, is(name, knownvalue.Null()))
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			// Unknown before the first run, which must not keep the first apply from working.
			{Config: w.BudgetConfig(team + usage), ConfigStateChecks: append(none, text("limit", "100.000"))},
			{
				PreConfig: judge(45_000_000, nil, &exhausted),
				Config:    w.BudgetConfig(team + usage),
				ConfigStateChecks: []statecheck.StateCheck{
					text("used", "12.500"), text("remaining", "87.500"), text("limit", "100.000"), text("estimated", "0.417"), text("error_bound", "0.208"),
					number("coverage", "0.995"), number("burn_rate_gpus", "1.5"), is("generation", knownvalue.Int64Exact(1)),
					is("exceeded", knownvalue.Bool(false)), is("exceeded_since", knownvalue.Null()),
					text("projected_exhaustion", exhausted.Format(time.RFC3339)), is("recovers_at", knownvalue.Null()),
					is("tracked_pods", knownvalue.Int64Exact(7)), is("active_pods", knownvalue.Int64Exact(3)), is("enforced", knownvalue.ListSizeExact(0)),
					is("by_namespace", knownvalue.MapExact(map[string]knownvalue.Check{"ml": knownvalue.StringExact("12.500")})),
					is("by_label", knownvalue.MapExact(map[string]knownvalue.Check{"user": knownvalue.MapExact(map[string]knownvalue.Check{
						"ann": knownvalue.StringExact("0.333"), "": knownvalue.StringExact("12.167"),
					})})),
					is("as_of", knownvalue.StringFunc(func(got string) error { return expect(got, at) })),
					is("window_end", knownvalue.StringFunc(func(got string) error { return expect(got, at) })),
					is("window_start", knownvalue.StringFunc(func(got string) error { return expect(got, start) })),
				},
			},
			{
				PreConfig: judge(100*budget.Hour, &since, nil),
				Config:    w.BudgetConfig(team + usage),
				ConfigStateChecks: []statecheck.StateCheck{
					text("used", "100.000"), text("remaining", "0.000"), is("exceeded", knownvalue.Bool(true)),
					text("exceeded_since", since.Format(time.RFC3339)),
					is("projected_exhaustion", knownvalue.Null()), text("recovers_at", recovers.Format(time.RFC3339)),
					text("enforce_at", exhausted.Format(time.RFC3339)),
					is("enforced", knownvalue.ListExact([]knownvalue.Check{knownvalue.StringExact("freeze")})),
				},
			},
			{
				Config:      w.BudgetConfig(team + "data \"gpupool_budget_usage\" \"missing\" {\n  budget = \"missing\"\n}\n"),
				ExpectError: regexp.MustCompile(`has\s+no\s+budget\s+"missing";\s+it\s+has\s+team-a`),
			},
		},
	})
}

func expect(got, want string) error {
	if got != want {
		return &mismatch{got, want}
	}
	return nil
}

type mismatch struct{ got, want string }

func (m *mismatch) Error() string { return m.got + " is not " + m.want }
