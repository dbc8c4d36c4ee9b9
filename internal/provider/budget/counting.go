package budget

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

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
	attribute.Spelled(x, &c.MaxStatusAge, &d.MaxStatusAge, attribute.SameDuration)
}

func sameWeight(a, b string) bool {
	was, errWas := weight.Parse(a)
	now, errNow := weight.Parse(b)
	return errWas == nil && errNow == nil && was.Cmp(now) == 0
}

func countingAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"count_from": kit.DefaultChoice(defaults.CountFrom, "Start of a pod's usage: `scheduled`, when the pod was bound to its node, or `running`, when "+
			"its first container started."),
		"pod_end_estimate": kit.DefaultChoice(defaults.PodEndEstimate, "Assumed end of a pod whose end was not observed, between the last run that "+
			"observed it and the next run. `earliest` is the time of the former, `latest` that of the latter, and `midpoint` lies half-way. Such ends "+
			"are reported as estimated, with an error bound."),
		"resource_weights": kit.TextMap(kit.Optional, "GPUs per unit of a resource, as a number or a fraction, such as `{ \"nvidia.com/mig-1g.5gb\" = "+
			"\"1/7\" }`. They override and extend the defaults. Name DRA devices by their driver, such as `gpu.nvidia.com`. With `\"0\"`, a resource is "+
			"not counted."),
		"model_weights": kit.TextMap(kit.Optional, "Factors by GPU model, as in the node's label, or by instance type, such as `{ \"Tesla-T4\" = \"0.5\" "+
			"}`. All others have the factor 1."),
		"breakdown_labels": kit.Texts(kit.Optional, "Keys of pod labels by which usage is broken down, in addition to namespaces."),
		"max_status_age": kit.DefaultDuration(defaults.MaxStatusAge, "Highest age of the budget's status with which a spot pool with this `budget` "+
			"launches instances, from `\"1m\"` to `\"30d\"`. With an older status or none, it launches nothing."),
	}
}
