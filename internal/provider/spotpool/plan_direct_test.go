package spotpool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

const (
	zone2 = "ap-singapore-2"
	zone3 = "ap-singapore-3"
	t4    = "GN7.2XLARGE32"
)

// train is the pool of these tests as JSON.
func train(changes providertest.Values) providertest.Values {
	return providertest.Values{
		"name": "train", "minimum": 2, "maximum": 4,
		"offerings": []providertest.Values{offering(zone2, t4, nil), offering(zone3, t4, nil)},
		"vpc_id":    "vpc-a1b2c3d4", "image_id": "img-a1b2c3d4",
	}.With(changes)
}

func offering(zone, instanceType string, maxPrice any) providertest.Values {
	return providertest.Values{"availability_zone": zone, "instance_type": instanceType, "subnet_id": "subnet-a1b2c3d4", "spot_max_price": maxPrice}
}

func offerings(list ...providertest.Values) providertest.Values {
	return providertest.Values{"offerings": append([]providertest.Values{}, list...)}
}

// serve configures the provider, which must not complain.
func serve(t *testing.T, w *providertest.World) *providertest.Server {
	t.Helper()
	s, diags := w.Serve(nil, nil)
	if len(diags) > 0 {
		t.Fatalf("configuring the provider: %s", diags)
	}
	return s
}

// create plans and applies a pool, without a complaint.
func create(t *testing.T, s *providertest.Server, config providertest.Values) *providertest.Object {
	t.Helper()
	p := s.Plan(nil, config)
	if diags := complaints(p); len(diags) > 0 {
		t.Fatalf("planning the pool: %s", diags)
	}
	o, diags := s.Apply(p)
	if len(diags) > 0 {
		t.Fatalf("creating the pool: %s", diags)
	}
	return o
}

// complaints are the warnings of a plan, without those of the current market.
func complaints(p providertest.Planned) providertest.Diagnostics {
	return slices.DeleteFunc(slices.Clone(p.Diagnostics), func(d *tfprotov6.Diagnostic) bool {
		return strings.Contains(d.Summary, "on the market at plan time")
	})
}

// contains fails unless the text has all of these parts.
func contains(t *testing.T, text fmt.Stringer, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text.String(), part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

func TestPlanWarnsOfTheMarket(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		prepare func(*cvmsim.Server) error
		config  providertest.Values
		want    []string
	}{
		{
			name:   "not sold",
			config: train(offerings(offering(zone2, "GN10X.2XLARGE40", nil), offering(zone3, t4, nil))),
			want: []string{
				"WARNING at AttributeName(\"offerings\").ElementKeyInt(0)", "Offering is not sold", zone2, "GN10X.2XLARGE40", "(ap-singapore-3 does)",
			},
		},
		{
			name:   "a misspelled type",
			config: train(offerings(offering(zone2, "GN7.2XLARG32", nil), offering(zone3, t4, nil))),
			want:   []string{"WARNING", "Offering is not sold", `GN7.2XLARG32 as SPOTPAID now (did you mean "GN7.2XLARGE32"?)`},
		},
		{
			name: "sold out",
			prepare: func(s *cvmsim.Server) error {
				none := int64(0)
				return s.SetStock(cvmsim.StockRequest{AvailabilityZone: zone2, InstanceType: t4, Stock: &none})
			},
			config: train(nil),
			want:   []string{"WARNING", "sold out", zone2},
		},
		{
			name: "price above the cap",
			prepare: func(s *cvmsim.Server) error {
				return s.SetPrice(cvmsim.PriceRequest{AvailabilityZone: zone2, InstanceType: t4, Price: "3.60"})
			},
			config: train(offerings(offering(zone2, t4, "3.50"), offering(zone3, t4, "3.50"))),
			want:   []string{"WARNING", "Market price is above spot_max_price", "3.60", "3.50"},
		},
		{
			name: "cost above the cap",
			prepare: func(s *cvmsim.Server) error {
				return s.SetPrice(cvmsim.PriceRequest{AvailabilityZone: zone2, InstanceType: t4, Price: "3.00"})
			},
			config: train(providertest.Values{"max_hourly_cost": "5"}),
			want:   []string{"WARNING", "Estimated cost is above max_hourly_cost", "6.00", "5.00", "nothing launches above that cost"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := providertest.New(t)
			if test.prepare != nil {
				if err := test.prepare(w.Sim.Server); err != nil {
					t.Fatal(err)
				}
			}
			p := serve(t, w).Plan(nil, test.config)
			contains(t, p.Diagnostics, test.want...)
			if strings.Contains(p.Diagnostics.String(), "ERROR") {
				t.Errorf("the market is no error: %s", p.Diagnostics)
			}
			if p.Attribute("planned_actions") == providertest.Unknown {
				t.Error("planned_actions is unknown")
			}
		})
	}
}

// The region's zones are known at plan, and the one that was probably meant.
func TestPlanNamesTheZonesOfTheRegion(t *testing.T) {
	t.Parallel()
	p := serve(t, providertest.New(t)).Plan(nil, train(offerings(offering("ap-singapore-22", t4, nil))))
	contains(t, p.Diagnostics, "ERROR",
		`has no zone "ap-singapore-22" that sells instances (did you mean "ap-singapore-2"?). It has ap-singapore-1, ap-singapore-2`)
}

// Lowering only minimum terminates nothing, which is unexpected.
func TestPlanWarnsWhenOnlyMinimumIsLowered(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.New(t))
	o := create(t, s, train(nil))
	contains(t, s.Plan(o, train(providertest.Values{"minimum": 1})).Diagnostics, "WARNING", "Lowering minimum terminates no instances")
	both := s.Plan(o, train(providertest.Values{"minimum": 1, "maximum": 1}))
	if len(both.Diagnostics) > 0 {
		t.Errorf("lowering both: %s", both.Diagnostics)
	}
	s.Destroy(o)
}

// Lowering on_demand_base terminates nothing, either.
func TestPlanSaysWhatFollowsALowerBase(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.New(t))
	o := create(t, s, train(providertest.Values{"on_demand_base": 2}))
	lower := s.Plan(o, train(providertest.Values{"on_demand_base": 1})).Diagnostics
	contains(t, lower, "WARNING", "Lowering on_demand_base terminates no instances", "from 2 to 1. 1 on-demand instance above it stays until")
	fallback := providertest.Values{"on_demand_base": 1, "on_demand_fallback": providertest.Values{"maximum": 1}}
	contains(t, s.Plan(o, train(fallback)).Diagnostics, "WARNING", "1 on-demand instance above it is replaced once")
	if higher := s.Plan(o, train(providertest.Values{"on_demand_base": 2, "maximum": 4})); strings.Contains(higher.Diagnostics.String(), "on_demand_base") {
		t.Errorf("the base stays: %s", higher.Diagnostics)
	}
	s.Destroy(o)
}

// A pool that is short while nothing can be done plans nothing, and says why.
func TestPlanSaysWhyNothingCanBeDone(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	none := int64(0)
	for _, zone := range []string{zone2, zone3} {
		if err := w.Sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: zone, InstanceType: t4, Stock: &none}); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, w)
	o, diags := s.Apply(s.Plan(nil, train(nil)))
	contains(t, diags, "WARNING", "below the minimum of 2")
	if strings.Contains(diags.String(), "ERROR") || o.State.IsNull() {
		t.Fatalf("a pool that is short was not kept: %s", diags)
	}
	o, _ = s.Read(o)
	p := s.Plan(o, train(nil))
	contains(t, p.Diagnostics, "WARNING", "nothing can be launched now", "sold out")
	if !p.State.Equal(o.State) {
		t.Errorf("the plan is not empty: %s", p.State)
	}
	s.Destroy(o)
}

// Whatever moves between two plans over the same state, both are equal: else
// Terraform calls the provider broken in the middle of an apply.
func TestPlanIsTheSameWhateverMoves(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w)
	config := train(offerings(offering(zone2, t4, "9.00"), offering(zone3, t4, "9.00")))
	o := create(t, s, config)
	reclaim(t, w, 1)
	o, _ = fresh(t, w).Read(o)
	changed := config.With(providertest.Values{"maximum": 5, "minimum": 4, "allocation_strategy": "lowest_price"})
	for name, next := range map[string]providertest.Values{"no change": config, "changed": changed} {
		before := s.Plan(o, next)
		move(t, w)
		after := fresh(t, w).Plan(o, next)
		if diff := cmp.Diff(before.State.String(), after.State.String()); diff != "" {
			t.Errorf("%s: the plan changed when the world moved:\n%s", name, diff)
		}
	}
	s.Destroy(o)
}

func TestNewPoolsPlanIsTheSameWhateverMoves(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	before := serve(t, w).Plan(nil, train(nil))
	move(t, w)
	after := fresh(t, w).Plan(nil, train(nil))
	if diff := cmp.Diff(before.State.String(), after.State.String()); diff != "" {
		t.Errorf("the plan changed when the world moved:\n%s", diff)
	}
}

// An unchanged pool is planned by a shortcut; the framework must say the same of
// it, whatever happened to the pool.
func TestShortcutPlansWhatTheFrameworkPlans(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w)
	config := train(providertest.Values{"max_launches_per_run": 7})
	o := create(t, s, config)
	alike := func(what string, next providertest.Values) providertest.Planned {
		t.Helper()
		short, full := s.Plan(o, next), s.PlanBare(o, next)
		if diff := cmp.Diff(full.State.String()+full.Diagnostics.String()+fmt.Sprint(full.Replaces),
			short.State.String()+short.Diagnostics.String()+fmt.Sprint(short.Replaces)); diff != "" {
			t.Errorf("%s: the shortcut differs from the framework:\n%s", what, diff)
		}
		if string(short.Private) != string(full.Private) {
			t.Errorf("%s: the shortcut's private state differs: %s, not %s", what, short.Private, full.Private)
		}
		return short
	}
	refresh := func(warnings ...string) {
		t.Helper()
		s = serve(t, w)
		full, diags := s.ReadBare(o)
		o, _ = s.Read(o)
		contains(t, diags, warnings...)
		if !o.State.Equal(full.State) || len(diags) != len(warnings) {
			t.Errorf("the shortcut refreshes to %s, and the framework to %s (%s)", o.State, full.State, diags)
		}
		if got, want := decoded(t, o.Private), decoded(t, full.Private); len(got) != len(want) {
			t.Errorf("the shortcut keeps %s, and the framework %s", got, want)
		}
	}
	alike("just created", config)
	refresh()
	refresh()
	if p := alike("unchanged", config); !p.State.Equal(o.State) {
		t.Error("an unchanged pool has a plan")
	}
	if p := alike("an argument left out", train(nil)); p.State.Equal(o.State) {
		t.Error("an argument that was left out did not go back to its default")
	}
	alike("changed", config.With(providertest.Values{"maximum": 9}))
	alike("another name", config.With(providertest.Values{"name": "other"}))
	alike("unknown", config.With(providertest.Values{"tags": providertest.Unknown}))
	alike("destroyed", nil)
	reclaim(t, w, 1)
	refresh()
	if p := alike("reclaimed", config); p.State.Equal(o.State) {
		t.Error("a reclaimed instance is not planned again")
	}
	o, _ = s.Apply(s.Plan(o, config))
	alike("healed", config)
	if err := declareMaximum(t, w, 9); err != nil {
		t.Fatal(err)
	}
	refresh()
	if p := alike("declared elsewhere", config); p.State.Equal(o.State) {
		t.Error("the declaration of another process is not reverted")
	}
	loseStore(t, w)
	refresh("Store is missing")
	alike("not recorded", config)
	o, _ = s.Apply(s.Plan(o, config))
	s.Destroy(o)
}

// fresh is another process.
func fresh(t *testing.T, w *providertest.World) *providertest.Server {
	t.Helper()
	return serve(t, w)
}

func reclaim(t *testing.T, w *providertest.World, n int) {
	t.Helper()
	if _, err := w.Sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: "train", Count: n}); err != nil {
		t.Fatal(err)
	}
}

// move changes prices, stock, quota and machines.
func move(t *testing.T, w *providertest.World) {
	t.Helper()
	few, quota := int64(1), int64(30)
	for _, err := range []error{
		w.Sim.Server.SetPrice(cvmsim.PriceRequest{AvailabilityZone: zone2, InstanceType: t4, Price: "8.88"}),
		w.Sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: zone2, InstanceType: t4, Stock: &few, VCPUQuota: &quota}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(w.Pool("train")) > 0 {
		reclaim(t, w, 1)
	}
}

// An unknown quota keeps no pool from its prices: plan and refresh warn, and the
// pool with a cost cap is launched.
func TestUnknownQuotaIsAWarning(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	if _, err := w.Sim.Server.AddFault(cvmsim.Fault{
		Kind: cvmsim.FaultError, Code: "UnsupportedOperation", Action: "DescribeAccountQuota", Count: -1,
	}); err != nil {
		t.Fatal(err)
	}
	s := serve(t, w)
	p := s.Plan(nil, train(providertest.Values{"max_hourly_cost": "40"}))
	contains(t, p.Diagnostics, "WARNING", "The spot quota of ap-singapore is unknown: DescribeAccountQuota: UnsupportedOperation")
	o, _ := s.Apply(p)
	if n := len(w.Pool("train")); n != 2 {
		t.Errorf("the pool has %d instances", n)
	}
	o, diags := s.Read(o)
	contains(t, diags, "WARNING", "The spot quota of ap-singapore is unknown: ")
	s.Destroy(o)
}
