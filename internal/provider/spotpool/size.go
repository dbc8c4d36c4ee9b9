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
		"name": kit.Text(kit.Required, "Name of the pool, unique in its region and account: 1 to 50 lower-case letters, digits and hyphens, beginning and "+
			"ending with a letter or digit. It is the value of the tag `gpupool/pool` of each instance. Another name replaces the pool."),
		"region": kit.Text(kit.OptionalComputed, "Region of the pool, such as `ap-singapore`. Where it is left out, the provider's region at the time of "+
			"creation, which the pool then keeps. Another region replaces the pool."),
		"minimum": kit.Whole(kit.Required, "How many working instances the pool shall have, 0 or more. What is missing is launched. Lowering it ends "+
			"nothing: instances are ended above `maximum`, or as a surplus that replacements left, see `surplus_after`."),
		"maximum": kit.Whole(kit.Required, "How many instances the pool may have at most, at least `minimum`. Launches that are under way, stopped and stuck "+
			"instances count. What is above it is ended: first what does not work, then outdated configurations, the dearest, the most crowded zone, the "+
			"newest."),
		"max_hourly_cost": kit.Text(kit.Optional, "What all of the pool's instances together may cost, in CNY an hour, as a decimal string such as `\"30\"` "+
			"or `\"12.50\"`. Launches that would pass it at present prices are left out. It ends nothing. Where it is left out there is no cap."),
		"max_launches_per_run": kit.DefaultNumber(defaults.MaxLaunchesPerRun,
			"How many instances one apply or one run of `gpupool reconcile` may launch at most, 1 or more."),
		"on_demand_base": kit.DefaultNumber(defaults.OnDemandBase, "How many of the pool's instances are on-demand ones (`POSTPAID_BY_HOUR`), which the "+
			"cloud doesn't take back: 0 to `maximum`. They are launched first."),
		"on_demand_fallback": kit.Object(kit.Optional, "Lets a pool that has been short of spot instances for a while launch on-demand ones instead. They "+
			"are ended again once spot instances can be had. Where it is left out, the pool stays short.", fallbackAttributes()),
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
			"How long the pool must have been below `minimum`, as a duration such as `\"30m\"` or `\"1d\"`."),
		"maximum": kit.Whole(kit.Required, "How many on-demand instances may stand in, beside `on_demand_base`: 1 or more."),
	}
}
