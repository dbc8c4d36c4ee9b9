package spotpool

import (
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// size is the pool's name and how large it is.
type size struct {
	Name              types.String `tfsdk:"name"`
	Region            types.String `tfsdk:"region"`
	Minimum           types.Int64  `tfsdk:"minimum"`
	Maximum           types.Int64  `tfsdk:"maximum"`
	MaxHourlyCost     types.String `tfsdk:"max_hourly_cost"`
	MaxLaunchesPerRun types.Int64  `tfsdk:"max_launches_per_run"`
	OnDemandBase      types.Int64  `tfsdk:"on_demand_base"`
	OnDemandFallback  types.Object `tfsdk:"on_demand_fallback"`
}

func (s *size) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Text(x, &s.Name, &d.Name)
	attribute.Text(x, &s.Region, &d.Region)
	attribute.Number(x, &s.Minimum, &d.Minimum)
	attribute.Number(x, &s.Maximum, &d.Maximum)
	attribute.Parsed(x, path.Root("max_hourly_cost"), price, &s.MaxHourlyCost, &d.MaxHourlyCost)
	attribute.Number(x, &s.MaxLaunchesPerRun, &d.MaxLaunchesPerRun)
	attribute.Number(x, &s.OnDemandBase, &d.OnDemandBase)
	attribute.Optional(x, &s.OnDemandFallback, fallbackTypes, &d.OnDemandFallback, *defaults.OnDemandFallback, fallbackFields)
}

func sizeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": kit.Text(kit.Required, "Name of the pool, unique in its region and account. Use 1 to 50 lower-case letters, digits and hyphens, "+
			"with a letter or digit first and last. It is the tag `gpupool/pool` of each instance. Changing this forces replacement."),
		"region": kit.Text(kit.OptionalComputed, "Region of the pool, such as `ap-singapore`. If omitted, the provider's region at creation, which the "+
			"pool keeps. Changing this forces replacement."),
		"minimum": kit.Whole(kit.Required, "Number of working instances to keep, 0 or more. Missing instances are launched. A lower minimum "+
			"terminates nothing: instances are terminated above `maximum`, or as a surplus that replacements left, see `surplus_after`."),
		"maximum": kit.Whole(kit.Required, "Highest number of instances, at least `minimum`. Pending launches, stopped and stuck "+
			"instances count. Instances above it are terminated: first those that do not work, then drifted configurations, the most expensive, the "+
			"most crowded zone, the newest."),
		"max_hourly_cost": kit.Text(kit.Optional, "Highest hourly cost of all of the pool's instances, in `currency`, as a decimal string such as `\"30\"` or "+
			"`\"12.50\"`. Launches that would exceed it at present prices are skipped. It terminates nothing. If omitted, there is no cap."),
		"max_launches_per_run": kit.DefaultNumber(defaults.MaxLaunchesPerRun,
			"Highest number of instances that one apply or one `gpupool reconcile` run launches, 1 or more."),
		"on_demand_base": kit.DefaultNumber(defaults.OnDemandBase, "Number of on-demand instances (`POSTPAID_BY_HOUR`) in the pool, 0 to `maximum`. Tencent "+
			"Cloud does not reclaim them. They are launched first."),
		"on_demand_fallback": kit.Object(kit.Optional, "Launches on-demand instances instead if the pool has been short of spot instances for a while. "+
			"They are terminated once spot instances are available. If omitted, the pool stays short.", fallbackAttributes()),
	}
}

var fallbackTypes = attribute.Types(fallbackAttributes())

func fallbackFields(x *attribute.Transfer, f *attribute.Fields, d *core.OnDemandFallback) {
	attribute.Parsed(x, path.Root("on_demand_fallback").AtName("after"), duration, f.Text("after"), &d.After)
	attribute.Number(x, f.Number("maximum"), &d.Maximum)
}

func fallbackAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"after": kit.DefaultDuration(defaults.OnDemandFallback.After.String(),
			"Time below `minimum` before the fallback launches, as a duration such as `\"30m\"` or `\"1d\"`."),
		"maximum": kit.Whole(kit.Required, "Highest number of on-demand instances that the fallback launches, in addition to `on_demand_base`: 1 or more."),
	}
}
