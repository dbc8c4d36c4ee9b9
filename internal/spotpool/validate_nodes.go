package spotpool

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// maxReplacements bounds how many instances one run may begin to replace.
const maxReplacements = 100

func (v *validator) nodes() {
	n := v.d.Nodes
	if n == nil {
		return
	}
	v.duration("nodes.join_timeout", n.JoinTimeout, reason.JoinTimeoutRange)
	v.duration("nodes.unhealthy_timeout", n.UnhealthyTimeout, reason.UnhealthyTimeoutRange)
	v.Within("nodes.max_replacements_per_run", int64(n.MaxReplacementsPerRun), 1, maxReplacements, reason.ReplacementsRange)
	v.duration("nodes.drain.timeout", n.Drain.Timeout, reason.DrainTimeoutRange)
	problem.OneOf(&v.List, "nodes.drain.on_timeout", n.Drain.OnTimeout, node.Terminate, node.Keep)
	problem.OneOf(&v.List, "nodes.drain.unmanaged_pods", n.Drain.UnmanagedPods, node.Wait, node.Evict)
	for _, key := range slices.Sorted(maps.Keys(n.ExpectedLabels)) {
		if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
			v.Add("nodes.expected_labels", reason.NodeLabelKey(reason.Quoted(key)))
		}
		if wrong := validation.IsValidLabelValue(n.ExpectedLabels[key]); len(wrong) > 0 {
			v.Add("nodes.expected_labels", reason.NodeLabelValue(reason.Quoted(n.ExpectedLabels[key]), reason.NewValue(key)))
		}
	}
}
