package decide

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// markNodes lists the nodes of members without the pool's mark. They are marked on hold, too.
// Without the mark, interruption notices of a node are ignored, and it is not deleted once its
// instance is gone. A pool that no longer has nodes removes its mark, since another pool would
// ignore their notices.
func markNodes(v View, t Tally) (_ Tally, r Result) {
	d := v.Declaration
	for _, m := range t.members {
		switch {
		case d.Nodes == nil && m.Match.Standing == node.Present && m.Node.Pool == d.UID:
			r.Marked = append(r.Marked, m.Node)
		case d.Nodes == nil:
		case m.Match.Standing != node.Present || m.Node.Pool == d.UID:
		case m.Node.Pool == "":
			r.Unmarked = append(r.Unmarked, m.Node)
		default:
			r.warn(reason.NodeOfOtherPool(reason.Node(m.Node.Name), reason.Word(m.ID), reason.Word(m.Node.Pool)))
		}
	}
	return t, r
}
