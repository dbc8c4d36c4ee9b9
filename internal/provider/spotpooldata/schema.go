package spotpooldata

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
)

func (s *poolDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The current state of a spot pool: its numbers, its instances, and their cost. " +
			"It is found by the store's record, or by the tags of its instances.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the pool.",
			},
			"region": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Region of the pool. If omitted, the provider's region.",
			},
			"uid":        kit.ComputedText("Random identifier of the pool."),
			"account_id": kit.ComputedText("Account that owns the instances."),
			"currency":   kit.ComputedText("Currency of `estimated_hourly_price`."),
			"generation": kit.ComputedWhole("Version of the pool's declaration, starting at 1; 0 if the store has no record of it."),
			"minimum":    kit.ComputedWhole("Number of working instances to keep."),
			"maximum":    kit.ComputedWhole("Highest number of instances."),
			"capacity":   kit.ComputedWhole("Number of instances that work, or are starting."),
			"total":      kit.ComputedWhole("Number of instances that count toward `maximum`, including stuck and stopped ones, and pending launches."),
			"shortfall":  kit.ComputedWhole("Number of working instances that are missing from `minimum`."),
			"drifted":    kit.ComputedWhole("Number of instances that were launched with a configuration other than the declared one."),
			"estimated_hourly_price": kit.ComputedText("Hourly cost of the instances at present prices, in `currency`, as a decimal. " +
				"Disks, traffic and instances of unknown price are not included."),
			"machines": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The pool's instances, sorted by ID.",
				NestedObject:        schema.NestedAttributeObject{Attributes: machineAttributes()},
			},
		},
	}
}

func machineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"instance_id":       kit.ComputedText("ID of the instance."),
		"availability_zone": kit.ComputedText("Availability zone of the instance."),
		"instance_type":     kit.ComputedText("Type of the instance."),
		"charge_type":       kit.ComputedText("Charge type of the instance: `SPOTPAID` or `POSTPAID_BY_HOUR`."),
		"state":             kit.ComputedText("State of the instance as Tencent Cloud names it, such as `RUNNING` or `PENDING`."),
		"private_ip":        kit.ComputedText("First private address; null while there is none."),
		"public_ip":         kit.ComputedText("First public address; null if there is none, as usual."),
		"launched_at":       kit.ComputedText("Creation time of the instance, in UTC (RFC 3339)."),
		"drifted":           kit.ComputedBool("Whether the instance's configuration is known to differ from the declared one."),
		"node":              kit.ComputedText("Name of the instance's node, if the pool has `nodes`; null if it has none, or the cluster was not observed."),
		"node_health": kit.ComputedText("Health of the instance as a node: `joining`, `never_joined` (for longer than `join_timeout`), `ready`, `unready`, " +
			"or `unhealthy` (for longer than `unhealthy_timeout`); null if unknown."),
		"gpu_pods": kit.ComputedWhole("Number of pods on the node that hold GPUs; null if they were not counted."),
		"drain": schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Drain of the node before the instance is terminated; null if it is not drained.",
			Attributes: map[string]schema.Attribute{
				"phase":          kit.ComputedText("`asked`, `draining`, `done`, `timed_out`, or `kept` (it timed out, and the instance stays)."),
				"asked_at":       kit.ComputedText("Time of the decision to drain, in UTC (RFC 3339)."),
				"draining_since": kit.ComputedText("Time at which the node was cordoned; null before."),
				"pods_left":      kit.ComputedWhole("Number of pods left at the last run."),
				"blocked":        kit.ComputedTexts("Causes that blocked the drain then."),
			},
		},
	}
}
