package decide

import "github.com/gpupool/terraform-provider-gpupool/internal/node"

// markNodes lists the nodes of members that do not bear the pool's mark yet. They are
// marked whatever else is done to the pool: without the mark no notice of a node is heard,
// and it is not deleted once its instance is gone. A pool that gave its nodes up takes its
// mark back, for which another pool would not hear of their notices.
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
			r.warnf("the node %s of %s has the mark of another pool (uid %s), so its interruption notices are ignored and it is not deleted once its "+
				"instance is gone: remove its annotation gpupool/pool-uid", m.Node.Name, m.ID, m.Node.Pool)
		}
	}
	return t, r
}
