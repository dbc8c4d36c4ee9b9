package spotpool

import (
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// joining is how the pool's instances join the provider's cluster.
type joining struct {
	BootstrapToken types.Object `tfsdk:"bootstrap_token"`
}

func (j *joining) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Optional(x, &j.BootstrapToken, bootstrapTokenTypes, &d.BootstrapToken, *defaults.BootstrapToken, bootstrapTokenFields)
}

func joiningAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"bootstrap_token": kit.Object(kit.Optional, "Has each launch make a bootstrap token, by which its instances join the provider's cluster: for "+
			"clusters whose nodes join by `kubeadm join`, or as agents of k3s. "+
			"It stands in `user_data_raw` where that has `"+core.BootstrapTokenPlaceholder+"`, and is deleted once all instances of the launch have "+
			"joined or ended. Needs `nodes`. "+
			"While the cluster can't be reached, nothing is launched. See [Bootstrap tokens](../guides/nodes.md#bootstrap-tokens).",
			bootstrapTokenAttributes()),
	}
}

var bootstrapTokenTypes = attribute.Types(bootstrapTokenAttributes())

func bootstrapTokenFields(x *attribute.Transfer, f *attribute.Fields, b *core.BootstrapToken) {
	attribute.Members(x, f.List("groups"), &b.Groups)
	attribute.Parsed(x, path.Root("bootstrap_token").AtName("ttl"), duration, f.Text("ttl"), &b.TTL)
}

func bootstrapTokenAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"groups": kit.Texts(kit.Required, "Groups in which whoever has the token signs in, such as `system:bootstrappers:kubeadm:default-node-token`, which "+
			"kubeadm lets join: `system:bootstrappers:`, and then lower-case letters, digits, colons and hyphens. What they may do, the cluster's own roles "+
			"say."),
		"ttl": kit.DefaultDuration(defaults.BootstrapToken.TTL.String(),
			"How long the token is valid from its launch on, as a duration such as `\"30m\"`, from `\"5m\"` to `\"24h\"`. An instance that takes longer "+
				"does not join."),
	}
}
