package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
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

// So do those of budgets, which need no account.
func TestExamplesOfBudgets(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	budgets := example(t, "resources/gpupool_budget/resource.tf")
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			{Config: w.BudgetConfig(budgets)},
			{
				PreConfig: func() {
					w.Judge("team-a", func(s *budget.Status) { s.Usage.Consumed = 45_000_000 })
				},
				Config: w.BudgetConfig(budgets + example(t, "data-sources/gpupool_budget_usage/data-source.tf")),
			},
			{Config: w.BudgetConfig(budgets + example(t, "resources/gpupool_budget/import-by-string-id.tf"))},
		},
	})
}

// The pools of the guides about nodes and joining are planned as they stand, with each of
// the scripts.
func TestExamplesOfNodes(t *testing.T) {
	t.Parallel()
	for _, e := range []struct{ main, named, script string }{
		{"nodes/main.tf", "join.sh", "nodes/join.sh"},
		{"joining/main.tf", "kubeadm.sh", "joining/kubeadm.sh"},
		{"joining/main.tf", "kubeadm.sh", "joining/k3s.sh"},
	} {
		t.Run(e.script, func(t *testing.T) {
			t.Parallel()
			planned(t, example(t, e.main), e.named, example(t, e.script))
		})
	}
}

// planned plans the resource of an example, with a script in the place of the file that
// it names.
func planned(t *testing.T, main, named, script string) {
	t.Helper()
	w := providertest.NewWithCluster(t)
	_, pool, found := strings.Cut(main, "\nresource ")
	file := `file("${path.module}/` + named + `")`
	if !found || !strings.Contains(pool, file) {
		t.Fatal("the example has no resource with that file")
	}
	pool = strings.Replace("resource "+pool, file, strings.ReplaceAll(fmt.Sprintf("%q", script), "${", "$${"), 1)
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps:                    []resource.TestStep{{Config: w.Config(pool), PlanOnly: true, ExpectNonEmptyPlan: true}},
	})
}

// And those of stock pools.
func TestExamplesOfStockPools(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	stock := example(t, "resources/gpupool_stock_pool/resource.tf")
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			{Config: w.BudgetConfig(stock)},
			{Config: w.BudgetConfig(stock + example(t, "data-sources/gpupool_stock_pool/data-source.tf"))},
			{Config: w.BudgetConfig(stock + example(t, "resources/gpupool_stock_pool/import-by-string-id.tf"))},
		},
	})
}

// TestExamplesOfFunctions: the comments in the examples have the returned values.
func TestExamplesOfFunctions(t *testing.T) {
	t.Parallel()
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: example(t, "functions/gpu_hours/function.tf"),
				Check: resource.ComposeTestCheckFunc(
					resource.TestCheckOutput("a_working_day", "16.000"), resource.TestCheckOutput("a_slice", "1.000"),
					resource.TestCheckOutput("a_month", "3840.000")),
			},
			{
				Config: example(t, "functions/gpu_count/function.tf"),
				Check: resource.ComposeTestCheckFunc(
					resource.TestCheckOutput("of_a_pod", "2"), resource.TestCheckOutput("gpu_hours_a_day", "144"),
					resource.TestCheckOutput("of_a_slice", "1/7"), resource.TestCheckOutput("where_gpus_are_shared", "0.5")),
			},
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
