package provider_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// A problem inside an argument is shown at that argument, with its path; a problem of a list
// element, at the element.
func TestErrorsInsideArgumentsAreShownThere(t *testing.T) {
	t.Parallel()
	config := func(offerings, rest string) string {
		return fmt.Sprintf(`
resource "gpupool_spot_pool" "p" {
  name      = "p"
  minimum   = 1
  maximum   = 2
  vpc_id    = "vpc-a1b2c3d4"
  image_id  = "img-a1b2c3d4"
  offerings = [
    { availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
    %s
  ]
  %s
}`, offerings, rest)
	}
	good := `{ availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },`
	step := func(config, path, line string) resource.TestStep {
		return resource.TestStep{
			Config: config, PlanOnly: true,
			ExpectError: regexp.MustCompile(`(?s)` + regexp.QuoteMeta(path) + `.* on terraform_plugin_test\.tf line \d+, in resource [^\n]*\n +\d+: +` +
				regexp.QuoteMeta(line)),
		}
	}
	w := providertest.New(t)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){"gpupool": func() (tfprotov6.ProviderServer, error) {
			return provider.NewPlugin("test", provider.WithEnvironment(func(string) string { return "" }))(), nil
		}},
		Steps: []resource.TestStep{
			step(w.Config(config(`{ availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4", spot_max_price = "abc" },`,
				"")),
				"offerings[1].spot_max_price", `{ availability_zone = "ap-singapore-3"`),
			step(w.Config(config(`{ availability_zone = "ap-tokyo-1", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },`, "")),
				"offerings[1].availability_zone", `{ availability_zone = "ap-tokyo-1"`),
			step(w.Config(config(good, `refresh = { strategy = "sometimes" }`)), "refresh.strategy", `refresh = { strategy = "sometimes" }`),
			step(w.Config(config(good, `on_demand_fallback = { after = "soon", maximum = 1 }`)), "on_demand_fallback.after", "on_demand_fallback = {"),
			step(w.Config(config(good, `tags = { "project-x" = "y" }`)), `tags["project-x"]`, "tags = {"),
		},
	})
}
