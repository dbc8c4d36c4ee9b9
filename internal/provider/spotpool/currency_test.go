package spotpool_test

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// TestAPlanShowsTheCurrencyThatAnApplyRecords: that of the provider, whatever the record has.
func TestAPlanShowsTheCurrencyThatAnApplyRecords(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	paidIn := func(currency string) string {
		return w.ConfigWith(map[string]string{"region": `"ap-singapore"`, "currency": `"` + currency + `"`}, pool(attributes{"max_hourly_cost": `"30"`}))
	}
	shows := func(currency string) plancheck.PlanCheck {
		return plancheck.ExpectKnownValue(address, tfjsonpath.New("currency"), knownvalue.StringExact(currency))
	}
	has := func(currency string) []statecheck.StateCheck {
		return []statecheck.StateCheck{
			statecheck.ExpectKnownValue(address, tfjsonpath.New("currency"), knownvalue.StringExact(currency)), number("capacity", 2),
		}
	}
	withoutCurrency := func() {
		records := record.SpotPools(record.Repository{Store: w.Store()})
		r, err := records.Load(context.Background(), "ap-singapore/train")
		if err == nil {
			r.Value.Declaration.Currency = ""
			_, err = records.Save(context.Background(), r, declaration.Active, r.Value.Declaration)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run(t,
		resource.TestStep{
			Config: w.Config(pool(attributes{"max_hourly_cost": `"30"`})), ConfigStateChecks: has("CNY"),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionCreate), shows("CNY")),
		},
		resource.TestStep{Config: paidIn("CNY"), ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan())},
		resource.TestStep{
			Config: paidIn("USD"), ConfigStateChecks: append(has("USD"), number("generation", 2)), Check: held(w, 2),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), shows("USD"), actionsNumber(0)),
		},
		resource.TestStep{Config: paidIn("USD"), ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan())},
		resource.TestStep{
			PreConfig: withoutCurrency, Config: paidIn("USD"), ConfigStateChecks: has("USD"), Check: held(w, 2),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), shows("USD"), actionsNumber(0)),
		},
	)
}
