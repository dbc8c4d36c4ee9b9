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

// Schema is the resource's schema. Numbers that a user writes are of type number, so
// that a validation can say where one is not whole. It has no plan modifiers and no
// validators: ModifyPlan and ValidateConfig look at the whole of a budget at once.
func (r *budgetResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := limitAttributes()
	maps.Copy(attributes, countingAttributes())
	maps.Copy(attributes, computedAttributes())
	attributes["selector"] = selectorAttribute()
	attributes["enforcement"] = enforcementAttribute()
	attributes["timeouts"] = timeoutsAttribute(ctx)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A budget: a limit of GPU-hours for a set of a Kubernetes cluster's pods over a window, with thresholds that are told of and " +
			"an enforcement. " +
			"The resource is the declaration alone. Usage is counted by each run of `gpupool reconcile`, which also enforces; the data source " +
			"`gpupool_budget_usage` reads what the last run found.\n\n" +
			"Another `name` replaces the budget; everything else changes it in place, from the next run on. Destroying it lifts its freeze and resumes " +
			"what it paused. What its pods used stays in the ledger, and a spot pool that still names it gets no more instances.\n\n" +
			"In the cluster this takes the right to `get` the namespace `kube-system` and, to destroy a budget that enforces, those to lift freezes and to " +
			"scale workloads; `gpupool manifests` prints a ServiceAccount `gpupool-terraform` that has them, and those to the store in a namespace.",
		Attributes: attributes,
	}
}

// computedAttributes are scalars alone: the data source has the usage.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"uid":        kit.Text(kit.Computed, "Random identifier of the budget, given at creation."),
		"generation": kit.Whole(kit.Computed, "How often the budget's declaration was written, beginning with 1."),
		"cluster_uid": kit.Text(kit.Computed, "Identity of the cluster that the budget belongs to: the uid of its namespace `kube-system`. With another "+
			"cluster, the budget is neither read nor changed nor destroyed, and a run leaves it alone."),
	}
}

func timeoutsAttribute(ctx context.Context) schema.Attribute {
	each := func(operation string) string {
		return fmt.Sprintf("How long %s may take, such as `\"90s\"`; it waits for a run that has the budget's lock. Default: `%q`.", operation,
			duration.String(defaultTimeout))
	}
	return kit.TimeoutsAttribute(ctx, defaultTimeout, each("a creation"), each("an update"), each("a destruction"))
}
