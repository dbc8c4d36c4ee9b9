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

// Schema has no plan modifiers and no validators: ModifyPlan and ValidateConfig check the whole
// stock pool at once.
func (r *stockResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := sizeAttributes()
	maps.Copy(attributes, containerAttributes())
	maps.Copy(attributes, placementAttributes())
	maps.Copy(attributes, behaviorAttributes())
	maps.Copy(attributes, computedAttributes())
	attributes["timeouts"] = timeoutsAttribute(ctx)
	resp.Schema = schema.Schema{
		MarkdownDescription: "A warm stock of GPU runtime pods, kept as a Deployment in the provider's cluster. `terraform apply` creates and " +
			"changes it, and `gpupool reconcile` reverts drift: `gpupool history` reports what was changed, and which client did it. Its pods " +
			"count against the budgets that select them.\n\nThe Deployment is identified by its UID, and written by server-side apply with the " +
			"field manager `gpupool-stock`. A foreign Deployment of that name is refused and left untouched. Changing `name` or `namespace` " +
			"forces replacement; all other changes are made in place.\n\nRequired Kubernetes rights:\n\n- `get` on the namespace `kube-system` " +
			"and the pool's own.\n- `get`, `list`, `create`, `patch` and `delete` on Deployments and PodDisruptionBudgets.\n- `list` and `patch` " +
			"on pods.",
		Attributes: attributes,
	}
}

// computedAttributes are only scalars: the data source has the status.
func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"uid":        kit.Text(kit.Computed, "Random identifier of the stock pool, set at creation."),
		"generation": kit.Whole(kit.Computed, "Version of the pool's declaration, starting at 1."),
		"cluster_uid": kit.Text(kit.Computed, "UID of the namespace `kube-system` of the pool's cluster. With another cluster, the pool is "+
			"neither read, changed nor destroyed, and runs skip it."),
		"deployment_uid": kit.Text(kit.Computed, "UID of the pool's Deployment. It changes if the Deployment was deleted and a run created it "+
			"again."),
	}
}

func timeoutsAttribute(ctx context.Context) schema.Attribute {
	each := func(operation string) string {
		return fmt.Sprintf("Timeout of %s, such as `\"90s\"`. It includes the waits for the pool's lock and for pods. Default: `%q`.", operation,
			duration.String(defaultTimeout))
	}
	return kit.TimeoutsAttribute(ctx, defaultTimeout, each("a creation"), each("an update"), each("a destruction"))
}
