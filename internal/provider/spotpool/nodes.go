package spotpool

import (
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// nodes says that the pool's instances become nodes of the provider's cluster.
type nodes struct {
	Nodes types.Object `tfsdk:"nodes"`
}

func (n *nodes) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Optional(x, &n.Nodes, nodesTypes, &d.Nodes, *defaults.Nodes, nodesFields)
}

func nodesAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"nodes": kit.Object(kit.Optional, "Declares that the pool's instances become nodes of the provider's cluster. They are drained before "+
			"termination, and replaced if they never join or fail for long. An instance is matched by its provider ID (`qcloud:///…/ins-…`). While the "+
			"cluster is unreachable, nothing is drained, replaced or terminated.", nodesFieldAttributes()),
	}
}

var (
	nodesTypes = attribute.Types(nodesFieldAttributes())
	drainTypes = attribute.Types(drainAttributes())
)

func nodesFields(x *attribute.Transfer, f *attribute.Fields, n *core.Nodes) {
	at := path.Root("nodes")
	attribute.Parsed(x, at.AtName("join_timeout"), duration, f.Text("join_timeout"), &n.JoinTimeout)
	attribute.Parsed(x, at.AtName("unhealthy_timeout"), duration, f.Text("unhealthy_timeout"), &n.UnhealthyTimeout)
	attribute.Number(x, f.Number("max_replacements_per_run"), &n.MaxReplacementsPerRun)
	attribute.Bool(x, f.Bool("match_address"), &n.MatchAddress)
	attribute.TextMap(x, f.Map("expected_labels"), &n.ExpectedLabels, attribute.Exactly)
	attribute.Object(x, f.Object("drain"), drainTypes, &n.Drain, drainFields)
}

func drainFields(x *attribute.Transfer, f *attribute.Fields, d *core.Drain) {
	attribute.Parsed(x, path.Root("nodes").AtName("drain").AtName("timeout"), duration, f.Text("timeout"), &d.Timeout)
	attribute.Text(x, f.Text("on_timeout"), &d.OnTimeout)
	attribute.Text(x, f.Text("unmanaged_pods"), &d.UnmanagedPods)
}

func nodesFieldAttributes() map[string]schema.Attribute {
	absent := *defaults.Nodes
	return map[string]schema.Attribute{
		"join_timeout": kit.DefaultDuration(absent.JoinTimeout.String(),
			"How long an instance may run without becoming a Ready node before it is replaced, as a duration such as `\"15m\"`, at most `\"7d\"`. The "+
				"installation of a GPU driver takes from 15 to 25 minutes on some images."),
		"unhealthy_timeout": kit.DefaultDuration(absent.UnhealthyTimeout.String(),
			"How long a node may be not Ready, or missing, before its instance is replaced, as a duration such as `\"10m\"`, at most `\"7d\"`."),
		"max_replacements_per_run": kit.DefaultNumber(absent.MaxReplacementsPerRun,
			"How many instances one run may begin to replace, 1 or more. Replacing is suspended after two instances of one configuration in a row never "+
				"joined. It is also suspended while more than a third, and at least two, of the nodes of the pool, or of all pools in the cluster, fail "+
				"at once."),
		"match_address": kit.DefaultBool(absent.MatchAddress, "Whether a node without a provider ID is matched by its internal address. Use it only if "+
			"no two networks of the cluster have the same addresses."),
		"expected_labels": kit.TextMap(kit.Optional, "Labels of the pool's future nodes, such as `{ pool = \"train\" }`. They show which pods the pool "+
			"could run if it grew. gpupool does not set them."),
		"drain": schema.SingleNestedAttribute{
			Optional: true, Computed: true,
			Default: objectdefault.StaticValue(attribute.NewObject(drainTypes, &absent.Drain, drainFields)),
			MarkdownDescription: "How a node is drained before its instance is terminated: it is cordoned, and its pods are evicted within their " +
				"disruption budgets. Pods of daemon sets, mirror pods and completed pods are skipped, as by `kubectl drain`.",
			Attributes: drainAttributes(),
		},
	}
}

func drainAttributes() map[string]schema.Attribute {
	absent := defaults.Nodes.Drain
	return map[string]schema.Attribute{
		"timeout": kit.DefaultDuration(absent.Timeout.String(), "How long a drain may take, as a duration such as `\"10m\"`, at most `\"7d\"`. A run does "+
			"not wait for it: the next run continues."),
		"on_timeout": kit.DefaultChoice(absent.OnTimeout, "What happens after the timeout: `terminate` terminates the instance with its remaining pods; "+
			"`keep` keeps it, and drains it again an hour later at the earliest."),
		"unmanaged_pods": kit.DefaultChoice(absent.UnmanagedPods, "How pods without a controller are handled, which nothing would recreate: `wait` "+
			"waits for them until the timeout; `evict` evicts them."),
	}
}
