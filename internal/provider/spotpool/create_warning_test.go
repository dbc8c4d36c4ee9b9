package spotpool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// market is a change of what is sold, and for how much.
type market func(*cvmsim.Server) error

func soldOut(zones ...string) market {
	return func(s *cvmsim.Server) (err error) {
		none := int64(0)
		for _, zone := range zones {
			err = errors.Join(err, s.SetStock(cvmsim.StockRequest{AvailabilityZone: zone, InstanceType: t4, Stock: &none}))
		}
		return err
	}
}

func costs(zone, price string) market {
	return func(s *cvmsim.Server) error {
		return s.SetPrice(cvmsim.PriceRequest{AvailabilityZone: zone, InstanceType: t4, Price: price})
	}
}

// dryRun is what gpupool reconcile --dry-run says of a pool that is declared like
// this one, and has no machines yet.
func dryRun(t *testing.T, w *providertest.World, minimum string, changes ...attributes) (launches, short []string, places map[string]int) {
	t.Helper()
	d := w.Terraform()
	d.Setenv("GPUPOOL_STORE", "directory:"+filepath.Join(d.Path, "store"))
	d.Write(pool(append(changes, attributes{"name": `"dry"`, "minimum": "0"})...))
	d.Apply()
	data, err := os.ReadFile(filepath.Join(d.Path, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	raised := strings.NewReplacer(`"minimum": 0`, `"minimum": `+minimum, `"generation": 1`, `"generation": 2`).Replace(string(data))
	state := filepath.Join(t.TempDir(), "raised.tfstate")
	if err := os.WriteFile(state, []byte(raised), 0o600); err != nil {
		t.Fatal(err)
	}
	var report struct {
		Decisions []core.Decision
		SpotPools []struct{ Short []string } `json:"spot_pools"`
	}
	if err := json.Unmarshal([]byte(d.Must("gpupool", "reconcile", "--dry-run", "--from-state", state, "-o", "json").Stdout), &report); err != nil {
		t.Fatal(err)
	}
	places = map[string]int{}
	for _, decision := range report.Decisions {
		launches = append(launches, decision.String())
		places[fmt.Sprint(decision.Offering.AvailabilityZone, " ", decision.Offering.InstanceType, " ", decision.ChargeType)] += decision.Count
	}
	return launches, report.SpotPools[0].Short, places
}

// On one market, a plan that creates a pool, a dry run, and the apply name the same offerings
// and prices. Planned values name none.
func TestCreationPlanNamesWhatIsLaunched(t *testing.T) {
	t.Parallel()
	const elsewhere = `[
		{ availability_zone = "ap-singapore-2", instance_type = "GN10X.2XLARGE40", subnet_id = "subnet-a1b2c3d4" },
		{ availability_zone = "ap-singapore-2", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-a1b2c3d4" },
		{ availability_zone = "ap-singapore-3", instance_type = "GN7.2XLARGE32", subnet_id = "subnet-e5f6a7b8" }]`
	tests := map[string]struct {
		market  []market
		pool    attributes
		minimum string
		planned []string
		says    []string
	}{
		"priority, with the first sold out": {
			market: []market{soldOut(zone2)}, minimum: "2", planned: []string{firstLaunch},
			says: []string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-3: capacity 0 is below minimum 2; 2.09 CNY an hour each; skipped spot " +
				"GN7.2XLARGE32 in ap-singapore-2: sold out: Tencent Cloud has no stock"},
		},
		"the lowest price, and a zone that doesn't sell the type": {
			market: []market{costs(zone3, "1.11")}, pool: attributes{"allocation_strategy": `"lowest_price"`, "offerings": elsewhere},
			minimum: "2", planned: []string{firstLaunch},
			says: []string{"launch 2 spot GN7.2XLARGE32 in ap-singapore-3", "1.11 CNY an hour each", "not sold: "},
		},
		"balanced, with an on-demand base": {
			pool: attributes{"allocation_strategy": `"balanced"`, "on_demand_base": "1"}, minimum: "3",
			planned: []string{
				"launch 1 on-demand instance: capacity 0 is below minimum 3; the on-demand base is 1; the offering is chosen at apply",
				"launch 2 spot instances: capacity 0 is below minimum 3; the offering is chosen at apply",
			},
			says: []string{"launch 1 on-demand GN7.2XLARGE32", "launch 1 spot GN7.2XLARGE32 in ap-singapore-2", "CNY an hour each"},
		},
		"short by the cost cap": {
			pool: attributes{"max_hourly_cost": `"3"`}, minimum: "2", planned: []string{firstLaunch},
			says: []string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-2", "It would stay short by 1 instance:", "would exceed max_hourly_cost 3.00"},
		},
		"nothing to be had": {
			market: []market{soldOut(zone2, zone3)}, minimum: "2", planned: []string{firstLaunch},
			says: []string{"nothing could be launched", "sold out"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := providertest.New(t)
			for _, change := range test.market {
				if err := change(w.Sim.Server); err != nil {
					t.Fatal(err)
				}
			}
			launches, short, places := dryRun(t, w, test.minimum, test.pool)
			d := w.Terraform()
			d.Write(pool(test.pool, attributes{"minimum": test.minimum}))
			warnings, planned := d.Plan()
			headline := "New spot pools of ap-singapore on the market at plan time"
			if len(short) > 0 {
				headline = "New spot pools of ap-singapore are short on the market at plan time: "
			}
			text := about(t, warnings, headline)
			says(t, text, append(test.says, "the apply checks them again before it launches"))
			var lines []string
			for _, found := range regexp.MustCompile(`(?m)^- (.*)$`).FindAllStringSubmatch(text, -1) {
				lines = append(lines, found[1])
			}
			if diff := cmp.Diff(append(launches, short...), lines); diff != "" {
				t.Errorf("what a dry run says (-) and the plan (+):\n%s", diff)
			}
			if diff := cmp.Diff(test.planned, planned[address].After); diff != "" {
				t.Errorf("planned_actions:\n%s", diff)
			}
			d.Apply()
			launched := map[string]int{}
			for _, i := range w.Sim.Server.Instances() {
				launched[fmt.Sprint(i.AvailabilityZone, " ", i.InstanceType, " ", i.ChargeType)]++
			}
			if diff := cmp.Diff(places, launched); diff != "" {
				t.Errorf("what a dry run says (-) and what the apply launched (+):\n%s", diff)
			}
		})
	}
}

// A plan promises no launch that its apply refuses. Here, a pool of that name exists in the store,
// or only by the tags of instances.
func TestCreationPlanOfAPoolThatIsThere(t *testing.T) {
	t.Parallel()
	for name, elsewhere := range map[string]bool{"same store": false, "another store": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := providertest.New(t)
			s := serve(t, w)
			o := create(t, s, train(nil))
			d := w.Terraform()
			storeDir := w.StoreDir
			if elsewhere {
				storeDir += "-2"
			}
			d.Setenv("GPUPOOL_STORE", "directory:"+storeDir)
			d.Write(pool())
			warnings, _ := d.Plan()
			text := about(t, warnings, "Spot pool ap-singapore/train exists already")
			says(t, text, []string{"it is destroyed first", "terraform import ADDRESS ap-singapore/train"}, "On the market at plan time")
			s.Destroy(o)
		})
	}
}

// If the market is unknown, the plan says so, and plans the same.
func TestCreationPlanWithoutAMarket(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	if _, err := w.Sim.Server.AddFault(cvmsim.Fault{Kind: "error", Code: "InternalError", Action: "DescribeZoneInstanceConfigInfos", Count: 100}); err != nil {
		t.Fatal(err)
	}
	p := serve(t, w).Plan(nil, train(nil))
	says(t, p.Diagnostics.String(), []string{"WARNING: Reading the market of ap-singapore"}, "ERROR", "On the market at plan time")
	if diff := cmp.Diff([]any{firstLaunch}, p.Attribute("planned_actions")); diff != "" {
		t.Error(diff)
	}
}

// Saved plans of each kind are applied, whatever moved since they were made.
func TestSavedPlansAreAppliedByTheBinary(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	d := w.Terraform()
	saved := func(what, configuration string, args ...string) {
		t.Helper()
		d.Write(configuration)
		d.Must("terraform", append([]string{"plan", "-input=false", "-out=saved"}, args...)...)
		move(t, w)
		if r := d.Run("terraform", "apply", "-input=false", "-no-color", "saved"); r.Code != 0 {
			t.Errorf("the saved plan of %s: %s%s", what, r.Stdout, r.Stderr)
		}
		for _, err := range []error{costs(zone2, "1.90")(w.Sim.Server), costs(zone3, "1.80")(w.Sim.Server)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	rolling := attributes{"refresh": `{ strategy = "rolling" }`, "max_hourly_cost": `"40"`, "cooldown": `"1s"`}
	image := attributes{"image_id": `"img-z9y8x7w6"`}
	saved("a creation", pool(rolling))
	saved("an update", pool(rolling, attributes{"minimum": "4", "maximum": "6"}))
	saved("another image", pool(rolling, attributes{"minimum": "2", "maximum": "6"}, image))
	saved("a lower maximum", pool(rolling, attributes{"minimum": "1", "maximum": "2"}, image))
	saved("a destruction", pool(rolling, attributes{"minimum": "1", "maximum": "2"}, image), "-destroy")
	if left := w.Pool("train"); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}
