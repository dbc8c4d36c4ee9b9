package budget

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// counting is how usage is counted.
type counting struct {
	CountFrom       types.String `tfsdk:"count_from"`
	PodEndEstimate  types.String `tfsdk:"pod_end_estimate"`
	ResourceWeights types.Map    `tfsdk:"resource_weights"`
	ModelWeights    types.Map    `tfsdk:"model_weights"`
	BreakdownLabels types.List   `tfsdk:"breakdown_labels"`
	MaxStatusAge    types.String `tfsdk:"max_status_age"`
}

func (c *counting) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Text(x, &c.CountFrom, &d.CountFrom)
	attribute.Text(x, &c.PodEndEstimate, &d.PodEndEstimate)
	attribute.TextMap(x, &c.ResourceWeights, &d.ResourceWeights, sameWeight)
	attribute.TextMap(x, &c.ModelWeights, &d.ModelWeights, sameWeight)
	attribute.Members(x, &c.BreakdownLabels, &d.BreakdownLabels)
	attribute.Spelled(x, &c.MaxStatusAge, &d.MaxStatusAge, sameDuration)
}

func sameWeight(a, b string) bool {
	was, errWas := weight.Parse(a)
	now, errNow := weight.Parse(b)
	return errWas == nil && errNow == nil && was.Cmp(now) == 0
}

func countingAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"count_from": kit.DefaultChoice(defaults.CountFrom, "From when a pod's time counts: `scheduled`, when its GPUs became its own, or `running`, "+
			"when its first container started."),
		"pod_end_estimate": kit.DefaultChoice(defaults.PodEndEstimate, "Where the end of a pod is taken to be that nobody saw ending, between the last run "+
			"that "+
			"saw it and the one that missed it: at the former (`earliest`), half-way (`midpoint`) or at the latter (`latest`). Such ends are reported as "+
			"estimated, with a bound."),
		"resource_weights": kit.TextMap(kit.Optional, "GPUs that one unit of a resource is worth, such as `{ \"nvidia.com/mig-1g.5gb\" = \"1/7\" }`: a "+
			"number or a fraction, in the place of the default or beside it. Devices by DRA are named by their driver, such as `gpu.nvidia.com`. `\"0\"` "+
			"leaves a resource out."),
		"model_weights": kit.TextMap(kit.Optional, "Factors by GPU model, as the node's label has it, or by instance type, such as `{ \"Tesla-T4\" = \"0.5\" "+
			"}`. What is not listed counts once."),
		"breakdown_labels": kit.Texts(kit.Optional, "Keys of pod labels by which usage is broken down, beside the namespaces."),
		"max_status_age": kit.DefaultDuration(defaults.MaxStatusAge, "How old the last run's judgement may be that lets a spot pool with this `budget` "+
			"launch, as a duration from `\"1m\"` to `\"30d\"`. An older one, or none, launches nothing."),
	}
}
