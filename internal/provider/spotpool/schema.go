package spotpool

import (
	"context"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Schema sets the resource's schema. It has no plan modifiers, validators or sets: ModifyPlan
// and ValidateConfig check a whole pool at once, which is faster for a thousand pools.
func (r *poolResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, part := range []map[string]schema.Attribute{
		sizeAttributes(), launchAttributes(), configurationAttributes(), behaviorAttributes(), nodesAttributes(), joiningAttributes(), computedAttributes(),
	} {
		maps.Copy(attributes, part)
	}
	attributes["timeouts"] = timeoutsAttribute(ctx)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A spot pool: a named group of Tencent Cloud GPU instances in one region, kept between `minimum` and `maximum`. " +
			"The next `terraform apply` or `gpupool reconcile` run replaces instances that Tencent Cloud reclaims.",
		Attributes: attributes,
	}
}

// computedAttributes are scalars and one list of strings. The data source lists the instances.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"uid":        kit.Text(kit.Computed, "Random identifier of the pool, set at creation; the tag `gpupool/uid` of each instance."),
		"account_id": kit.Text(kit.Computed, "Account that owns the instances."),
		"currency": kit.Text(kit.Computed, "Currency of the pool's prices, `max_hourly_cost` and `spot_max_price`: that of the provider at the last apply. "+
			"Runs with another one refuse the pool."),
		"cluster_uid": kit.Text(kit.Computed, "Identity of the nodes' cluster: the UID of its namespace `kube-system`. Null for a pool without `nodes`. "+
			"With another cluster, the pool is neither changed nor destroyed, and runs skip it."),
		"generation": kit.Whole(kit.Computed, "Version of the pool's declaration, starting at 1."),
		"capacity":   kit.Whole(kit.Computed, "Number of instances that worked, or were starting, at the last observation."),
		"planned_actions": kit.Texts(kit.Computed, "Planned actions on the pool's instances: launches, drains and terminations, each with its "+
			"reasons, and the wait for drains. For a new pool they have no offering, since the market may change until the apply; a warning names one. "+
			"They stay until the next refresh after the apply, so an output that uses them changes in a second apply. "+
			"Terraform up to 1.11 shows old actions for the destruction of a removed pool, which it does not refresh "+
			"first. A warning lists the instances that are terminated. If instances change between plan and apply, the apply may do less or more."),
	}
}

func timeoutsAttribute(ctx context.Context) schema.Attribute {
	absent := core.Duration(defaultTimeout).String()
	return kit.TimeoutsAttribute(ctx, defaultTimeout,
		fmt.Sprintf("Time for which a creation waits for its instances. A pool that is short then is created with a warning. Default: `%q`.", absent),
		fmt.Sprintf("Time for which an update waits for its launches, drains and terminations. Default: `%q`.", absent),
		fmt.Sprintf("Time for which a destroy waits until the instances are gone. Default: `%q`.", absent))
}
