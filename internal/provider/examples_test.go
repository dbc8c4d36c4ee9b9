package provider_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

func TestMain(m *testing.M) { providertest.Main(m) }

// The examples of the registry pages work as they stand.
func TestExamples(t *testing.T) {
	t.Parallel()
	w := providertest.New(t, func(o *cvmsim.Options) { o.AccountID = "100000000001" })
	pool := example(t, "resources/gpupool_spot_pool/resource.tf")
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			{Config: w.Config(pool)},
			{Config: w.Config(pool + example(t, "data-sources/gpupool_spot_pool/data-source.tf"))},
			{Config: w.Config(pool + example(t, "data-sources/gpupool_spot_offers/data-source.tf"))},
			{Config: w.Config(pool + example(t, "resources/gpupool_spot_pool/import-by-string-id.tf"))},
		},
	})
}

func example(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
