package stockpool

import (
	"context"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
)

// Schema is the resource's schema. It has no plan modifiers and no validators: ModifyPlan
// and ValidateConfig look at the whole of a stock pool at once.
func (r *stockResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := sizeAttributes()
	maps.Copy(attributes, containerAttributes())
	maps.Copy(attributes, placementAttributes())
	maps.Copy(attributes, behaviourAttributes())
	maps.Copy(attributes, computedAttributes())
	attributes["timeouts"] = timeoutsAttribute(ctx)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A stock pool: a warm stock of GPU runtime pods of one flavour, kept as a Deployment of the provider's cluster by `terraform " +
			"apply` and by each run of `gpupool reconcile`. " +
			"What somebody scaled, edited or deleted is reverted, and the history says what it was and who did it. Its pods count against the budgets that " +
			"select them.\n\n" +
			"The Deployment is the pool's own by its uid, and is written by server-side apply under the field manager `gpupool-stock`; one of that name " +
			"that somebody else made is refused, and left untouched. " +
			"Another `name` or `namespace` replaces the pool; everything else changes it in place.\n\n" +
			"In the cluster this takes the rights to `get` the namespace `kube-system` and the pool's own, to `get`, `list`, `create`, `patch` and " +
			"`delete` Deployments and PodDisruptionBudgets, and to `list` and `patch` pods.",
		Attributes: attributes,
	}
}

// computedAttributes are scalars alone: the data source says how the pool is.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"uid":        kit.Text(kit.Computed, "Random identifier of the stock pool, given at creation."),
		"generation": kit.Whole(kit.Computed, "How often the pool's declaration was written, beginning with 1."),
		"cluster_uid": kit.Text(kit.Computed, "Identity of the cluster that the pool belongs to: the uid of its namespace `kube-system`. With another "+
			"cluster, the pool is neither read nor changed nor destroyed, and a run leaves it alone."),
		"deployment_uid": kit.Text(kit.Computed, "Identity of the pool's Deployment. It is another one where somebody deleted that, and a run created it "+
			"anew."),
	}
}

func timeoutsAttribute(ctx context.Context) schema.Attribute {
	each := func(operation string) string {
		return fmt.Sprintf("How long %s may take, such as `\"90s\"`; it waits for a run that has the pool's lock, and for pods. Default: `%q`.", operation,
			duration.String(defaultTimeout))
	}
	return kit.TimeoutsAttribute(ctx, defaultTimeout, each("a creation"), each("an update"), each("a destruction"))
}
