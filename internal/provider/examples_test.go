package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

func TestMain(m *testing.M) { providertest.Main(m) }

// TestEachExampleIsPlanned plans every example of the resource pages, and the one of the
// README, by itself.
func TestEachExampleIsPlanned(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	examples := map[string]string{"README.md": readmeExample(t)}
	found, err := filepath.Glob("../../examples/resources/*/*.tf")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if !strings.HasPrefix(filepath.Base(path), "import") {
			name := strings.TrimPrefix(filepath.ToSlash(path), "../../examples/")
			examples[name] = example(t, name)
		}
	}
	if len(examples) < 15 {
		t.Fatalf("only %d examples were found", len(examples))
	}
	for name, config := range examples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: providertest.Factories(),
				Steps:                    []resource.TestStep{{Config: w.Config(config), PlanOnly: true, ExpectNonEmptyPlan: true}},
			})
		})
	}
}

var (
	argumentItem  = regexp.MustCompile("(?m)^- `([a-z_]+)` \\(")
	subjectRow    = regexp.MustCompile("(?m)^\\| [A-Z][^|]* \\| (`[a-z_]+`.*) \\|$")
	quotedName    = regexp.MustCompile("`([a-z_]+)`")
	readOnlyTitle = "\n### Read-Only\n"
)

// TestEachArgumentHasASubject compares the arguments that a resource page groups by
// subject with those of its schema.
func TestEachArgumentHasASubject(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"spot_pool", "budget", "stock_pool", "notification"} {
		page, err := os.ReadFile("../../docs/resources/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		before, schema, found := strings.Cut(string(page), "\n## Schema\n")
		arguments, _, read := strings.Cut(schema, readOnlyTitle)
		if !found || !read {
			t.Fatalf("the page of %s has no schema", name)
		}
		var declared, grouped []string
		for _, a := range argumentItem.FindAllStringSubmatch(arguments, -1) {
			declared = append(declared, a[1])
		}
		for _, row := range subjectRow.FindAllStringSubmatch(before, -1) {
			for _, a := range quotedName.FindAllStringSubmatch(row[1], -1) {
				grouped = append(grouped, a[1])
			}
		}
		slices.Sort(declared)
		slices.Sort(grouped)
		if diff := cmp.Diff(declared, grouped); diff != "" {
			t.Errorf("arguments of %s (-) and those of templates/resources/%s.md.tmpl (+):\n%s", name, name, diff)
		}
	}
}

// TestExamples applies the examples of spot pools, together with their data sources.
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

// TestExamplesOfBudgets needs no account.
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

// TestExamplesOfNodes plans the pools of the guide about nodes with each of the scripts.
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

// planned plans the resource of an example, with a script instead of the file that it
// names.
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

func TestExamplesOfStockPools(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	// TestEachExampleIsPlanned expects that the namespace of the examples is empty.
	elsewhere := func(path string) string { return strings.ReplaceAll(example(t, path), `"default`, `"ops`) }
	stock := elsewhere("resources/gpupool_stock_pool/resource.tf")
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			{Config: w.BudgetConfig(stock)},
			{Config: w.BudgetConfig(stock + elsewhere("data-sources/gpupool_stock_pool/data-source.tf"))},
			{Config: w.BudgetConfig(stock + elsewhere("resources/gpupool_stock_pool/import-by-string-id.tf"))},
		},
	})
}

// TestExamplesOfNotifications needs neither an account nor a cluster.
func TestExamplesOfNotifications(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	config := example(t, "resources/gpupool_notification/resource.tf")
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: providertest.Factories(),
		Steps: []resource.TestStep{
			{Config: w.StoreConfig(config)},
			{Config: w.StoreConfig(config + example(t, "resources/gpupool_notification/import-by-string-id.tf"))},
		},
	})
}

// TestExamplesOfFunctions compares what the functions return with the comments.
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

// example is an example without the blocks that a test sets itself.
func example(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", path))
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(path) == ".tf" && !strings.HasPrefix(filepath.Base(path), "import") {
		return withoutProvider(t, path, string(data))
	}
	return string(data)
}

var readmeBlock = regexp.MustCompile("(?ms)^```terraform\n(.*?)^```$")

// readmeExample is the configuration that the README shows.
func readmeExample(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := readmeBlock.FindAllStringSubmatch(string(readme), -1)
	if len(shown) != 1 {
		t.Fatalf("README.md has %d configurations", len(shown))
	}
	return withoutProvider(t, "README.md", shown[0][1])
}

var (
	terraformBlock = regexp.MustCompile(`(?ms)^terraform \{\n.*?^\}\n`)
	providerBlock  = regexp.MustCompile(`(?ms)^provider "gpupool" \{(\n.*?^)?\}\n`)
)

// withoutProvider removes the blocks that a test sets itself from a configuration, which
// must name the provider's source to be complete.
func withoutProvider(t *testing.T, name, config string) string {
	t.Helper()
	if !strings.Contains(terraformBlock.FindString(config), `source = "gpupool/gpupool"`) {
		t.Fatalf("%s does not name the source of the provider", name)
	}
	return providerBlock.ReplaceAllString(terraformBlock.ReplaceAllString(config, ""), "")
}
