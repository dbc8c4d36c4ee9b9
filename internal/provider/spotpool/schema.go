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

// Schema is the resource's schema. It has no plan modifiers and no validators:
// ModifyPlan and ValidateConfig look at the whole of a pool at once, which makes a
// plan of a thousand pools faster. It has no sets for the same reason.
func (r *poolResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{}
	for _, part := range []map[string]schema.Attribute{
		sizeAttributes(), launchAttributes(), configurationAttributes(), behaviourAttributes(), nodesAttributes(), joiningAttributes(), computedAttributes(),
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

// computedAttributes are scalars and one list of strings. The data source has the
// machines, and costs a plan nothing.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"uid":        kit.Text(kit.Computed, "Random identifier of the pool, given at creation; the tag `gpupool/uid` of each instance."),
		"account_id": kit.Text(kit.Computed, "Account that owns the instances."),
		"cluster_uid": kit.Text(kit.Computed, "Identity of the cluster whose nodes the instances are, the uid of its namespace `kube-system`; null for a "+
			"pool without `nodes`. With another cluster, the pool is neither changed nor destroyed, and a run leaves it alone."),
		"generation": kit.Whole(kit.Computed, "How often the pool's declaration was written, beginning with 1."),
		"capacity":   kit.Whole(kit.Computed, "How many instances worked, or had begun to start a short while before, when the pool was last looked at."),
		"planned_actions": kit.Texts(kit.Computed, "What the plan does to the pool's instances: launches, drains of their nodes and terminations, each with "+
			"its reasons. Of a new pool it names no offering, since the market may move until the apply: a warning beside it does. It stays as it is after "+
			"the apply, and is emptied by the next refresh; Terraform up to 1.11 shows it once more where it plans to destroy what is no longer configured, "+
			"since it does that before the refresh: a warning then names what ends. Machines that moved between plan and apply can make the apply do less or "+
			"more."),
	}
}

func timeoutsAttribute(ctx context.Context) schema.Attribute {
	absent := core.Duration(defaultTimeout).String()
	return kit.TimeoutsAttribute(ctx, defaultTimeout,
		fmt.Sprintf("How long a creation waits for its instances, such as `%q`, the default. A pool that is short by then is created all the same, "+
			"with a warning.", absent),
		fmt.Sprintf("How long an update waits for its launches and terminations. Default: `%q`.", absent),
		fmt.Sprintf("How long a destruction waits until the instances are gone. Default: `%q`.", absent))
}
