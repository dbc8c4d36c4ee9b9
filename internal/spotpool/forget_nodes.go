package spotpool

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// inUse notes which Nodes of instances that are gone for sure another machine uses. A
// kubelet that finds a Node of its host name registers as that Node, which keeps the
// provider ID of the instance that is gone; j must be a clone.
func (j *Journal) inUse(l node.Look, of node.Matches) {
	for at, p := range j.Past {
		if !p.Confirmed || p.NodeInUse {
			continue
		}
		n, found := nodeByUID(l, p.Node.UID)
		j.Past[at].NodeInUse = found && !n.Silent() && (n.ReadySince.After(p.AbsentSince) || of.Contests(n))
	}
}

// nodeByUID is a node of a look.
func nodeByUID(l node.Look, uid string) (node.Node, bool) {
	if uid == "" {
		return node.Node{}, false
	}
	at := slices.IndexFunc(l.Nodes, func(n node.Node) bool { return n.UID == uid })
	if at < 0 {
		return node.Node{}, false
	}
	return l.Nodes[at], true
}

// deleteNodes decides to delete the nodes of instances that are gone for sure, so that
// their pods move at once. It never deletes one whose kubelet reports, or that another
// machine uses.
func deleteNodes(v View, t Tally) (Tally, Result) {
	var r Result
	for _, past := range v.Journal.Past {
		n, found := nodeByUID(v.Observation.Cluster, past.Node.UID)
		if !found || n.Pool != v.Declaration.UID {
			continue
		}
		r.NodesLeft = append(r.NodesLeft, n.Name)
		switch {
		case past.Confirmed && (past.NodeInUse || n.Ready == node.ReadyTrue):
			r.NodesInUse = append(r.NodesInUse, n.Name)
			r.warnf("node %s is used by another machine: it was Ready after its instance %s was gone. It is not deleted: drain and delete it if that "+
				"machine is to register again, or take its annotation gpupool/pool-uid off", n.Name, past.InstanceID)
		case !past.Confirmed || !n.Silent() || slices.Contains(v.SoFar.Forgotten, past.InstanceID):
		default:
			r.Decisions = append(r.Decisions, Decision{
				Kind: KindDeleteNode, Object: v.Declaration.Object(), Count: 1, InstanceIDs: []string{past.InstanceID}, Node: &n,
				Reasons: []string{"two looks a minute apart showed that its instance is gone"},
			})
		}
	}
	return t, r
}

// goneWith reports whether a node's instance is gone, as far as was seen: nothing will run
// on it any more.
func (j Journal) goneWith(n node.Node) bool {
	return slices.ContainsFunc(j.Past, func(past Past) bool { return past.Node.UID == n.UID && !past.AbsentSince.IsZero() })
}
