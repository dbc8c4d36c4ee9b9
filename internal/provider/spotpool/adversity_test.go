package spotpool_test

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// A saved plan is applied although prices, stock and machines moved since, and
// although another process healed the pool meanwhile.
func TestSavedPlanIsAppliedToAMovedWorld(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	config := pool(attributes{"max_hourly_cost": `"40"`})
	run(t,
		resource.TestStep{
			Config:           w.Config(config),
			ConfigPlanChecks: planned(then(func() error { move(t, w); return nil })),
			Check:            held(w, 2),
		},
		resource.TestStep{
			PreConfig: func() { reclaim(t, w, 1) },
			Config:    w.Config(config),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), actionsNumber(1), then(func() error {
				move(t, w) // and another one is reclaimed
				return nil
			})),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 2)},
		},
		resource.TestStep{
			PreConfig: func() { reclaim(t, w, 1) },
			Config:    w.Config(pool(attributes{"max_hourly_cost": `"50"`, "allocation_strategy": `"lowest_price"`})),
			ConfigPlanChecks: planned(actionsNumber(1), then(func() error {
				reconcileUntilIdle(t, w)
				return w.Sim.Server.SetPrice(cvmsim.PriceRequest{AvailabilityZone: zone3, InstanceType: t4, Price: "0.10"})
			})),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 2)},
			Check:             held(w, 2),
		},
	)
}

// A plan is made against a generation; an older one is refused.
func TestStalePlanIsRefused(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t,
		resource.TestStep{Config: w.Config(pool())},
		resource.TestStep{
			Config:           w.Config(pool(attributes{"maximum": "5"})),
			ConfigPlanChecks: planned(then(func() error { return declareMaximum(t, w, 7) })),
			ExpectError:      regexp.MustCompile(`(?s)changed after this plan.*plan\s+again`),
		},
		resource.TestStep{RefreshState: true, ExpectNonEmptyPlan: true}, // a destroy by the older state is refused, too
	)
}

// A change of the record by another process is drift: the refresh shows it, and the plan
// returns to the configuration.
func TestDriftOfTheRecord(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t,
		resource.TestStep{Config: w.Config(pool())},
		resource.TestStep{
			PreConfig: func() {
				if err := declareMaximum(t, w, 7); err != nil {
					t.Fatal(err)
				}
			},
			RefreshState: true, ExpectNonEmptyPlan: true,
			RefreshPlanChecks: resource.RefreshPlanChecks{PostRefresh: []plancheck.PlanCheck{
				action(plancheck.ResourceActionUpdate),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("maximum"), knownvalue.Int64Exact(4)),
			}},
		},
		resource.TestStep{Config: w.Config(pool()), ConfigStateChecks: []statecheck.StateCheck{number("maximum", 4), number("generation", 3)}},
	)
}

// declareMaximum changes the record as another state would.
func declareMaximum(t *testing.T, w *providertest.World, maximum int) error {
	t.Helper()
	p := w.Process()
	record, there, err := p.SpotPools().Recorded(t.Context(), "ap-singapore", "train")
	if err != nil || !there {
		return errors.Join(err, errors.New("there is no record"))
	}
	d := record.Declaration
	d.Maximum = maximum
	_, err = p.SpotPools().Update(t.Context(), d, time.Minute)
	return err
}

// A pool that was destroyed elsewhere is gone from the state, and its old state cannot bring it
// back.
func TestDestroyedElsewhere(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t,
		resource.TestStep{Config: w.Config(pool())},
		resource.TestStep{
			PreConfig: func() {
				p := w.Process()
				record, _, err := p.SpotPools().Recorded(t.Context(), "ap-singapore", "train")
				if err == nil {
					_, err = p.SpotPools().Delete(t.Context(), record.Declaration, time.Minute)
				}
				if err != nil {
					t.Fatal(err)
				}
			},
			Config:           w.Config(pool()),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionCreate), actions(firstLaunch)),
			Check:            held(w, 2),
		},
	)
}

// A pool without a single machine stays in the state.
func TestPoolWithoutMachinesStays(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t,
		resource.TestStep{Config: w.Config(pool())},
		resource.TestStep{
			PreConfig:          func() { reclaim(t, w, 2) },
			RefreshState:       true,
			ExpectNonEmptyPlan: true,
			RefreshPlanChecks: resource.RefreshPlanChecks{PostRefresh: []plancheck.PlanCheck{
				action(plancheck.ResourceActionUpdate), actionsNumber(1),
			}},
		},
		resource.TestStep{Config: w.Config(pool()), Check: held(w, 2)},
	)
}

// A shortfall is a warning. The pool is in the state, not tainted, and the next apply resumes.
func TestShortPoolIsKept(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	stock := func(zone string, n int64) {
		if err := w.Sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: zone, InstanceType: t4, Stock: &n}); err != nil {
			t.Fatal(err)
		}
	}
	config := w.Config(pool(attributes{"cooldown": `"1s"`}))
	run(t,
		resource.TestStep{
			PreConfig:         func() { stock(zone2, 1); stock(zone3, 0) },
			Config:            config,
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 1)},
		},
		resource.TestStep{
			PreConfig: func() {
				stock(zone3, 10)
				if _, err := w.Sim.Server.StepClock(time.Hour); err != nil {
					t.Fatal(err)
				}
			},
			Config:            config,
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate), actionsNumber(1)),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 2)},
		},
	)
}

// No fault of a call in flight costs an instance twice.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"reset_after", "http_502_after", "throttle", "bad_json"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := providertest.New(t)
			run(t, resource.TestStep{
				PreConfig: func() {
					if _, err := w.Sim.Server.AddFault(cvmsim.Fault{Kind: kind, Action: "RunInstances", Count: 1}); err != nil {
						t.Fatal(err)
					}
				},
				Config:            w.Config(pool()),
				ConfigStateChecks: []statecheck.StateCheck{number("capacity", 2)},
				Check:             held(w, 2),
			})
		})
	}
}
