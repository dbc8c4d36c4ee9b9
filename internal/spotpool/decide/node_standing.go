package decide

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Standings returns what each member of the plan of a situation counts as, and why.
func Standings(s Situation, plan Plan) []Standing {
	d := s.Declaration.WithDefaults()
	var list []Standing
	for _, m := range plan.Members {
		standing := m.Standing(d.LaunchTimeout)
		standing.AsNode = nodeStanding{plan: plan, nodes: d.Nodes, now: s.Now, Member: m}.reasons()
		list = append(list, standing)
	}
	return list
}

type nodeStanding struct {
	Member
	plan  Plan
	nodes *spotpool.Nodes
	now   time.Time
}

// reasons are its health, and what follows.
func (n nodeStanding) reasons() (list reason.Reasons) {
	if n.nodes == nil || n.plan.Nodes == nil || !n.counted() {
		return nil
	}
	if n.plan.Nodes.Observed {
		list = append(list, n.health(), n.replacement())
	}
	for _, drain := range n.plan.Nodes.Drains {
		if drain.InstanceID == n.ID {
			list = append(list, drain.Reason())
		}
	}
	return slices.DeleteFunc(list, reason.Reason.IsZero)
}

func (n nodeStanding) health() reason.Reason {
	known, _ := n.plan.Journal.Of(n.ID)
	status := known.Node
	limits := n.nodes.Timeouts()
	if n.Match.Standing == node.Contested {
		return reason.NodeContested(n.Match.Why)
	}
	switch until := (reason.Instant{Time: status.Until(limits, n.now)}); n.Health {
	case node.Healthy:
		if n.GPUPods != nil {
			return reason.NodeReadyPods(reason.Node(n.Node.Name), reason.Count(*n.GPUPods))
		}
		return reason.NodeReady(reason.Node(n.Node.Name))
	case node.Joining:
		return reason.NodeJoins(until, reason.Duration(n.nodes.JoinTimeout))
	case node.Unready:
		return reason.NodeMustRecover(reason.Node(status.Name), reason.Instant{Time: status.Since}, until, reason.Duration(n.nodes.UnhealthyTimeout))
	case node.Late, node.Unhealthy:
		return failure(*n.nodes, n.Health, status.Name)
	}
	return reason.Reason{}
}

// replacement says whether it is replaced, and why not.
func (n nodeStanding) replacement() reason.Reason {
	switch {
	case slices.Contains(n.plan.Replacing, n.ID):
		return reason.ReplacedNow()
	case n.Replaced():
		return reason.ReplacementDue(reason.Instant{Time: n.ReplacedSince})
	case !n.Health.Failed():
		return reason.Reason{}
	case !n.plan.Nodes.ReplacingSuspended.IsZero():
		return reason.NotReplacedSuspended(n.plan.Nodes.ReplacingSuspended)
	case !n.plan.Nodes.ReplacingAwaits.IsZero():
		return reason.NotReplacedAwaiting(n.plan.Nodes.ReplacingAwaits)
	case n.plan.Hold != nil:
		return reason.NotReplacedOnHold()
	case n.plan.Gate.Closed:
		return reason.NotReplacedBlocked()
	case n.Protection() != "":
		return reason.NotReplacedProtected()
	}
	return reason.NotReplacedYet(reason.Count(n.nodes.MaxReplacementsPerRun))
}
