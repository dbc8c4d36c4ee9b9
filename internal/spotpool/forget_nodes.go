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

// forgetNodes decides to delete the nodes of instances that are gone for sure, so that
// their pods move at once. It never deletes one whose kubelet reports, or that another
// machine uses.
func (p *planner) forgetNodes() {
	for _, past := range p.plan.Journal.Past {
		n, found := nodeByUID(p.Observation.Cluster, past.Node.UID)
		if !found || n.Pool != p.Declaration.UID {
			continue
		}
		p.plan.NodesLeft = append(p.plan.NodesLeft, n.Name)
		switch {
		case past.Confirmed && (past.NodeInUse || n.Ready == node.ReadyTrue):
			p.plan.NodesInUse = append(p.plan.NodesInUse, n.Name)
			p.warnf("node %s is used by another machine: it was Ready after its instance %s was gone. It is not deleted: drain and delete it if that "+
				"machine is to register again, or take its annotation gpupool/pool-uid off", n.Name, past.InstanceID)
		case !past.Confirmed || !n.Silent() || slices.Contains(p.SoFar.Forgotten, past.InstanceID):
		default:
			p.plan.Decisions = append(p.plan.Decisions, Decision{
				Kind: KindDeleteNode, Object: p.Declaration.Object(), Count: 1, InstanceIDs: []string{past.InstanceID}, Node: &n,
				Reasons: []string{"two looks a minute apart showed that its instance is gone"},
			})
		}
	}
}
