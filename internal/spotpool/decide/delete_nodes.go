package decide

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
)

// untilSilent is how long a Node may stay Ready after its instance is gone, by the time at which it
// was observed. The node controller marks it Unknown after 50 seconds, its default
// node-monitor-grace-period, of no heartbeat.
const untilSilent = 3 * time.Minute

// NodeInUse is a Node with the pool's mark whose instance is gone for sure, and whose
// kubelet still reports: another machine registered as this Node. It is never deleted.
type NodeInUse struct{ Name, InstanceID string }

// Reason warns of the node, and names the command that removes its mark.
func (n NodeInUse) Reason() reason.Reason {
	return reason.NodeInUse(reason.Node(n.Name), reason.Word(n.InstanceID))
}

// inUse reports whether another machine uses the Node of an instance that is gone for sure.
func (v View) inUse(past fleet.Past, n node.Node) bool {
	return past.Confirmed && (past.NodeInUse || n.Ready == node.ReadyTrue && v.Observation.Cluster.At.Sub(past.AbsentSince) > untilSilent)
}

// deleteNodes decides to delete the nodes of instances that are gone for sure, so that
// their pods move at once. It never deletes one whose kubelet reports, or that another
// machine uses.
func deleteNodes(v View, t Tally) (_ Tally, r Result) {
	for _, past := range v.Journal.Past {
		n, found := v.Observation.Cluster.Node(past.Node.UID)
		switch {
		case !found || n.Pool != v.Declaration.UID:
		case v.inUse(past, n):
			used := NodeInUse{n.Name, past.InstanceID}
			r.NodesInUse = append(r.NodesInUse, used)
			r.warn(used.Reason())
		case !past.Confirmed || !n.Silent() || slices.Contains(v.SoFar.Forgotten, past.InstanceID):
			r.NodesLeft = append(r.NodesLeft, n.Name)
		default:
			r.NodesLeft = append(r.NodesLeft, n.Name)
			r.Decisions = append(r.Decisions, onNode(v, spotpool.KindDeleteNode, past.InstanceID, n, reason.InstanceGone()))
		}
	}
	return t, r
}
