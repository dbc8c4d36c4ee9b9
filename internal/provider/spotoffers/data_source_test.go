package spotoffers_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

func TestMain(m *testing.M) { providertest.Main(m) }

const t4 = "GN7.2XLARGE32"

func TestOffers(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	const address = "data.gpupool_spot_offers.t4"
	none := int64(0)
	offers := tfjsonpath.New("offers")
	text := func(n int, name, want string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, offers.AtSliceIndex(n).AtMapKey(name), knownvalue.StringExact(want))
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			{
				PreConfig: func() {
					for _, err := range []error{
						w.Sim.Server.SetPrice(cvmsim.PriceRequest{AvailabilityZone: "ap-singapore-3", InstanceType: t4, Price: "1.10"}),
						w.Sim.Server.SetPrice(cvmsim.PriceRequest{AvailabilityZone: "ap-singapore-2", InstanceType: t4, Price: "1.20"}),
						w.Sim.Server.SetPrice(cvmsim.PriceRequest{AvailabilityZone: "ap-singapore-4", InstanceType: t4, Price: "1.30"}),
						w.Sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: "ap-singapore-2", InstanceType: t4, Stock: &none}),
					} {
						if err != nil {
							t.Fatal(err)
						}
					}
				},
				Config: w.Config(`
data "gpupool_spot_offers" "t4" {
  gpu_type      = "t4"
  instance_type = "GN7.2XLARGE32"
}
`),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("region"), knownvalue.StringExact("ap-singapore")),
					statecheck.ExpectKnownValue(address, offers, knownvalue.ListSizeExact(3)),
					text(0, "availability_zone", "ap-singapore-3"), text(0, "price", "1.10"), text(0, "gpu_type", "T4"), text(0, "gpus", "1"),
					text(1, "availability_zone", "ap-singapore-2"), text(1, "stock", "sold_out"),
					text(2, "availability_zone", "ap-singapore-4"),
					statecheck.ExpectKnownValue(address, offers.AtSliceIndex(0).AtMapKey("vcpus"), knownvalue.Int64Exact(8)),
					statecheck.ExpectKnownValue(address, offers.AtSliceIndex(0).AtMapKey("memory_gb"), knownvalue.Int64Exact(32)),
				},
			},
			{
				Config: w.Config(`
data "gpupool_spot_offers" "t4" {
  availability_zone = "ap-singapore-3"
  gpu_type          = "A100"
}
`),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(address, offers, knownvalue.ListSizeExact(0))},
			},
			{
				Config:      w.Config("data \"gpupool_spot_offers\" \"t4\" {\n  region = \"ap-mars\"\n}\n"),
				ExpectError: regexp.MustCompile(`ap-mars`),
			},
		},
	})
}
