package spotpool_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// run runs the steps with real Terraform, and destroys what they leave.
func run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: providertest.Factories(), Steps: steps})
}

// planned are checks of a plan before it is applied.
func planned(checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: checks}
}

func action(a plancheck.ResourceActionType) plancheck.PlanCheck {
	return plancheck.ExpectResourceAction(address, a)
}

// actions expects these planned actions.
func actions(list ...string) plancheck.PlanCheck {
	checks := make([]knownvalue.Check, len(list))
	for n, s := range list {
		checks[n] = knownvalue.StringExact(s)
	}
	return plancheck.ExpectKnownValue(address, tfjsonpath.New("planned_actions"), knownvalue.ListExact(checks))
}

// actionsNumber expects so many planned actions, whatever they are.
func actionsNumber(n int) plancheck.PlanCheck {
	return plancheck.ExpectKnownValue(address, tfjsonpath.New("planned_actions"), knownvalue.ListSizeExact(n))
}

func number(attribute string, n int64) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(attribute), knownvalue.Int64Exact(n))
}

// then does something between a plan and its apply.
type then func() error

func (f then) CheckPlan(_ context.Context, _ plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	resp.Error = f()
}

// held checks, after an apply, how many instances the pool has in Tencent Cloud.
func held(w *providertest.World, n int) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if got := len(w.Pool("train")); got != n {
			return fmt.Errorf("the pool has %d instances, not %d", got, n)
		}
		return nil
	}
}

const firstLaunch = "launch 2 spot instances: capacity 0 is below minimum 2; the offering is chosen at apply"

func TestReclaimedInstanceIsLaunchedAgain(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	config := w.Config(pool())
	uid := statecheck.CompareValue(compare.ValuesSame())
	run(t,
		resource.TestStep{
			Config: config,
			ConfigPlanChecks: planned(
				action(plancheck.ResourceActionCreate), actions(firstLaunch),
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("capacity")),
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("uid")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("region"), knownvalue.StringExact("ap-singapore")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("allocation_strategy"), knownvalue.StringExact("priority")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("cooldown"), knownvalue.StringExact("20m")),
			),
			ConfigStateChecks: []statecheck.StateCheck{
				number("capacity", 2), number("generation", 1),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("account_id"), knownvalue.StringExact(cvmsim.DemoAccountID)),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("planned_actions"),
					knownvalue.ListExact([]knownvalue.Check{knownvalue.StringExact(firstLaunch)})),
				uid.AddStateValue(address, tfjsonpath.New("uid")),
			},
		},
		resource.TestStep{
			PreConfig: func() { reclaim(t, w, 1) },
			Config:    config,
			ConfigPlanChecks: planned(
				action(plancheck.ResourceActionUpdate), actionsNumber(1),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("planned_actions").AtSliceIndex(0), knownvalue.StringRegexp(launchOne)),
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("capacity")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("generation"), knownvalue.Int64Exact(1)),
			),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 2), number("generation", 1), uid.AddStateValue(address, tfjsonpath.New("uid"))},
			Check:             held(w, 2),
		},
		resource.TestStep{Config: config, ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan())},
	)
}

func TestScaling(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t,
		resource.TestStep{Config: w.Config(pool()), Check: held(w, 2)},
		resource.TestStep{
			Config: w.Config(pool(attributes{"minimum": "4", "maximum": "6"})),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), actionsNumber(1),
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("generation"))),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 4), number("generation", 2)},
			Check:             held(w, 4),
		},
		resource.TestStep{ // instances are ended only above maximum
			Config:            w.Config(pool(attributes{"minimum": "1", "maximum": "6"})),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate), actions()),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 4)},
			Check:             held(w, 4),
		},
		resource.TestStep{
			Config: w.Config(pool(attributes{"minimum": "1", "maximum": "1"})),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), actionsNumber(1),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("planned_actions").AtSliceIndex(0), knownvalue.StringRegexp(terminateThree))),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 1), number("generation", 4)},
			Check:             held(w, 1),
		},
	)
}

// An equivalent value is not a change, and together with another change it is not recorded.
func TestAnotherWordingIsNoChange(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	inside := func(after, price string) attributes {
		return attributes{
			"on_demand_fallback": fmt.Sprintf(`{ after = %q, maximum = 1 }`, after),
			"offerings": fmt.Sprintf(
				`[{ availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4", spot_max_price = %q }]`, price,
			),
		}
	}
	run(t,
		resource.TestStep{Config: w.Config(pool(inside("1h", "9.5"), attributes{"cooldown": `"24h"`, "launch_timeout": `"60m"`, "max_hourly_cost": `"20"`}))},
		resource.TestStep{
			Config: w.Config(pool(inside("60m", "9.50"),
				attributes{"cooldown": `"1440m"`, "launch_timeout": `"3600s"`, "max_hourly_cost": `"20.00"`})),
			ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan()),
		},
		resource.TestStep{
			Config: w.Config(pool(inside("60m", "9.500"),
				attributes{"cooldown": `"1d"`, "launch_timeout": `"1h"`, "max_hourly_cost": `"20.0"`, "timeouts": `{ update = "2m" }`})),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), actions(),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("generation"), knownvalue.Int64Exact(1))),
			ConfigStateChecks: []statecheck.StateCheck{number("generation", 1)},
		},
	)
}

// Name and region make another pool; the old one's machines go.
func TestAnotherNameReplaces(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	uid := statecheck.CompareValue(compare.ValuesDiffer())
	run(t,
		resource.TestStep{Config: w.Config(pool()), ConfigStateChecks: []statecheck.StateCheck{uid.AddStateValue(address, tfjsonpath.New("uid"))}},
		resource.TestStep{
			Config:            w.Config(pool(attributes{"name": `"other"`})),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionDestroyBeforeCreate), actions(firstLaunch)),
			ConfigStateChecks: []statecheck.StateCheck{number("generation", 1), uid.AddStateValue(address, tfjsonpath.New("uid"))},
			Check:             held(w, 0),
		},
		resource.TestStep{
			Config: w.Config(pool(attributes{"name": `"other"`, "region": `"ap-guangzhou"`, "offerings": `[
				{ availability_zone = "ap-guangzhou-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" }]`})),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionDestroyBeforeCreate)),
		},
	)
}

// A pool keeps the region it was created in, also when the provider's changes.
func TestRegionIsKept(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t,
		resource.TestStep{Config: w.Config(pool())},
		resource.TestStep{
			Config:           w.ConfigIn("ap-guangzhou", pool()),
			ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan()),
		},
		resource.TestStep{
			Config:            w.ConfigIn("ap-guangzhou", pool(attributes{"maximum": "5"})),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(address, tfjsonpath.New("region"), knownvalue.StringExact("ap-singapore"))},
		},
	)
}

func TestTaintedPoolIsReplaced(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	uid := statecheck.CompareValue(compare.ValuesDiffer())
	run(t,
		resource.TestStep{Config: w.Config(pool()), ConfigStateChecks: []statecheck.StateCheck{uid.AddStateValue(address, tfjsonpath.New("uid"))}},
		resource.TestStep{
			Taint: []string{address}, Config: w.Config(pool()),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionDestroyBeforeCreate), actions(firstLaunch)),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 2), uid.AddStateValue(address, tfjsonpath.New("uid"))},
			Check:             held(w, 2),
		},
	)
}

// A destroyed pool leaves only its tombstone.
func TestDestroyLeavesATombstone(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t, resource.TestStep{Config: w.Config(pool())})
	for kind, want := range map[store.Kind]int{store.SpotPools: 0, store.Journals: 0, store.Tombstones: 1} {
		docs, err := w.Store().List(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		if len(docs) != want {
			t.Errorf("the store has %d %s after the pool was destroyed, not %d", len(docs), kind, want)
		}
	}
}

func TestDetachLeavesTheMachines(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t, resource.TestStep{Config: w.Config(pool(attributes{"on_destroy": `"retain"`}))})
	left := w.Sim.Server.Instances()
	if len(left) != 2 {
		t.Fatalf("%d instances are left, not 2", len(left))
	}
	for _, i := range left {
		if i.Pool != "" || i.UID != "" || i.State != "RUNNING" {
			t.Errorf("%s is %s and still tagged as of the pool %q", i.InstanceID, i.State, i.Pool)
		}
		if err := w.Sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: []string{i.InstanceID}, State: "GONE"}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeletionProtection(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	protected := attributes{"deletion_protection": "true"}
	run(t,
		resource.TestStep{Config: w.Config(pool(protected))},
		resource.TestStep{Config: w.Config(pool(protected)), Destroy: true, ExpectError: protectedError},
		resource.TestStep{Config: w.Config(pool(protected, attributes{"name": `"other"`})), ExpectError: protectedError},
		resource.TestStep{Config: w.Config(""), ExpectError: protectedError},
		resource.TestStep{Config: w.Config(pool()), Check: held(w, 2)},
	)
}

// A configuration that changed reaches running instances as the refresh says.
func TestRollingRefresh(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	rolling := attributes{"refresh": `{ strategy = "rolling" }`}
	image := attributes{"image_id": `"img-z9y8x7w6"`}
	run(t,
		resource.TestStep{Config: w.Config(pool(rolling))},
		resource.TestStep{ // the first batch; the plan after it has the next
			Config:             w.Config(pool(rolling, image)),
			ConfigPlanChecks:   planned(action(plancheck.ResourceActionUpdate), actionsNumber(1)),
			ExpectNonEmptyPlan: true,
		},
		resource.TestStep{
			PreConfig: func() { reconcileUntilIdle(t, w) },
			Config:    w.Config(pool(rolling, image)), ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan()),
			Check: func(*terraform.State) error {
				for _, i := range w.Sim.Server.Instances() {
					if i.ImageID != "img-z9y8x7w6" {
						return fmt.Errorf("%s still has the image %s", i.InstanceID, i.ImageID)
					}
				}
				return nil
			},
		},
	)
}

// Without a refresh, running instances keep what they were launched with.
func TestNoRefresh(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t,
		resource.TestStep{Config: w.Config(pool())},
		resource.TestStep{
			Config:           w.Config(pool(attributes{"image_id": `"img-z9y8x7w6"`, "user_data_raw": `"#!/bin/sh"`})),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), actions()),
			Check:            held(w, 2),
		},
	)
}
