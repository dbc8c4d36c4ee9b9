package decide

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// deleteNodes decides to delete the nodes of instances that are gone for sure, so that
// their pods move at once. It never deletes one whose kubelet reports, or that another
// machine uses.
func deleteNodes(v View, t Tally) (_ Tally, r Result) {
	for _, past := range v.Journal.Past {
		n, found := v.Observation.Cluster.Node(past.Node.UID)
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
			r.Decisions = append(r.Decisions, onNode(v, spotpool.KindDeleteNode, past.InstanceID, n,
				"two looks a minute apart showed that its instance is gone"))
		}
	}
	return t, r
}
