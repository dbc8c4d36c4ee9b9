package provider_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// Terraform calls the functions with numbers as well as with texts, and names the
// argument that is wrong.
func TestFunctions(t *testing.T) {
	t.Parallel()
	output := func(expression string) string { return "output \"it\" {\n  value = " + expression + "\n}\n" }
	is := func(expression, want string) resource.TestStep {
		return resource.TestStep{Config: output(expression), Check: resource.TestCheckOutput("it", want)}
	}
	fails := func(expression, why string) resource.TestStep {
		return resource.TestStep{Config: output(expression), ExpectError: regexp.MustCompile(why)}
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			is(`provider::gpupool::gpu_hours(2, "8h")`, "16.000"),
			is(`provider::gpupool::gpu_hours(0.1, "30d") * 2`, "144"),
			is(`provider::gpupool::gpu_count({ "nvidia.com/gpu" = 2, cpu = "500m" })`, "2"),
			is(`provider::gpupool::gpu_hours(provider::gpupool::gpu_count({ "nvidia.com/mig-1g.5gb" = "1" }), "7h")`, "1.000"),
			is(`provider::gpupool::gpu_count({ "nvidia.com/gpu" = 2 }, { "nvidia.com/gpu" = "1/4" })`, "0.5"),
			fails(`provider::gpupool::gpu_hours(2, "a while")`, `"duration"(?s:.*)invalid\s+duration`),
			fails(`provider::gpupool::gpu_hours("two", "1h")`, `"gpus"(?s:.*)invalid\s+number\s+of\s+GPUs`),
			fails(`provider::gpupool::gpu_count({ "nvidia.com/gpu" = null })`, `"resources"(?s:.*)nvidia.com/gpu\s+is\s+null`),
			fails(`provider::gpupool::gpu_count({ "nvidia.com/gpu" = 2 }, {}, { "nvidia.com/gpu" = null })`,
				`"resource_weights"(?s:.*)nvidia.com/gpu\s+is\s+null`),
			is(`provider::gpupool::gpu_count({ "nvidia.com/gpu" = 2 }, { "nvidia.com/gpu" = "1/4" }, { "nvidia.com/gpu" = "1/2" })`, "1"),
			fails(`provider::gpupool::gpu_count({ "nvidia.com/gpu" = -1 })`, `"resources"(?s:.*)is\s+negative`),
		},
	})
}
