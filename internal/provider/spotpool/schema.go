package spotpool

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/defaulted"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Schema is that of the resource. It has no plan modifiers and no validators:
// ModifyPlan and ValidateConfig look at the whole of a pool at once, and a
// thousand pools plan faster for it. It has no sets for the same reason.
func (r *poolResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, part := range []map[string]schema.Attribute{
		sizeAttributes(), placeAttributes(), machineAttributes(), behaviourAttributes(), computedAttributes(),
	} {
		maps.Copy(attributes, part)
	}
	attributes["timeouts"] = timeoutsAttribute(ctx)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A spot pool: a named group of Tencent Cloud GPU instances in one region, kept between `minimum` and `maximum`. " +
			"Instances that the cloud takes back are launched again by the next `terraform apply`, or by a run of `gpupool reconcile`.",
		Attributes: attributes,
	}
}

// sizeAttributes say which pool it is, and how large.
func sizeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required: true,
			MarkdownDescription: "Name of the pool, unique in its region and account: 1 to 50 lower-case letters, digits and hyphens, beginning and ending with a letter or digit. " +
				"It is the value of the tag `gpupool/pool` of each instance. Another name replaces the pool.",
		},
		"region": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "Region of the pool, such as `ap-singapore`. Where it is left out, the provider's region at the time of creation, which the pool then keeps. Another region replaces the pool.",
		},
		"minimum": schema.Int64Attribute{
			Required:            true,
			MarkdownDescription: "How many working instances the pool shall have, 0 or more. What is missing is launched. Lowering it ends nothing: instances are ended only above `maximum`.",
		},
		"maximum": schema.Int64Attribute{
			Required:            true,
			MarkdownDescription: "How many instances the pool may have at most, at least `minimum`. Launches that are under way, stopped and stuck instances count. What is above it is ended: first what does not work, then outdated configurations, the dearest, the most crowded zone, the newest.",
		},
		"max_hourly_cost": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "What all of the pool's instances together may cost, in CNY an hour, as a decimal string such as `\"30\"` or `\"12.50\"`. Launches that would pass it at present prices are left out. It ends nothing. Where it is left out there is no cap.",
		},
		"max_launches_per_run": defaulted.Number(core.DefaultMaxLaunchesPerRun, "How many instances one apply or one run of `gpupool reconcile` may launch at most, 1 or more."),
		"on_demand_base":       defaulted.Number(0, "How many of the pool's instances are on-demand ones (`POSTPAID_BY_HOUR`), which the cloud doesn't take back: 0 to `maximum`. They are launched first."),
		"on_demand_fallback": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Lets a pool that has been short of spot instances for a while launch on-demand ones instead. They are ended again once spot instances can be had. Where it is left out, the pool stays short.",
			Attributes: map[string]schema.Attribute{
				"after": defaulted.Duration(core.DefaultFallbackAfter.String(), "How long the pool must have been below `minimum`, as a duration such as `\"30m\"` or `\"1d\"`."),
				"maximum": schema.Int64Attribute{
					Required:            true,
					MarkdownDescription: "How many on-demand instances may stand in, beside `on_demand_base`: 1 or more.",
				},
			},
		},
	}
}

// placeAttributes say where the pool may launch, and how it chooses.
func placeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"offerings": schema.ListNestedAttribute{
			Required:            true,
			MarkdownDescription: "The offerings in which the pool may launch, in order: at least one. Give several zones and types, since a single one is often sold out.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"availability_zone": schema.StringAttribute{
					Required:            true,
					MarkdownDescription: "Availability zone in the pool's region, such as `ap-singapore-2`.",
				},
				"instance_type": schema.StringAttribute{
					Required:            true,
					MarkdownDescription: "Instance type, such as `GN7.2XLARGE32`. The data source `gpupool_spot_offers` lists those that are sold.",
				},
				"subnet_id": schema.StringAttribute{
					Required:            true,
					MarkdownDescription: "Subnet of `vpc_id` in that zone, such as `subnet-a1b2c3d4`.",
				},
				"max_price": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "The most that one spot instance may cost here, in CNY an hour, as a decimal string such as `\"3.50\"`. While the market price is above it, nothing is launched here. Where it is left out, the market price is paid. It does not apply to on-demand instances.",
				},
			}},
		},
		"allocation_strategy":  defaulted.Choice(core.Priority, "Which offering launches first: `priority`, the first in the list that can; `lowest_price`, the cheapest at present prices; `balanced`, the one in the zone with the fewest of the pool's instances."),
		"instance_charge_type": defaulted.Choice(core.Spot, "How instances are paid for: `SPOTPAID`, spot instances, or `POSTPAID_BY_HOUR`, on-demand ones."),
		"launch_timeout":       defaulted.Duration(core.DefaultLaunchTimeout.String(), "How long an instance may take to start until it no longer counts as capacity and is replaced where `maximum` leaves room, as a duration such as `\"15m\"`, at most `\"7d\"`."),
		"cooldown":             defaulted.Duration(core.DefaultCooldown.String(), "How long an offering is left alone after it was sold out, and avoided after one of its instances was reclaimed, as a duration such as `\"20m\"`, at most `\"7d\"`."),
	}
}

// machineAttributes are the configuration of each instance.
func machineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"vpc_id": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "VPC of the instances, such as `vpc-a1b2c3d4`.",
		},
		"security_group_ids": schema.ListAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Security groups of the instances, such as `sg-a1b2c3d4`. Where it is left out, the VPC's default one.",
		},
		"image_id": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "Image of the instances, such as `img-a1b2c3d4`. It must be one for the region and for GPU instances.",
		},
		"key_ids": schema.ListAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "SSH key pairs of the instances, such as `skey-a1b2c3d4`. Where it is left out, the image's own login stays as it is, which the cloud allows for custom, shared and imported images alone: with a public image they are needed. There is no argument for a password.",
		},
		"system_disk": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "System disk of each instance. Where it is left out, the cloud's default, 50 GiB.",
			Attributes:          diskAttributes("20 to 2048"),
		},
		"data_disks": schema.ListNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Data disks of each instance, at most 20. They are deleted with their instance.",
			NestedObject:        schema.NestedAttributeObject{Attributes: diskAttributes("10 to 32000, in steps of 10")},
		},
		"internet": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Public address of each instance. Where it is left out, instances have none.",
			Attributes: map[string]schema.Attribute{
				"max_bandwidth_out": schema.Int64Attribute{
					Required:            true,
					MarkdownDescription: "Outgoing bandwidth in Mbit/s, 1 or more.",
				},
				"charge_type": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "How traffic is paid for: `BANDWIDTH_POSTPAID_BY_HOUR`, `TRAFFIC_POSTPAID_BY_HOUR` or `BANDWIDTH_PACKAGE`. Where it is left out, the cloud's default.",
				},
			},
		},
		"user_data": schema.StringAttribute{
			Optional: true, Sensitive: true,
			MarkdownDescription: "Script or cloud-init document that each instance runs at its first start, as plain text of at most 16 KB once encoded in Base64. It is kept in the state and in the store.",
		},
		"cam_role_name": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "CAM role that the instances may take on.",
		},
		"project_id": defaulted.Number(0, "Project of the instances; 0 is the default one."),
		"tags": schema.MapAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Tags of the instances and their disks, beside those that gpupool sets. Keys must not begin with `gpupool/`, `qcs:` or `project`.",
		},
	}
}

func diskAttributes(sizes string) map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"type": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "Disk type, such as `CLOUD_BSSD`, `CLOUD_PREMIUM` or `CLOUD_SSD`.",
		},
		"size": schema.Int64Attribute{
			Required:            true,
			MarkdownDescription: "Size in GiB: " + sizes + ".",
		},
	}
}

// behaviourAttributes say how the pool changes and ends.
func behaviourAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"refresh": schema.SingleNestedAttribute{
			Optional: true, Computed: true,
			Default:             objectdefault.StaticValue(types.ObjectValueMust(refreshTypes, defaultRefresh)),
			MarkdownDescription: "What becomes of running instances when their configuration changes: image, type, disks, network, keys, user data, role, project or tags. Changes always apply to new instances.",
			Attributes: map[string]schema.Attribute{
				"strategy":        defaulted.Choice(core.RefreshNone, "`none` leaves them until something else ends them; `opportunistic` ends those that are above `minimum`; `rolling` replaces them in batches. One apply starts at most one batch, and `gpupool reconcile` goes on with it."),
				"max_surge":       defaulted.Number(defaultMaxSurge, "How many instances above `minimum` a rolling refresh may launch ahead, 0 or more; `maximum` bounds it."),
				"max_unavailable": defaulted.Number(0, "How many instances below `minimum` a rolling refresh may leave meanwhile, 0 or more. With `minimum` equal to `maximum` it must be at least 1, or a rolling refresh could never begin."),
			},
		},
		"budget": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Name of the budget that the pool's launches depend on, such as `gpupool_budget.team_a.name`: while it is exceeded, nothing is launched, and the pool keeps the instances that it has. " +
				"What counts is what the last run of `gpupool reconcile` found; where it found nothing, or longer ago than the budget's `max_status_age`, nothing is launched either.",
		},
		"deletion_protection": defaulted.Bool(false, "Whether plans that would destroy or replace the pool are refused."),
		"on_destroy":          defaulted.Choice(core.DestroyTerminate, "What becomes of the instances when the pool is destroyed: `terminate` ends them; `detach` takes gpupool's tags off and leaves them running."),
	}
}

// computedAttributes are scalars and one list of strings: the machines
// themselves are in the data source, which costs a plan nothing.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"uid": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Random identifier of the pool, given at creation; the tag `gpupool/uid` of each instance.",
		},
		"account_id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Account that owns the instances.",
		},
		"generation": schema.Int64Attribute{
			Computed:            true,
			MarkdownDescription: "How often the pool's declaration was written, beginning with 1.",
		},
		"capacity": schema.Int64Attribute{
			Computed:            true,
			MarkdownDescription: "How many instances worked, or had begun to start a short while before, when the pool was last looked at.",
		},
		"planned_actions": schema.ListAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "What the plan does to the pool's instances: launches and terminations, each with its reasons. Of a new pool it names no offering, since the market may move until the apply: a warning beside it does. It stays as it is after the apply, and is emptied by the next refresh; Terraform up to 1.11 shows it once more where it plans to destroy what is no longer configured, since it does that before the refresh: a warning then names what ends. Machines that moved between plan and apply can make the apply do less or more.",
		},
	}
}

func timeoutsAttribute(ctx context.Context) schema.Attribute {
	return timeouts.Attribute(ctx, "15m",
		"How long a creation waits for its instances, such as `\"15m\"`, the default. A pool that is short by then is created all the same, with a warning.",
		"How long an update waits for its launches and terminations. Default: `\"15m\"`.",
		"How long a destruction waits until the instances are gone. Default: `\"15m\"`.")
}

const defaultMaxSurge = 1

var defaultRefresh = map[string]attr.Value{
	"strategy": types.StringValue(string(core.RefreshNone)), "max_surge": types.Int64Value(defaultMaxSurge), "max_unavailable": types.Int64Value(0),
}
