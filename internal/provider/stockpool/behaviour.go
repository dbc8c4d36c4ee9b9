package stockpool

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// behaviour is what becomes of the pods. WaitForRollout is the provider's alone.
type behaviour struct {
	PodDisruptionBudget types.Object `tfsdk:"pod_disruption_budget"`
	Budget              types.String `tfsdk:"budget"`
	OnDestroy           types.String `tfsdk:"on_destroy"`
	WaitForRollout      types.Bool   `tfsdk:"wait_for_rollout"`
}

func (b *behaviour) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Optional(x, &b.PodDisruptionBudget, disruptionTypes, &d.PodDisruptionBudget, core.PodDisruptionBudget{}, disruptionFields)
	attribute.Text(x, &b.Budget, &d.Budget)
	attribute.Text(x, &b.OnDestroy, &d.OnDestroy)
}

func behaviourAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"pod_disruption_budget": kit.Object(kit.Optional, "Keeps evictions, such as those of a drain, from ending too many pods at once, by a "+
			"PodDisruptionBudget "+
			"of the pool's name.", disruptionAttributes()),
		"budget": kit.Text(kit.Optional, "Name of a budget whose selector takes the pods. The pool does not grow while this or another budget that covers "+
			"its pods is exceeded, or its use unknown; while a budget whose action is `pause` pauses, the pool is scaled to zero, and comes back by itself."),
		"on_destroy": kit.DefaultChoice(defaults.OnDestroy, "What becomes of the Deployment when the pool is destroyed: `delete` deletes it and waits "+
			"for its pods to end; `retain` leaves it as it is."),
		"wait_for_rollout": kit.DefaultBool(true, "Whether an apply waits until the pods are ready, for as long as its timeout. That they are not by then "+
			"is a warning."),
	}
}

var disruptionTypes = attribute.Types(disruptionAttributes())

func disruptionFields(x *attribute.Transfer, f *attribute.Fields, p *core.PodDisruptionBudget) {
	attribute.Number(x, f.Number("min_available"), &p.MinAvailable)
}

func disruptionAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"min_available": kit.Whole(kit.Required, "How many pods evictions leave available, from 1 to `replicas`, or to `maximum`. As many as there are "+
			"would have no node of theirs drained."),
	}
}
