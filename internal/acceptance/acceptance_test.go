// Package acceptance runs the provider on a real Tencent Cloud account: make acceptance.
// Without -account, as in make test, the same tests run against a local CVM, so that they still
// work when an account is available.
package acceptance

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// prefix begins the names of the pools, by which the sweeper knows their instances.
const prefix = "acceptance-"

// TestMain runs sweepers if -sweep names regions, else the tests.
func TestMain(m *testing.M) {
	resource.AddTestSweepers("gpupool_spot_pool", &resource.Sweeper{Name: "gpupool_spot_pool", F: func(region string) error {
		ctx := context.Background()
		client, err := tencent.New(ctx, tencent.Config{Region: region}.WithEnvironment(os.Getenv))
		if err != nil {
			return err
		}
		return sweep(ctx, client, region)
	}})
	resource.TestMain(m)
}

// config declares a pool of one instance, whose cost has the given limit.
func config(t *testing.T, name, store string) string {
	t.Helper()
	return fmt.Sprintf(`
provider "gpupool" {
  store = { directory = %q }
}

data "gpupool_spot_offers" "all" {
  availability_zone = %q
}

resource "gpupool_spot_pool" "test" {
  name            = %q
  minimum         = 1
  maximum         = 1
  max_hourly_cost = %q
  offerings       = [{ availability_zone = %q, instance_type = %q, subnet_id = %q, spot_max_price = %q }]
  vpc_id          = %q
  image_id        = %q
  key_ids         = [%q]
}
`, store, *zone, name, *maxCost, *zone, *instanceType, *subnet, *maxCost, *vpc, *image, *key)
}

// run runs steps with Terraform, and destroys what they leave.
func run(t *testing.T, a account, name string, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"gpupool": func() (tfprotov6.ProviderServer, error) { return provider.NewServer("acceptance", a.options...)(), nil },
		},
		Steps: steps, CheckDestroy: has(t, a, name, 0),
	})
}

func has(t *testing.T, a account, name string, want int) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error {
		list, err := leftovers(t.Context(), a.client, a.region)
		list = slices.DeleteFunc(list, func(i spotpool.Instance) bool { return i.PoolName != name })
		if err == nil && len(list) != want {
			err = fmt.Errorf("the account has %d instances of %s, want %d", len(list), name, want)
		}
		return err
	}
}

// poolName is new for each run, since a run that was killed may have left another.
func poolName() string { return prefix + strings.ToLower(rand.Text()[:8]) }

// TestPlanChangesNothing reads prices and plans a pool. It costs nothing.
func TestPlanChangesNothing(t *testing.T) {
	t.Parallel()
	a, name := newAccount(t, *onAccount), poolName()
	run(t, a, name, resource.TestStep{Config: config(t, name, t.TempDir()+"/store"), PlanOnly: true, ExpectNonEmptyPlan: true})
	if a.sim == nil {
		return
	}
	for _, call := range a.sim.Server.Calls() {
		if !strings.HasPrefix(call.Action, "Describe") && !strings.HasPrefix(call.Action, "Get") {
			t.Errorf("the plan called %s", call.Action)
		}
	}
}

// TestPoolIsRepaired launches an instance, terminates it as a reclaim would, and expects
// the next apply to launch another: two instances of some minutes.
func TestPoolIsRepaired(t *testing.T) {
	t.Parallel()
	a, name := newAccount(t, *onAccount), poolName()
	if err := a.affordable(t, *maxCost); err != nil {
		t.Fatal(err)
	}
	pool := config(t, name, t.TempDir()+"/store")
	run(
		t, a, name,
		resource.TestStep{Config: pool, Check: has(t, a, name, 1)},
		resource.TestStep{Config: pool, PlanOnly: true},
		resource.TestStep{Config: pool, Check: has(t, a, name, 1), PreConfig: func() {
			list, _, err := a.client.ObserveNamed(t.Context(), a.region, name)
			if err == nil {
				_, err = a.client.Terminate(t.Context(), a.region, list)
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
	)
}

// TestSweepAndCostCap shows on a local CVM what protects the person who pays.
func TestSweepAndCostCap(t *testing.T) {
	t.Parallel()
	a := newAccount(t, false)
	if err := a.affordable(t, "0.01"); err == nil || !strings.Contains(err.Error(), "-max-cost 0.01") {
		t.Errorf("got the error %v, want one about -max-cost", err)
	}
	for _, pool := range []string{prefix + "old", "train", ""} {
		if _, err := a.sim.Server.Seed(cvmsim.SeedRequest{Pool: pool, UID: "uid-" + pool, AvailabilityZone: *zone, InstanceType: *instanceType}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := sweep(t.Context(), a.client, a.region); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range a.sim.Server.Instances() {
		if swept := i.State == "TERMINATING"; swept != (i.Pool == prefix+"old") {
			t.Errorf("%s of the pool %q is %s", i.InstanceID, i.Pool, i.State)
		}
	}
}
