package describe

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// NodesColumn is the title of the column that NodesCell fills.
const NodesColumn = "NODES"

// HasNodes reports whether the instances of any of these pools become nodes. Where none
// do, nothing is said of nodes.
func HasNodes[P any](pools []P, report func(P) spotpools.Report) bool {
	return slices.ContainsFunc(pools, func(p P) bool { return report(p).Nodes != nil })
}

// NodesCell is how many of a pool's nodes are Ready; a dash where it has none.
func NodesCell(style terminal.Style, p spotpools.Report) string {
	n := p.Nodes
	switch {
	case n == nil:
		return "-"
	case !n.Seen:
		return style.Paint(terminal.Red, "unseen")
	}
	text := fmt.Sprintf("%d/%d", n.Ready, n.All())
	if n.Failing > 0 {
		return style.Paint(terminal.Yellow, text)
	}
	return text
}

// drainsAtMost is how many drains of a pool are told of.
const drainsAtMost = 5

// Nodes adds how a pool's nodes fare where they are not all Ready, and what drains wait
// for. That the cluster was not seen is said as an error.
func (d *Details) Nodes(n *decide.PoolNodes) {
	if n == nil {
		return
	}
	if n.Seen && (n.Ready < n.All() || n.Draining > 0) {
		d.Add(terminal.Dim, "nodes: ", n.String())
	}
	for _, notice := range n.Notices {
		d.Add(terminal.Yellow, "notice: ", notice.String())
	}
	for at, drain := range n.Drains {
		if at == drainsAtMost {
			d.Add(terminal.Cyan, "drain: ", fmt.Sprintf("%d more", len(n.Drains)-at))
			return
		}
		d.Add(terminal.Cyan, "drain: ", drain.InstanceID+": "+drain.String())
	}
}
