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
		"nodes": kit.Object(kit.Optional, "Says that the pool's instances become nodes of the provider's cluster: they are drained before they end, and "+
			"replaced where they never join or fail for long. An instance is the node that has its provider id (`qcloud:///…/ins-…`). Nothing is drained, "+
			"replaced or ended while the cluster can't be reached.", nodesFieldAttributes()),
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
			"How long an instance may run without becoming a Ready node until another takes its place, as a duration such as `\"15m\"`, at most `\"7d\"`. "+
				"The installation of a GPU driver takes from 15 to 25 minutes on some images."),
		"unhealthy_timeout": kit.DefaultDuration(absent.UnhealthyTimeout.String(),
			"How long a node may be not Ready, or missing, until another instance takes its place, as a duration such as `\"10m\"`, at most `\"7d\"`."),
		"max_replacements_per_run": kit.DefaultNumber(absent.MaxReplacementsPerRun,
			"How many instances one run may begin to replace, 1 or more. None is replaced after two of one configuration in a row never joined, or while "+
				"more than a third of the pool (and at least two), or of all pools' nodes of the cluster, fails at once."),
		"match_address": kit.DefaultBool(absent.MatchAddress, "Whether a node without a provider id is the instance that has its internal address. Say so "+
			"only where no two networks of the cluster have the same addresses."),
		"expected_labels": kit.TextMap(kit.Optional, "Labels that the pool's nodes will have, such as `{ pool = \"train\" }`: they say which pods the pool "+
			"could take "+
			"if it grew. gpupool does not set them."),
		"drain": schema.SingleNestedAttribute{
			Optional: true, Computed: true,
			Default: objectdefault.StaticValue(attribute.NewObject(drainTypes, &absent.Drain, drainFields)),
			MarkdownDescription: "How a node is emptied before its instance ends: it is cordoned, and its pods are evicted within their disruption " +
				"budgets. Pods of daemon sets, mirror pods and pods that have ended are passed over, as by `kubectl drain`.",
			Attributes: drainAttributes(),
		},
	}
}

func drainAttributes() map[string]schema.Attribute {
	absent := defaults.Nodes.Drain
	return map[string]schema.Attribute{
		"timeout": kit.DefaultDuration(absent.Timeout.String(), "How long a drain may take, as a duration such as `\"10m\"`, at most `\"7d\"`. A run "+
			"does not wait for it: the next one goes on."),
		"on_timeout": kit.DefaultChoice(absent.OnTimeout, "What becomes of the instance then: `terminate` ends it with what is left on it; `keep` keeps it, "+
			"and drains it again an hour later at the earliest."),
		"unmanaged_pods": kit.DefaultChoice(absent.UnmanagedPods, "What becomes of pods without a controller, which nothing would make anew: `wait` waits "+
			"for them "+
			"until the timeout; `evict` evicts them."),
	}
}
