package spotpool

import (
	"fmt"
	"regexp"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
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
	v.Name("name", d.Name, "a pool")
	if d.Budget != "" {
		v.Name("budget", d.Budget, "a budget")
	}
	if !regionForm.MatchString(d.Region) {
		v.Add("region", "Write it as Tencent Cloud does, such as \"ap-singapore\".", "invalid region %q", d.Region)
	}
}

func (v *validator) numbers() {
	d := v.d
	if d.Minimum < 0 {
		v.Add("minimum", "Set minimum to 0 for a pool that may be empty.", "minimum is %d, below 0", d.Minimum)
	}
	if d.Maximum < 0 || d.Maximum > MaxPoolSize {
		v.Within("maximum", int64(d.Maximum), 0, MaxPoolSize, "", fmt.Sprintf("Split a larger pool: more than %d instances cannot be listed within "+
			"seconds.", MaxPoolSize))
	} else if d.Minimum > d.Maximum {
		v.Add("minimum", "Raise maximum to at least minimum, or lower minimum.", "minimum is %d, above maximum %d", d.Minimum, d.Maximum)
	}
	if d.MaxLaunchesPerRun < 1 {
		v.Add("max_launches_per_run", "Set it to at least 1, or omit it.", "max_launches_per_run is %d: no run could launch instances", d.MaxLaunchesPerRun)
	}
	if d.MaxHourlyCost < 0 {
		v.Add("max_hourly_cost", "Write a price an hour above 0, or omit it for no limit.", "max_hourly_cost is below 0")
	}
	v.duration("launch_timeout", d.LaunchTimeout, "Launches take from one minute to more than five: \"15m\" is enough for all.")
	v.duration("cooldown", d.Cooldown, "Write how long an offering is avoided after it was sold out, such as \"20m\".")
	if !d.KeepsSurplus() {
		v.duration("surplus_after", Duration(d.SurplusLimit()),
			"Write how long a surplus that a replacement left may stay, such as \"1h\", or \"0s\" to keep it.")
	}
	if d.ProjectID < 0 {
		v.Add("project_id", "Use 0 for the default project.", "project_id is %d, below 0", d.ProjectID)
	}
}

func (v *validator) duration(attribute string, d Duration, detail string) {
	v.Lasts(attribute, d.words(), time.Duration(d), shortestDuration, longestDuration, detail)
}

func (v *validator) offerings() {
	d := v.d
	if len(d.Offerings) == 0 {
		v.Add("offerings", "List at least one availability zone and instance type in which the pool may launch.", "the pool has no offering")
	}
	first := map[Market]int{}
	for n, o := range d.Offerings {
		at := fmt.Sprintf("offerings[%d]", n)
		v.zone(at+".availability_zone", o.AvailabilityZone)
		if !instanceTypeForm.MatchString(o.InstanceType) {
			v.Add(at+".instance_type", "Write it as Tencent Cloud does, such as \"GN7.2XLARGE32\"; gpupool offers lists them.", "invalid instance type %q",
				o.InstanceType)
		}
		v.id(at+".subnet_id", "subnet-", o.SubnetID)
		market := o.Market(d.InstanceChargeType)
		if before, twice := first[market]; twice {
			v.Add(at, "Omit one of them: stock, price and cooldowns are those of the zone and type.", "%s in %s is listed already, as offerings[%d]",
				o.InstanceType, o.AvailabilityZone, before)
		} else {
			first[market] = n
		}
		switch {
		case o.SpotMaxPrice < 0:
			v.Add(at+".spot_max_price", "Write a price an hour above 0, or omit it to pay the market price.", "spot_max_price is below 0")
		case o.SpotMaxPrice > 0 && d.InstanceChargeType == OnDemand:
			v.Add(at+".spot_max_price", "Omit it, or set instance_charge_type to \"SPOTPAID\"; max_hourly_cost caps what the whole pool costs.",
				"on-demand instances have a fixed price, and no cap")
		}
	}
}

func (v *validator) zone(attribute, zone string) {
	switch {
	case zone == "":
		v.Add(attribute, fmt.Sprintf("Name a zone of the pool's region, such as %q.", v.d.Region+"-2"), "the offering has no availability zone")
	case ZoneOfRegion(zone, v.d.Region):
	case zoneForm.MatchString(zone):
		advice := fmt.Sprintf("Name a zone of that region, such as %q, or declare another pool for the other region.", v.d.Region+"-2")
		if meant := wording.Nearest(v.d.Region, []string{RegionOfZones([]string{zone})}); meant != "" { // one of both may be misspelled
			advice = fmt.Sprintf("Did you mean the region %q? If not, correct the zone, or declare another pool for the other region.", meant)
		}
		v.Add(attribute, advice, "the zone %q is not one of the pool's region %q", zone, v.d.Region)
	default:
		v.Add(attribute, fmt.Sprintf("Write it as Tencent Cloud does, such as %q.", v.d.Region+"-2"), "invalid availability zone %q", zone)
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
		v.Add("on_demand_base", "Set it to how many of the pool's instances are always on-demand.",
			"on_demand_base is %d, and the pool has 0 to %d instances", d.OnDemandBase, d.Maximum)
	}
	f := d.OnDemandFallback
	if f == nil {
		return
	}
	if d.InstanceChargeType != Spot {
		v.Add("on_demand_fallback", "Omit it, or set instance_charge_type to \"SPOTPAID\".",
			"there is nothing to fall back from: the pool's instances are %s", d.InstanceChargeType)
	}
	if f.Maximum < 1 || f.Maximum > max(1, d.Maximum) {
		v.Add("on_demand_fallback.maximum", "Omit on_demand_fallback for no on-demand instances.",
			"%d on-demand instances are out of range: it must be between 1 and maximum %d", f.Maximum, d.Maximum)
	}
	v.duration("on_demand_fallback.after", f.After, "Write how long the pool must have been short of spot instances, such as \"30m\".")
}

func (v *validator) refresh() {
	d, r := v.d, v.d.Refresh
	if r.MaxSurge < 0 {
		v.Add("refresh.max_surge", "Set it to how many instances above minimum a refresh may launch.", "max_surge is %d, below 0", r.MaxSurge)
	}
	if r.MaxUnavailable < 0 {
		v.Add("refresh.max_unavailable", "Set it to how many instances below minimum a refresh may leave.", "max_unavailable is %d, below 0", r.MaxUnavailable)
	}
	if r.Strategy != RefreshRolling || r.MaxUnavailable != 0 {
		return
	}
	switch {
	case r.MaxSurge == 0:
		v.Add("refresh", "Set max_surge or max_unavailable to at least 1.", "a rolling refresh with max_surge 0 and max_unavailable 0 cannot replace instances")
	case d.Minimum == d.Maximum && d.Maximum > 0:
		v.Add("refresh", "Set max_unavailable to at least 1, or raise maximum.",
			"minimum and maximum are both %d, so a rolling refresh with max_unavailable 0 has no room to replace instances", d.Maximum)
	}
}
