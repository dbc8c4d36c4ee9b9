package spotpool

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
)

// maxReplacements bounds how many instances one run may begin to replace.
const maxReplacements = 100

func (v *validator) nodes() {
	n := v.d.Nodes
	if n == nil {
		return
	}
	v.duration("nodes.join_timeout", n.JoinTimeout, "Write how long an instance may run without becoming a Ready node, such as \"15m\".")
	v.duration("nodes.unhealthy_timeout", n.UnhealthyTimeout, "Write how long a node may be not Ready, such as \"10m\".")
	v.Within("nodes.max_replacements_per_run", int64(n.MaxReplacementsPerRun), 1, maxReplacements, "",
		"Set it to how many instances one run may begin to replace.")
	v.duration("nodes.drain.timeout", n.Drain.Timeout, "Write how long a drain may take, such as \"10m\".")
	problem.OneOf(&v.List, "nodes.drain.on_timeout", n.Drain.OnTimeout, node.Terminate, node.Keep)
	problem.OneOf(&v.List, "nodes.drain.unmanaged_pods", n.Drain.UnmanagedPods, node.Wait, node.Evict)
	for _, key := range slices.Sorted(maps.Keys(n.ExpectedLabels)) {
		if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
			v.Add("nodes.expected_labels", "Write it as Kubernetes does, such as \"pool\" or \"example.com/pool\".", "invalid label key %q", key)
		}
		if wrong := validation.IsValidLabelValue(n.ExpectedLabels[key]); len(wrong) > 0 {
			v.Add("nodes.expected_labels", "Use at most 63 letters, digits, and -, _ and . between them.", "invalid value %q of the label %s",
				n.ExpectedLabels[key], key)
		}
	}
}
