package spotpooldata

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
)

func (s *poolDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A spot pool as it is now: its numbers, its machines, and what they cost. " +
			"The pool is found by the store's record, or by the tags of its instances.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the pool.",
			},
			"region": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Region of the pool. Where it is left out, the provider's.",
			},
			"uid":        kit.ComputedText("Random identifier of the pool."),
			"account_id": kit.ComputedText("Account that owns the instances."),
			"generation": kit.ComputedWhole("How often the pool's declaration was written; 0 where the store has no record of it."),
			"minimum":    kit.ComputedWhole("How many working instances the pool shall have."),
			"maximum":    kit.ComputedWhole("How many instances the pool may have at most."),
			"capacity":   kit.ComputedWhole("How many instances work, or began to start a short while ago."),
			"held": kit.ComputedWhole("How many instances count towards `maximum`: stuck and stopped ones, and launches whose outcome is " +
				"unknown, included."),
			"shortfall": kit.ComputedWhole("How many working instances are missing to `minimum`."),
			"drifted":   kit.ComputedWhole("How many instances were launched with a configuration that is no longer the declared one."),
			"estimated_hourly_price": kit.ComputedText("What the instances cost at present prices, in CNY an hour, as a decimal. " +
				"Disks and traffic are not part of it, nor are instances whose price is unknown."),
			"machines": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The pool's instances, by id.",
				NestedObject:        schema.NestedAttributeObject{Attributes: machineAttributes()},
			},
		},
	}
}

func machineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"instance_id":       kit.ComputedText("Id of the instance."),
		"availability_zone": kit.ComputedText("Availability zone of the instance."),
		"instance_type":     kit.ComputedText("Type of the instance."),
		"charge_type":       kit.ComputedText("How the instance is paid for: `SPOTPAID` or `POSTPAID_BY_HOUR`."),
		"state":             kit.ComputedText("State of the instance as the cloud names it, such as `RUNNING` or `PENDING`."),
		"private_ip":        kit.ComputedText("First private address; null while there is none."),
		"public_ip":         kit.ComputedText("First public address; null where there is none, which is the usual case."),
		"launched_at":       kit.ComputedText("When the instance was created, in UTC (RFC 3339)."),
		"drifted":           kit.ComputedBool("Whether the instance's configuration is known to differ from the declared one."),
		"node": kit.ComputedText("Name of the node that the instance is, where the pool has `nodes`; null where it is none, or its cluster " +
			"was not seen."),
		"node_health": kit.ComputedText("How the instance fares as a node: `joining`, `never_joined` (for longer than `join_timeout`), `ready`, `unready`, " +
			"or `unhealthy` (for longer than `unhealthy_timeout`); null where that is not known."),
		"gpu_pods": kit.ComputedWhole("How many pods on the node hold GPUs; null where they were not counted."),
		"drain": schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: "How far the node is emptied before the instance ends; null where it is not.",
			Attributes: map[string]schema.Attribute{
				"phase":          kit.ComputedText("`asked`, `draining`, `done`, `timed_out`, or `kept` (it timed out, and the instance stays)."),
				"asked_at":       kit.ComputedText("When the drain was decided, in UTC (RFC 3339)."),
				"draining_since": kit.ComputedText("Since when the node takes no new pods; null before."),
				"pods_left":      kit.ComputedWhole("How many pods were left when the last run looked."),
				"blocked":        kit.ComputedTexts("What the drain waited for then."),
			},
		},
	}
}
