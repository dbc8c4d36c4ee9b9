package spotpool

import (
	"fmt"
	"regexp"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Problem is an error, or something suspicious, in a declaration.
type Problem = problem.Problem

// MaxPoolSize bounds maximum. A DescribeInstances returns 100 instances, and 40 of them are
// allowed a second (Tencent CVM, 213/33258). So a pool of this size is observed within
// seconds; split a larger one.
const MaxPoolSize = 10_000

// The range of the durations of a declaration.
const (
	shortestDuration = time.Second
	longestDuration  = 7 * 24 * time.Hour
)

var (
	regionForm       = regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)+$`)
	instanceTypeForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*\.[A-Za-z0-9][A-Za-z0-9_-]*$`)
)

// Validate returns everything that is wrong with a declaration, without a request. Fill in
// defaults before, see WithDefaults: a zero counts as a zero.
func (d Declaration) Validate() []Problem {
	v := &validator{d: d}
	v.identity()
	v.numbers()
	v.offerings()
	v.choices()
	v.onDemand()
	v.refresh()
	v.nodes()
	v.budgetDrain()
	v.network()
	v.disks()
	v.userData()
	v.bootstrapToken()
	v.tags()
	return v.List
}

// validator gathers the problems of one declaration.
type validator struct {
	problem.List
	d Declaration
}

func (v *validator) identity() {
	d := v.d
	v.Name("name", d.Name, "pool")
	if d.Budget != "" {
		v.Name("budget", d.Budget, "budget")
	}
	if !regionForm.MatchString(d.Region) {
		v.Add("region", reason.InvalidRegion(reason.Quoted(d.Region)))
	}
}

func (v *validator) numbers() {
	d := v.d
	if d.Minimum < 0 {
		v.Add("minimum", reason.NegativeMinimum(reason.Count(d.Minimum)))
	}
	if d.Maximum < 0 || d.Maximum > MaxPoolSize {
		v.Within("maximum", int64(d.Maximum), 0, MaxPoolSize, reason.MaximumRange)
	} else if d.Minimum > d.Maximum {
		v.Add("minimum", reason.MinimumTooHigh(reason.Count(d.Minimum), reason.Count(d.Maximum)))
	}
	if d.MaxLaunchesPerRun < 1 {
		v.Add("max_launches_per_run", reason.NoLaunchesPerRun(reason.Count(d.MaxLaunchesPerRun)))
	}
	if d.MaxHourlyCost < 0 {
		v.Add("max_hourly_cost", reason.NegativeCost())
	}
	v.duration("launch_timeout", d.LaunchTimeout, reason.LaunchTimeoutRange)
	v.duration("cooldown", d.Cooldown, reason.CooldownRange)
	if !d.KeepsSurplus() {
		v.duration("surplus_after", Duration(d.SurplusLimit()), reason.SurplusRange)
	}
	if d.ProjectID < 0 {
		v.Add("project_id", reason.NegativeProject(reason.Count(d.ProjectID)))
	}
}

func (v *validator) duration(attribute string, d Duration, why func(written reason.Value, least, most reason.Duration) reason.Reason) {
	v.Lasts(attribute, d.words(), time.Duration(d), shortestDuration, longestDuration, why)
}

func (v *validator) offerings() {
	d := v.d
	if len(d.Offerings) == 0 {
		v.Add("offerings", reason.NoOffering())
	}
	first := map[Market]int{}
	for n, o := range d.Offerings {
		at := fmt.Sprintf("offerings[%d]", n)
		v.zone(at+".availability_zone", o.AvailabilityZone)
		if !instanceTypeForm.MatchString(o.InstanceType) {
			v.Add(at+".instance_type", reason.InvalidType(reason.Quoted(o.InstanceType)))
		}
		v.id(at+".subnet_id", "subnet-", o.SubnetID)
		market := o.Market(d.InstanceChargeType)
		if before, twice := first[market]; twice {
			v.Add(at, reason.OfferingRepeated(reason.NewValue(o.InstanceType), reason.NewValue(o.AvailabilityZone), reason.Count(before)))
		} else {
			first[market] = n
		}
		switch {
		case o.SpotMaxPrice < 0:
			v.Add(at+".spot_max_price", reason.NegativePrice())
		case o.SpotMaxPrice > 0 && d.InstanceChargeType == OnDemand:
			v.Add(at+".spot_max_price", reason.PriceOfOnDemand())
		}
	}
}

func (v *validator) zone(attribute, zone string) {
	example := reason.Quoted(v.d.Region + "-2")
	switch {
	case zone == "":
		v.Add(attribute, reason.NoZone(example))
	case ZoneOfRegion(zone, v.d.Region):
	case zoneForm.MatchString(zone):
		of, in := reason.Quoted(zone), reason.Quoted(v.d.Region)
		if meant := wording.Nearest(v.d.Region, []string{RegionOfZones([]string{zone})}); meant != "" { // one of both may be misspelled
			v.Add(attribute, reason.RegionMisspelled(of, in, reason.Quoted(meant)))
		} else {
			v.Add(attribute, reason.ZoneOfOther(of, in, example))
		}
	default:
		v.Add(attribute, reason.InvalidZone(reason.Quoted(zone), example))
	}
}

func (v *validator) choices() {
	d := v.d
	problem.OneOf(&v.List, "allocation_strategy", d.AllocationStrategy, Priority, LowestPrice, Balanced)
	problem.OneOf(&v.List, "instance_charge_type", d.InstanceChargeType, Spot, OnDemand)
	problem.OneOf(&v.List, "refresh.strategy", d.Refresh.Strategy, RefreshNone, RefreshOpportunistic, RefreshRolling)
	problem.OneOf(&v.List, "on_destroy", d.OnDestroy, DestroyDelete, DestroyRetain)
	problem.OneOf(&v.List, "on_budget_exceeded", d.OnBudgetExceeded, ExceededKeep, ExceededDrain)
}

func (v *validator) onDemand() {
	d := v.d
	if d.OnDemandBase < 0 || d.OnDemandBase > d.Maximum {
		v.Add("on_demand_base", reason.BaseRange(reason.Count(d.OnDemandBase), reason.Count(d.Maximum)))
	}
	f := d.OnDemandFallback
	if f == nil {
		return
	}
	if d.InstanceChargeType != Spot {
		v.Add("on_demand_fallback", reason.FallbackOfOnDemand(reason.Word(d.InstanceChargeType)))
	}
	if f.Maximum < 1 || f.Maximum > max(1, d.Maximum) {
		v.Add("on_demand_fallback.maximum", reason.FallbackRange(reason.Count(f.Maximum), reason.Count(d.Maximum)))
	}
	v.duration("on_demand_fallback.after", f.After, reason.FallbackAfterRange)
}

func (v *validator) refresh() {
	d, r := v.d, v.d.Refresh
	if r.MaxSurge < 0 {
		v.Add("refresh.max_surge", reason.NegativeSurge(reason.Count(r.MaxSurge)))
	}
	if r.MaxUnavailable < 0 {
		v.Add("refresh.max_unavailable", reason.NegativeUnavailable(reason.Count(r.MaxUnavailable)))
	}
	if r.Strategy != RefreshRolling || r.MaxUnavailable != 0 {
		return
	}
	switch {
	case r.MaxSurge == 0:
		v.Add("refresh", reason.RefreshStands())
	case d.Minimum == d.Maximum && d.Maximum > 0:
		v.Add("refresh", reason.RefreshNoRoom(reason.Count(d.Maximum)))
	}
}
