package stockpool

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

type size struct {
	Name              types.String `tfsdk:"name"`
	Namespace         types.String `tfsdk:"namespace"`
	SpecName          types.String `tfsdk:"spec_name"`
	Replicas          types.Int64  `tfsdk:"replicas"`
	ReplicasPolicy    types.String `tfsdk:"replicas_policy"`
	Maximum           types.Int64  `tfsdk:"maximum"`
	AllocatedSelector types.String `tfsdk:"allocated_selector"`
}

func (s *size) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Text(x, &s.Name, &d.Name)
	attribute.Text(x, &s.Namespace, &d.Namespace)
	attribute.Text(x, &s.SpecName, &d.SpecName)
	attribute.Number(x, &s.Replicas, &d.Replicas)
	attribute.Text(x, &s.ReplicasPolicy, &d.ReplicasPolicy)
	attribute.Carry(x, orNone, &s.Maximum, &d.Maximum)
	attribute.Text(x, &s.AllocatedSelector, &d.AllocatedSelector)
}

func sizeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": kit.Text(kit.Required, "Name of the stock pool and of its Deployment, unique in its namespace. Use 1 to 50 lower-case letters, "+
			"digits and hyphens, with a letter or digit first and last. Changing this forces replacement."),
		"namespace": kit.Text(kit.Required, "Namespace, which must exist. Changing this forces replacement."),
		"spec_name": kit.Text(kit.Required, "Name of the pod spec, such as `g1.1`. It is the value of the pods' label `gpupool/spec-name`."),
		"replicas":  kit.Whole(kit.Required, "Number of pods to keep, see `replicas_policy`."),
		"replicas_policy": kit.DefaultChoice(defaults.ReplicasPolicy, "`total` counts all pods. `available` counts the pods that are not in use. "+
			"A pod is claimed by a label that `allocated_selector` selects, and replaced, so that the stock stays warm. If a pod is released or "+
			"ends, the pool shrinks again. `available` requires `maximum` and `allocated_selector`."),
		"maximum": kit.Whole(kit.Optional, "Highest number of pods, in use or not. Requires `replicas_policy = \"available\"`."),
		"allocated_selector": kit.Text(kit.Optional, "Label selector of the pods in use, in the syntax of `kubectl --selector`: `\"session\"`, "+
			"`\"state=claimed\"`. A scale-down deletes other pods first."),
	}
}
