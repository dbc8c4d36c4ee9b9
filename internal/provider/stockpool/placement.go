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

// placement is which nodes the pods come to, and what they may there.
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
		"labels": kit.TextMap(kit.Optional, "Labels of the pods, beside `gpupool/stock-pool` and `gpupool/spec-name`: by these budgets select them."),
		"node_selector": kit.TextMap(kit.Optional, "Labels of the nodes that the pods come to. Where none has room, `gpupool status` says which spot pool's "+
			"`nodes.expected_labels` fit, and why that does not grow."),
		"tolerations":          kit.Objects(kit.Optional, "Taints of nodes that the pods tolerate.", tolerationAttributes()),
		"runtime_class_name":   kit.Text(kit.Optional, "RuntimeClass of the pods, such as `nvidia`."),
		"image_pull_secrets":   kit.Texts(kit.Optional, "Names of the Secrets of the namespace by which the image is pulled."),
		"service_account_name": kit.Text(kit.Optional, "ServiceAccount of the pods. They get a token of it; without this argument they get none."),
		"pod_security_level": kit.DefaultChoice(defaults.PodSecurityLevel, "Level of the Pod Security Standards that the pods keep to: `restricted` (no "+
			"root, no "+
			"capabilities, no escalation, the runtime's seccomp profile) or `baseline`, which says nothing of these."),
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
		"key":      kit.Text(kit.Optional, "Key of the taint; every taint where it is left out, with `operator = \"Exists\"`."),
		"operator": kit.DefaultChoice(core.Toleration{}.WithDefaults().Operator, "`Equal`, where the taint's value has to be `value`, or `Exists`."),
		"value":    kit.Text(kit.Optional, "Value of the taint."),
		"effect":   kit.Text(kit.Optional, "Effect of the taint, such as `NoSchedule`; every effect where it is left out."),
	}
}
