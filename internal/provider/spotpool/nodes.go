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
			"Time for an instance to become a Ready node before it is replaced, as a duration such as `\"15m\"`, at most `\"7d\"`. The "+
				"installation of a GPU driver takes from 15 to 25 minutes on some images."),
		"unhealthy_timeout": kit.DefaultDuration(absent.UnhealthyTimeout.String(),
			"Time for which a node is not Ready, or missing, before its instance is replaced, as a duration such as `\"10m\"`, at most `\"7d\"`."),
		"max_replacements_per_run": kit.DefaultNumber(absent.MaxReplacementsPerRun,
			"Highest number of instances that one run begins to replace, 1 or more. "+
				"Replacement is suspended after two instances in a row failed before they had worked for "+
				"an hour. It is also suspended while at least two and over a third of the nodes in the pool, or in all pools, fail."),
		"match_address": kit.DefaultBool(absent.MatchAddress, "Whether a node without a provider ID is matched by its internal address. Use it only if "+
			"no two networks of the cluster have the same addresses."),
		"expected_labels": kit.TextMap(kit.Optional, "Labels of the pool's future nodes, such as `{ pool = \"train\" }`. They show which pods the pool "+
			"could run if it grew. gpupool does not set them."),
		"drain": schema.SingleNestedAttribute{
			Optional: true, Computed: true,
			Default: objectdefault.StaticValue(attribute.NewObject(drainTypes, &absent.Drain, drainFields)),
			MarkdownDescription: "Drain of a node before its instance is terminated: it is cordoned, and its pods are evicted within their " +
				"disruption budgets. Pods of daemon sets, mirror pods and completed pods are skipped, as by `kubectl drain`.",
			Attributes: drainAttributes(),
		},
	}
}

func drainAttributes() map[string]schema.Attribute {
	absent := defaults.Nodes.Drain
	return map[string]schema.Attribute{
		"timeout": kit.DefaultDuration(absent.Timeout.String(), "Timeout of a drain, as a duration such as `\"10m\"`, at most `\"7d\"`. A run does "+
			"not wait for it: the next run continues."),
		"on_timeout": kit.DefaultChoice(absent.OnTimeout, "Action after the timeout: `terminate` terminates the instance with its remaining pods; "+
			"`keep` keeps it, and drains it again an hour later at the earliest."),
		"unmanaged_pods": kit.DefaultChoice(absent.UnmanagedPods, "Action on pods without a controller, which nothing recreates: `wait` waits for "+
			"them until the timeout; `evict` evicts them."),
	}
}
