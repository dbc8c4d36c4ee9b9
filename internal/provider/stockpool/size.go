package stockpool

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// size is what the pool is called, and how many pods it keeps.
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
		"name": kit.Text(kit.Required, "Name of the stock pool and of its Deployment, unique in its namespace: 1 to 50 lower-case letters, digits and "+
			"hyphens, beginning and ending with a letter or digit. Another name replaces the pool."),
		"namespace": kit.Text(kit.Required, "Namespace of the cluster, which must exist. Another one replaces the pool."),
		"spec_name": kit.Text(kit.Required, "What the flavour is called, such as `g1.1`: the value of the label `gpupool/spec-name` of the pods."),
		"replicas":  kit.Whole(kit.Required, "How many pods are kept: of all pods, or of those that are not in use, see `replicas_policy`."),
		"replicas_policy": kit.DefaultChoice(defaults.ReplicasPolicy, "What `replicas` counts: `total`, all pods; or `available`, those that are not in "+
			"use. A pod that "+
			"somebody takes, by giving it a label that `allocated_selector` selects, is then replaced, so that the stock stays warm; where one is given "+
			"back or ends, the pool shrinks again. Takes `maximum` and `allocated_selector`."),
		"maximum": kit.Whole(kit.Optional, "How many pods there may be at most, in use or not, with `replicas_policy = \"available\"`."),
		"allocated_selector": kit.Text(kit.Optional, "Which of the pods are in use, by their labels, as `kubectl --selector` takes it: `\"session\"`, "+
			"`\"state=taken\"`. A scale-down ends others first."),
	}
}
