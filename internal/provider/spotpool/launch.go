package spotpool

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// launch is where the pool may launch, and how it chooses.
type launch struct {
	Offerings          types.List   `tfsdk:"offerings"`
	AllocationStrategy types.String `tfsdk:"allocation_strategy"`
	InstanceChargeType types.String `tfsdk:"instance_charge_type"`
	LaunchTimeout      types.String `tfsdk:"launch_timeout"`
	Cooldown           types.String `tfsdk:"cooldown"`
}

func (l *launch) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Objects(x, path.Root("offerings"), &l.Offerings, offeringTypes, &d.Offerings, slices.Equal, offeringFields)
	attribute.Text(x, &l.AllocationStrategy, &d.AllocationStrategy)
	attribute.Text(x, &l.InstanceChargeType, &d.InstanceChargeType)
	attribute.Parsed(x, path.Root("launch_timeout"), duration, &l.LaunchTimeout, &d.LaunchTimeout)
	attribute.Parsed(x, path.Root("cooldown"), duration, &l.Cooldown, &d.Cooldown)
}

func launchAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"offerings": kit.Objects(kit.Required, "Offerings in which the pool may launch, in order, at least one. List several zones and types, since a "+
			"single one is often sold out.", offeringAttributes()),
		"allocation_strategy": kit.DefaultChoice(defaults.AllocationStrategy,
			"Choice of the offering that launches. `priority` takes the first in the list that can launch. `lowest_price` takes the cheapest at "+
				"present prices. `balanced` takes one in the zone with the fewest of the pool's instances."),
		"instance_charge_type": kit.DefaultChoice(defaults.InstanceChargeType,
			"Charge type of the instances: `SPOTPAID` for spot instances, or `POSTPAID_BY_HOUR` for on-demand instances."),
		"launch_timeout": kit.DefaultDuration(defaults.LaunchTimeout.String(),
			"Time for an instance to start, as a duration such as `\"15m\"`, at most `\"7d\"`. After that it is not capacity, and it is replaced if "+
				"`maximum` leaves room."),
		"cooldown": kit.DefaultDuration(defaults.Cooldown.String(),
			"Time during which an offering is not used after it was sold out, and avoided after one of its instances was lost. A duration such as "+
				"`\"20m\"`, at most `\"7d\"`."),
	}
}

var offeringTypes = attribute.Types(offeringAttributes())

func offeringFields(x *attribute.Transfer, at path.Path, f *attribute.Fields, o *core.Offering) {
	attribute.Text(x, f.Text("availability_zone"), &o.AvailabilityZone)
	attribute.Text(x, f.Text("instance_type"), &o.InstanceType)
	attribute.Text(x, f.Text("subnet_id"), &o.SubnetID)
	attribute.Parsed(x, at.AtName("spot_max_price"), price, f.Text("spot_max_price"), &o.SpotMaxPrice)
}

func offeringAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"availability_zone": kit.Text(kit.Required, "Availability zone in the pool's region, such as `ap-singapore-2`."),
		"instance_type":     kit.Text(kit.Required, "Instance type, such as `GN7.2XLARGE32`. The data source `gpupool_spot_offers` lists those that are sold."),
		"subnet_id":         kit.Text(kit.Required, "Subnet of `vpc_id` in that zone, such as `subnet-a1b2c3d4`."),
		"spot_max_price": kit.Text(kit.Optional, "Highest hourly price of one spot instance, in `currency`, as a decimal string such as `\"3.50\"`. While the "+
			"market price is above it, nothing is launched in the offering. If omitted, the market price is paid. It does not apply to on-demand "+
			"instances."),
	}
}
