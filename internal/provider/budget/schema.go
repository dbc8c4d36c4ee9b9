package budget

import (
	"context"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
)

// Schema sets the resource's schema. Numbers in a configuration have the type number, so that a
// validation can report fractions. It has no plan modifiers and no validators: ModifyPlan and
// ValidateConfig check the whole budget at once.
func (r *budgetResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := limitAttributes()
	maps.Copy(attributes, countingAttributes())
	maps.Copy(attributes, computedAttributes())
	attributes["selector"] = selectorAttribute()
	attributes["enforcement"] = enforcementAttribute()
	attributes["timeouts"] = timeoutsAttribute(ctx)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A limit of GPU-hours for selected pods of a Kubernetes cluster over a window, with alert thresholds and enforcement. " +
			"The resource has only the declaration. Each `gpupool reconcile` run counts the usage and enforces the limit. The data source " +
			"`gpupool_budget_usage` reads the result of the last run.\n\n" +
			"Changing `name` forces replacement. All other changes are made in place, and apply from the next run. Destroying a budget lifts its " +
			"freeze and resumes what it paused. The ledger keeps its usage. A spot pool that still names it launches nothing.\n\n" +
			"Required Kubernetes rights:\n\n- `get` on the namespace `kube-system`.\n- To destroy a budget that enforces, the rights to lift " +
			"freezes and to scale workloads.\n\nThe ServiceAccount `gpupool-terraform`, which `gpupool manifests` prints, has these rights and " +
			"those to a store in a namespace.",
		Attributes: attributes,
	}
}

// computedAttributes are only scalars: the data source has the usage.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"uid":        kit.Text(kit.Computed, "Random identifier of the budget, set at creation."),
		"generation": kit.Whole(kit.Computed, "Version of the budget's declaration, starting at 1."),
		"cluster_uid": kit.Text(kit.Computed, "UID of the namespace `kube-system` of the budget's cluster. With another cluster, the budget is "+
			"neither read, changed nor destroyed, and runs skip it."),
	}
}

func timeoutsAttribute(ctx context.Context) schema.Attribute {
	each := func(operation string) string {
		return fmt.Sprintf("Timeout of %s, such as `\"90s\"`. It includes the wait for a run that has the budget's lock. Default: `%q`.", operation,
			duration.String(defaultTimeout))
	}
	return kit.TimeoutsAttribute(ctx, defaultTimeout, each("a creation"), each("an update"), each("a destruction"))
}
