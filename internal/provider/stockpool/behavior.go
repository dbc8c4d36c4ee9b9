package stockpool

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// behavior is what happens to the pods. Only the provider knows WaitForRollout.
type behavior struct {
	PodDisruptionBudget types.Object `tfsdk:"pod_disruption_budget"`
	Budget              types.String `tfsdk:"budget"`
	OnDestroy           types.String `tfsdk:"on_destroy"`
	WaitForRollout      types.Bool   `tfsdk:"wait_for_rollout"`
}

func (b *behavior) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Optional(x, &b.PodDisruptionBudget, disruptionTypes, &d.PodDisruptionBudget, core.PodDisruptionBudget{}, disruptionFields)
	attribute.Text(x, &b.Budget, &d.Budget)
	attribute.Text(x, &b.OnDestroy, &d.OnDestroy)
}

func behaviorAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"pod_disruption_budget": kit.Object(kit.Optional, "PodDisruptionBudget of the pool's pods. It limits evictions, such as those of a node "+
			"drain.", disruptionAttributes()),
		"budget": kit.Text(kit.Optional, "Name of a budget whose selector matches the pods. The pool does not grow while a budget that covers "+
			"its pods is exceeded, or its usage unknown. While a budget with the action `pause` is exceeded, the pool is scaled to zero; it "+
			"resumes on its own."),
		"on_destroy": kit.DefaultChoice(defaults.OnDestroy, "`delete` deletes the Deployment and waits for its pods when the pool is destroyed. "+
			"`retain` leaves the Deployment as it is."),
		"wait_for_rollout": kit.DefaultBool(true, "Whether an apply waits for ready pods, up to its timeout. A timeout is a warning."),
	}
}

var disruptionTypes = attribute.Types(disruptionAttributes())

func disruptionFields(x *attribute.Transfer, f *attribute.Fields, p *core.PodDisruptionBudget) {
	attribute.Number(x, f.Number("min_available"), &p.MinAvailable)
}

func disruptionAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"min_available": kit.Whole(kit.Required, "Number of pods that evictions must leave available, from 1 to `replicas` or `maximum`. With the "+
			"highest value, nodes with these pods cannot be drained."),
	}
}
