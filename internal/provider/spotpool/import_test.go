package spotpool_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// A record in the store has all arguments: importing from it and planning
// changes nothing.
func TestImportFromTheRecord(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	config := w.Config(pool(attributes{
		"data_disks": `[{ data_disk_type = "CLOUD_SSD", data_disk_size = 200 }]`, "internet_max_bandwidth_out": "5", "user_data_raw": `"#!/bin/sh"`,
		"on_demand_fallback": `{ maximum = 1 }`, "max_hourly_cost": `"30.00"`, "tags": `{ team = "a" }`,
	}))
	run(t,
		resource.TestStep{Config: config},
		resource.TestStep{
			Config: config, ResourceName: address, ImportState: true, ImportStateId: "ap-singapore/train",
			ImportStateVerify: true, ImportStateVerifyIdentifierAttribute: "name",
			ImportStateVerifyIgnore: []string{"planned_actions"},
		},
		resource.TestStep{
			Config: config, ResourceName: address, ImportState: true, ImportStateId: "ap-singapore/train",
			ImportStateKind: resource.ImportBlockWithID,
		},
	)
}

// If the store is lost, the next apply records the pool again.
func TestLostStore(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t,
		resource.TestStep{Config: w.Config(pool())},
		resource.TestStep{
			PreConfig: func() { loseStore(t, w) },
			Config:    w.Config(pool()),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), actions("record the pool in the store"),
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("generation"))),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 2), number("generation", 2)},
			Check:             held(w, 2),
		},
	)
}

// Where store and state are lost, tags tell which machines are the pool's. The
// apply after the import records the pool and touches none of them.
func TestImportFromTags(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	create(t, serve(t, w), train(nil))
	loseStore(t, w)
	before := w.Pool("train")
	run(t,
		resource.TestStep{
			Config: w.Config(pool()), ResourceName: address, ImportState: true, ImportStateId: "ap-singapore/train",
			ImportStatePersist: true,
			ImportStateCheck: func(states []*terraform.InstanceState) error {
				a := states[0].Attributes
				for name, want := range map[string]string{"minimum": "2", "maximum": "2", "vpc_id": "vpc-a1b2c3d4", "capacity": "2", "offerings.#": "1"} {
					if a[name] != want {
						return fmt.Errorf("%s is %q after the import, not %q", name, a[name], want)
					}
				}
				return nil
			},
		},
		resource.TestStep{
			Config: w.Config(pool(attributes{"refresh": `{ strategy = "rolling" }`})),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), actions("record the pool in the store"),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("image_id"), knownvalue.StringExact("img-a1b2c3d4"))),
			Check: func(*terraform.State) error {
				if after := w.Pool("train"); fmt.Sprint(after) != fmt.Sprint(before) {
					return fmt.Errorf("the import changed the pool's machines from %v to %v", before, after)
				}
				return nil
			},
		},
	)
}

// Terraform 1.12 and later import by identity; the region may be left out.
func TestImportByIdentity(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w)
	config := train(nil)
	o := create(t, s, config)
	for _, identity := range []providertest.Values{{"name": "train"}, {"name": "train", "region": "ap-singapore"}} {
		again, diags := serve(t, w).Import("", identity)
		if len(diags) > 0 {
			t.Errorf("importing %v: %s", identity, diags)
			continue
		}
		if again.Attribute("uid") != o.Attribute("uid") || again.Attribute("region") != "ap-singapore" {
			t.Errorf("importing %v found %s", identity, again.State)
		}
		if p := s.Plan(again, config); len(p.Diagnostics) > 0 || !p.State.Equal(again.State) {
			t.Errorf("the plan after importing %v changes something: %s %s", identity, p.Diagnostics, p.State)
		}
	}
	for _, identity := range []providertest.Values{{"name": ""}, {"name": "team-x"}} {
		if _, diags := s.Import("", identity); !strings.Contains(diags.String(), "ERROR") {
			t.Errorf("importing %v: %s", identity, diags)
		}
	}
	s.Destroy(o)
}

func TestImportRefusals(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"train":                  `"train" is not a spot pool`,
		"ap-singapore/":          `is not a spot pool`,
		"ap-singapore/train/1":   `is not a spot pool`,
		"ap-singapore/elsewhere": `there is no spot pool\s+ap-singapore/elsewhere`,
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			w := providertest.New(t)
			run(t, resource.TestStep{
				Config: w.Config(pool()), ResourceName: address, ImportState: true, ImportStateId: id,
				ExpectError: regexp.MustCompile(`(?i)` + want),
			})
		})
	}
}

func loseStore(t *testing.T, w *providertest.World) {
	t.Helper()
	if err := os.RemoveAll(w.StoreDir); err != nil {
		t.Fatal(err)
	}
}

// A second state with a pool of the same name gets an error, whether it shares the store or
// not, and no instance is lost.
func TestSecondStateOfTheSamePool(t *testing.T) {
	t.Parallel()
	exists := regexp.MustCompile(`(?s)Spot pool exists already.*terraform\s+import`)
	for name, elsewhere := range map[string]bool{"same store": false, "another store": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := providertest.New(t)
			s := serve(t, w)
			o := create(t, s, train(nil))
			arguments := map[string]string{}
			if elsewhere {
				arguments["store"] = fmt.Sprintf("{ directory = %q }", w.StoreDir+"-2")
			}
			run(t, resource.TestStep{Config: w.ConfigWith(arguments, pool()), ExpectError: exists})
			if n := len(w.Pool("train")); n != 2 {
				t.Errorf("the pool has %d instances, not 2", n)
			}
			s.Destroy(o)
		})
	}
}

// Machines of an account's other users, tagged by chance with the same name,
// are never touched.
func TestForeignInstancesAreNotChanged(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	foreign, err := w.Sim.Server.Seed(cvmsim.SeedRequest{AvailabilityZone: zone2, InstanceType: t4, Count: 3, UID: "somebody-elses", Pool: "other"})
	if err != nil {
		t.Fatal(err)
	}
	run(t,
		resource.TestStep{Config: w.Config(pool(attributes{"minimum": "1", "maximum": "1"}))},
		resource.TestStep{Config: w.Config(pool(attributes{"minimum": "0", "maximum": "0"}))},
	)
	left := w.Sim.Server.Instances()
	if len(left) != 3 {
		t.Errorf("%d foreign instances are left, not 3", len(left))
	}
	if err := w.Sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: foreign, State: "GONE"}); err != nil {
		t.Fatal(err)
	}
}
