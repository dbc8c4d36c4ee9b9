package describe

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// NodesColumn is the title of NodesCell.
const NodesColumn = "NODES"

// HasNodes reports whether the instances of a pool become nodes.
func HasNodes[P any](pools []P, report func(P) spotpools.Report) bool {
	return slices.ContainsFunc(pools, func(p P) bool { return report(p).Nodes != nil })
}

// NodesCell is the number of Ready nodes of all instances.
func NodesCell(style terminal.Style, p spotpools.Report) string {
	n := p.Nodes
	switch {
	case n == nil:
		return "-"
	case n.NodeStates == nil:
		return style.Paint(terminal.Red, "unknown")
	}
	text := fmt.Sprintf("%d/%d", n.Ready, n.All())
	if n.Failing > 0 {
		return style.Paint(terminal.Yellow, text)
	}
	return text
}

// drainsAtMost is the most drains of a pool that are listed.
const drainsAtMost = 5

// Nodes adds the health of nodes if not all are Ready, interruption notices and drains.
func (d *Details) Nodes(n *decide.PoolNodes) {
	if n == nil {
		return
	}
	if n.NodeStates != nil && (n.Ready < n.All() || n.Draining > 0) {
		d.Add(terminal.Dim, "nodes: ", n.String())
	}
	for _, notice := range n.Notices {
		d.Add(terminal.Yellow, "notice: ", notice.InstanceID+": "+notice.Reason().String())
	}
	for at, drain := range n.Drains {
		if at == drainsAtMost {
			d.Add(terminal.Cyan, "drain: ", fmt.Sprintf("%d more", len(n.Drains)-at))
			return
		}
		d.Add(terminal.Cyan, "drain: ", drain.InstanceID+": "+drain.Reason().String())
	}
}
