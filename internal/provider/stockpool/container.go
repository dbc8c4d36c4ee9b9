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

type container struct {
	Image       types.String `tfsdk:"image"`
	Memory      types.String `tfsdk:"memory"`
	GPU         types.Int64  `tfsdk:"gpu"`
	GPUResource types.String `tfsdk:"gpu_resource"`
	CPU         types.String `tfsdk:"cpu"`
	Command     types.List   `tfsdk:"command"`
	Args        types.List   `tfsdk:"args"`
	Env         types.Map    `tfsdk:"env"`
	EnvWO       types.Map    `tfsdk:"env_wo"`
	EnvVersion  types.Int64  `tfsdk:"env_wo_version"`
	Ports       types.List   `tfsdk:"ports"`
}

func (c *container) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Text(x, &c.Image, &d.Image)
	attribute.Spelled(x, &c.Memory, &d.Memory, sameQuantity)
	attribute.Number(x, &c.GPU, &d.GPU)
	attribute.Text(x, &c.GPUResource, &d.GPUResource)
	attribute.Spelled(x, &c.CPU, &d.CPU, sameQuantity)
	attribute.Texts(x, &c.Command, &d.Command)
	attribute.Texts(x, &c.Args, &d.Args)
	attribute.TextMap(x, &c.Env, &d.Env, attribute.Exactly)
	attribute.OptionalNumber(x, &c.EnvVersion, &d.EnvWOVersion)
	attribute.Objects(x, path.Root("ports"), &c.Ports, portTypes, &d.Ports, slices.Equal, portFields)
}

func containerAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"image": kit.Text(kit.Required, "Image of the runtime, such as `registry.example.com/team/runtime:1.4`. With `pod_security_level = \"restricted\"` "+
			"it must run "+
			"as a user other than root, and without capabilities."),
		"memory":       kit.Text(kit.Required, "Memory of each pod, as Kubernetes writes quantities, such as `\"16Gi\"`: requested, and the limit."),
		"gpu":          kit.Whole(kit.Required, "How many GPUs each pod holds: requested, and the limit."),
		"gpu_resource": kit.DefaultChoice(defaults.GPUResource, "Resource by which GPUs are asked for."),
		"cpu":          kit.Text(kit.Optional, "CPUs that each pod requests, such as `\"4\"` or `\"500m\"`. They are not limited."),
		"command":      kit.Texts(kit.Optional, "Command that runs, in the place of the image's entry point."),
		"args":         kit.Texts(kit.Optional, "Arguments of the command."),
		"env": schema.MapAttribute{
			Optional: true, Sensitive: true, ElementType: types.StringType,
			MarkdownDescription: "Environment variables. They stand in the Deployment, which whoever may read Deployments of the namespace can read: give " +
				"secrets by other ways.",
		},
		"env_wo": schema.MapAttribute{
			Optional: true, Sensitive: true, WriteOnly: true, ElementType: types.StringType,
			MarkdownDescription: "Environment variables in addition to `env` that are in neither the state nor a plan, and may come from ephemeral values. " +
				"It needs `env_wo_version`. The store keeps them, and so does the Deployment.",
		},
		"env_wo_version": kit.Whole(kit.Optional, "Version of `env_wo`, 1 or more. Change it to have a changed `env_wo` applied. With the same version, the "+
			"store keeps the values that it has."),
		"ports": kit.Objects(kit.Optional, "Ports that the container listens on.", portAttributes()),
	}
}

var portTypes = attribute.Types(portAttributes())

func portFields(x *attribute.Transfer, _ path.Path, f *attribute.Fields, p *core.Port) {
	*p = p.WithDefaults()
	attribute.Number(x, f.Number("port"), &p.Port)
	attribute.Text(x, f.Text("name"), &p.Name)
	attribute.Text(x, f.Text("protocol"), &p.Protocol)
}

func portAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"port":     kit.Whole(kit.Required, "Number of the port, 1 to 65535."),
		"name":     kit.Text(kit.Optional, "Name of the port, by which a Service may select it."),
		"protocol": kit.DefaultChoice(core.Port{}.WithDefaults().Protocol, "`TCP`, `UDP` or `SCTP`."),
	}
}
