package spotpooldata_test

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

const (
	address = "data.gpupool_spot_pool.train"
	pool    = `
resource "gpupool_spot_pool" "train" {
  name    = "train"
  minimum = 2
  maximum = 4
  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
  ]
  vpc_id   = "vpc-a1b2c3d4"
  image_id = "%s"
  internet_max_bandwidth_out = 1
}
`
	data = `
data "gpupool_spot_pool" "train" {
  name       = "train"
  depends_on = [gpupool_spot_pool.train]
}
`
)

func value(path tfjsonpath.Path, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, path, want)
}

func number(name string, n int64) statecheck.StateCheck {
	return value(tfjsonpath.New(name), knownvalue.Int64Exact(n))
}

func TestPoolAndItsMachines(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	config := func(image string) string {
		return w.Config(regexp.MustCompile("%s").ReplaceAllString(pool, image) + data)
	}
	machine := tfjsonpath.New("machines").AtSliceIndex(0)
	address := knownvalue.StringRegexp(regexp.MustCompile(`^[0-9.]+$`))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			{
				PreConfig: func() {
					if err := w.Sim.Server.SetPrice(cvmsim.PriceRequest{
						AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", Price: "1.25",
					}); err != nil {
						t.Fatal(err)
					}
				},
				Config: config("img-a1b2c3d4"),
				ConfigStateChecks: []statecheck.StateCheck{
					number("capacity", 2), number("total", 2), number("shortfall", 0), number("drifted", 0),
					number("minimum", 2), number("maximum", 4), number("generation", 1),
					value(tfjsonpath.New("region"), knownvalue.StringExact("ap-singapore")),
					value(tfjsonpath.New("account_id"), knownvalue.StringExact(cvmsim.DemoAccountID)),
					value(tfjsonpath.New("estimated_hourly_price"), knownvalue.StringExact("2.50")),
					value(tfjsonpath.New("machines"), knownvalue.ListSizeExact(2)),
					value(machine.AtMapKey("instance_id"), knownvalue.StringRegexp(regexp.MustCompile(`^ins-`))),
					value(machine.AtMapKey("availability_zone"), knownvalue.StringExact("ap-singapore-2")),
					value(machine.AtMapKey("instance_type"), knownvalue.StringExact("GN7.2XLARGE32")),
					value(machine.AtMapKey("charge_type"), knownvalue.StringExact("SPOTPAID")),
					value(machine.AtMapKey("state"), knownvalue.StringExact("RUNNING")),
					value(machine.AtMapKey("private_ip"), address),
					value(machine.AtMapKey("public_ip"), address),
					value(machine.AtMapKey("launched_at"), knownvalue.StringRegexp(regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`))),
					value(machine.AtMapKey("drifted"), knownvalue.Bool(false)),
					value(machine.AtMapKey("node"), knownvalue.Null()),
					value(machine.AtMapKey("node_health"), knownvalue.Null()),
					value(machine.AtMapKey("gpu_pods"), knownvalue.Null()),
					value(machine.AtMapKey("drain"), knownvalue.Null()),
				},
			},
			{
				Config:            config("img-z9y8x7w6"),
				ConfigStateChecks: []statecheck.StateCheck{number("drifted", 2), value(machine.AtMapKey("drifted"), knownvalue.Bool(true))},
			},
			{
				Config: config("img-z9y8x7w6") + `
data "gpupool_spot_pool" "nowhere" {
  name   = "nowhere"
  region = "ap-guangzhou"
}
`,
				ExpectError: regexp.MustCompile(`(?i)there is no spot pool\s+ap-guangzhou/nowhere`),
			},
		},
	})
}
