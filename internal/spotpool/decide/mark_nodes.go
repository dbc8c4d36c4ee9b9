package decide

import "github.com/gpupool/terraform-provider-gpupool/internal/node"

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
			r.warnf("node %s of %s has the mark of another pool (uid %s). Its interruption notices are ignored, and it is not deleted when its "+
				"instance is gone. Remove the mark:\nkubectl annotate node %s gpupool/pool-uid-", m.Node.Name, m.ID, m.Node.Pool, m.Node.Name)
		}
	}
	return t, r
}
