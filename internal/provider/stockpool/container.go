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
		"image": kit.Text(kit.Required, "Image of the runtime, such as `registry.example.com/team/runtime:1.4`. `pod_security_level = "+
			"\"restricted\"` requires an image that runs without root and without capabilities."),
		"memory":       kit.Text(kit.Required, "Memory of each pod as a Kubernetes quantity, such as `\"16Gi\"`. It is both request and limit."),
		"gpu":          kit.Whole(kit.Required, "Number of GPUs of each pod. It is both request and limit."),
		"gpu_resource": kit.DefaultChoice(defaults.GPUResource, "Resource name of the GPUs."),
		"cpu":          kit.Text(kit.Optional, "CPU request of each pod, such as `\"4\"` or `\"500m\"`. There is no limit."),
		"command":      kit.Texts(kit.Optional, "Command that replaces the image's entry point."),
		"args":         kit.Texts(kit.Optional, "Arguments of the command."),
		"env": schema.MapAttribute{
			Optional: true, Sensitive: true, ElementType: types.StringType,
			MarkdownDescription: "Environment variables. Everyone who may read Deployments of the namespace can read them, so do not use them " +
				"for secrets.",
		},
		"env_wo": schema.MapAttribute{
			Optional: true, Sensitive: true, WriteOnly: true, ElementType: types.StringType,
			MarkdownDescription: "Environment variables in addition to `env`. Neither the state nor a plan contains them, and they may come " +
				"from ephemeral values. Requires `env_wo_version`. The store and the Deployment contain them.",
		},
		"env_wo_version": kit.Whole(kit.Optional, "Version of `env_wo`, 1 or more. Change it to apply a changed `env_wo`. With the same version, "+
			"the store keeps its values."),
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
		"name":     kit.Text(kit.Optional, "Name of the port, for Services."),
		"protocol": kit.DefaultChoice(core.Port{}.WithDefaults().Protocol, "`TCP`, `UDP` or `SCTP`."),
	}
}
