package stockpool

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// placement is where pods run, and with which rights.
type placement struct {
	Labels             types.Map    `tfsdk:"labels"`
	NodeSelector       types.Map    `tfsdk:"node_selector"`
	Tolerations        types.List   `tfsdk:"tolerations"`
	RuntimeClassName   types.String `tfsdk:"runtime_class_name"`
	ImagePullSecrets   types.List   `tfsdk:"image_pull_secrets"`
	ServiceAccountName types.String `tfsdk:"service_account_name"`
	PodSecurityLevel   types.String `tfsdk:"pod_security_level"`
}

func (p *placement) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.TextMap(x, &p.Labels, &d.Labels, attribute.Exactly)
	attribute.TextMap(x, &p.NodeSelector, &d.NodeSelector, attribute.Exactly)
	attribute.Objects(x, path.Root("tolerations"), &p.Tolerations, tolerationTypes, &d.Tolerations, slices.Equal, tolerationFields)
	attribute.Text(x, &p.RuntimeClassName, &d.RuntimeClassName)
	attribute.Members(x, &p.ImagePullSecrets, &d.ImagePullSecrets)
	attribute.Text(x, &p.ServiceAccountName, &d.ServiceAccountName)
	attribute.Text(x, &p.PodSecurityLevel, &d.PodSecurityLevel)
}

func placementAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"labels": kit.TextMap(kit.Optional, "Labels of the pods, in addition to `gpupool/stock-pool` and `gpupool/spec-name`. Budgets select pods by labels."),
		"node_selector": kit.TextMap(kit.Optional, "Labels of the nodes that the pods run on. If no node has room, `gpupool status` reports "+
			"which spot pool's `nodes.expected_labels` match, and why that pool does not grow."),
		"tolerations":          kit.Objects(kit.Optional, "Taints of nodes that the pods tolerate.", tolerationAttributes()),
		"runtime_class_name":   kit.Text(kit.Optional, "RuntimeClass of the pods, such as `nvidia`."),
		"image_pull_secrets":   kit.Texts(kit.Optional, "Names of image pull Secrets in the pool's namespace."),
		"service_account_name": kit.Text(kit.Optional, "ServiceAccount of the pods, which mount its token. If omitted, pods mount no token."),
		"pod_security_level": kit.DefaultChoice(defaults.PodSecurityLevel, "Level of the Pod Security Standards. `restricted` sets no root user, "+
			"no capabilities, no privilege escalation and the runtime's seccomp profile. `baseline` sets none of these."),
	}
}

var tolerationTypes = attribute.Types(tolerationAttributes())

func tolerationFields(x *attribute.Transfer, _ path.Path, f *attribute.Fields, t *core.Toleration) {
	*t = t.WithDefaults()
	attribute.Text(x, f.Text("key"), &t.Key)
	attribute.Text(x, f.Text("operator"), &t.Operator)
	attribute.Text(x, f.Text("value"), &t.Value)
	attribute.Text(x, f.Text("effect"), &t.Effect)
}

func tolerationAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"key":      kit.Text(kit.Optional, "Key of the taint. If omitted, with `operator = \"Exists\"`, all taints."),
		"operator": kit.DefaultChoice(core.Toleration{}.WithDefaults().Operator, "`Equal` to compare the taint's value with `value`, or `Exists`."),
		"value":    kit.Text(kit.Optional, "Value of the taint."),
		"effect":   kit.Text(kit.Optional, "Effect of the taint, such as `NoSchedule`. If omitted, all effects."),
	}
}
