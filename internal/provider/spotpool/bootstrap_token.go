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
		"bootstrap_token": kit.Object(kit.Optional, "Creates a bootstrap token for each launch, with which its instances join the provider's cluster by "+
			"`kubeadm join`, or as k3s agents. The token replaces `"+core.BootstrapTokenPlaceholder+"` in `user_data_raw`. It is deleted once all instances "+
			"of the launch have joined or terminated. Needs `nodes`. While the cluster is unreachable, nothing is launched. See the guide "+
			"[Nodes](../guides/nodes.md#bootstrap-tokens).", bootstrapTokenAttributes()),
	}
}

var bootstrapTokenTypes = attribute.Types(bootstrapTokenAttributes())

func bootstrapTokenFields(x *attribute.Transfer, f *attribute.Fields, b *core.BootstrapToken) {
	attribute.Members(x, f.List("groups"), &b.Groups)
	attribute.Parsed(x, path.Root("bootstrap_token").AtName("ttl"), duration, f.Text("ttl"), &b.TTL)
}

func bootstrapTokenAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"groups": kit.Texts(kit.Required, "Groups of a kubelet that authenticates with the token, such as "+
			"`system:bootstrappers:kubeadm:default-node-token` in a kubeadm cluster. Each begins with `system:bootstrappers:`, followed by lower-case "+
			"letters, digits, colons and hyphens. The cluster's roles define their permissions."),
		"ttl": kit.DefaultDuration(defaults.BootstrapToken.TTL.String(),
			"Lifetime of the token after the launch, as a duration such as `\"30m\"`, from `\"5m\"` to `\"24h\"`. An instance that takes longer cannot "+
				"join."),
	}
}
