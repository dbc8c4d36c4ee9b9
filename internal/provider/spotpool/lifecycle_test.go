package spotpool_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

func TestCreateReclaimHeal(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	config := w.Config(pool())
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: config,
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{
						plancheck.ExpectKnownValue(address, tfjsonpath.New("planned_actions"), knownvalue.ListExact([]knownvalue.Check{
							knownvalue.StringExact("launch 2 spot GN7.2XLARGE32 in ap-singapore-2: capacity 0 is below minimum 2"),
						})),
						plancheck.ExpectUnknownValue(address, tfjsonpath.New("capacity")),
						plancheck.ExpectKnownValue(address, tfjsonpath.New("region"), knownvalue.StringExact("ap-singapore")),
					},
				},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("capacity"), knownvalue.Int64Exact(2)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("generation"), knownvalue.Int64Exact(1)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("account_id"), knownvalue.StringExact(cvmsim.DemoAccountID)),
				},
			},
			{
				PreConfig: func() {
					if _, err := w.Sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: "train", Count: 1}); err != nil {
						t.Fatal(err)
					}
				},
				Config: config,
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{
						plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
						plancheck.ExpectKnownValue(address, tfjsonpath.New("planned_actions"), knownvalue.ListSizeExact(1)),
						plancheck.ExpectKnownValue(address, tfjsonpath.New("generation"), knownvalue.Int64Exact(1)),
					},
				},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("capacity"), knownvalue.Int64Exact(2)),
				},
			},
		},
	})
}
