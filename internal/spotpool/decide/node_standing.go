package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Standings returns what each member of the plan of a situation counts as, and why.
func Standings(s Situation, plan Plan) []Standing {
	d := s.Declaration.WithDefaults()
	var list []Standing
	for _, m := range plan.Members {
		standing := m.Standing(d.LaunchTimeout)
		standing.AsNode = nodeStanding{plan: plan, nodes: d.Nodes, now: s.Now, Member: m}.String()
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

// String returns its health, and what follows.
func (n nodeStanding) String() string {
	if n.nodes == nil || n.plan.Nodes == nil || !n.counted() {
		return ""
	}
	var parts []string
	if n.plan.Nodes.Observed {
		parts = append(parts, n.health(), n.replacement())
	}
	for _, drain := range n.plan.Nodes.Drains {
		if drain.InstanceID == n.ID {
			parts = append(parts, drain.String())
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "; ")
}

func (n nodeStanding) health() string {
	known, _ := n.plan.Journal.Of(n.ID)
	status := known.Node
	limits := n.nodes.Timeouts()
	if n.Match.Standing == node.Contested {
		return "its node is ambiguous, so it is not drained, replaced or terminated: " + n.Match.Why.String()
	}
	switch n.Health {
	case node.Healthy:
		text := fmt.Sprintf("its node %s is Ready", n.Node.Name)
		if n.GPUPods != nil {
			text += fmt.Sprintf(", with %d GPU %s", *n.GPUPods, wording.Plural(*n.GPUPods, "pod", "pods"))
		}
		return text
	case node.Joining:
		return fmt.Sprintf("it is not a Ready node yet, and must join by %s (join_timeout %s)", wording.Instant(status.Until(limits, n.now)),
			n.nodes.JoinTimeout)
	case node.Unready:
		return fmt.Sprintf("its node %s has not been Ready since %s, and must recover by %s (unhealthy_timeout %s)", status.Name, wording.Instant(status.Since),
			wording.Instant(status.Until(limits, n.now)), n.nodes.UnhealthyTimeout)
	case node.Late, node.Unhealthy:
		return failure(*n.nodes, n.Health, status.Name).String()
	}
	return ""
}

// replacement says whether it is replaced, and why not.
func (n nodeStanding) replacement() string {
	switch {
	case slices.Contains(n.plan.Replacing, n.ID):
		return "a run would replace it now"
	case n.Replaced():
		return fmt.Sprintf("it has been marked for replacement since %s, and is terminated once its replacement works", wording.Instant(n.ReplacedSince))
	case !n.Health.Failed():
		return ""
	case !n.plan.Nodes.ReplacingSuspended.IsZero():
		return "it is not replaced: replacement is suspended: " + n.plan.Nodes.ReplacingSuspended.String()
	case !n.plan.Nodes.ReplacingAwaits.IsZero():
		return "it is not replaced while " + n.plan.Nodes.ReplacingAwaits.String() + ": they may recover together"
	case n.plan.Hold != nil:
		return "it is not replaced while the pool is on hold"
	case n.plan.Gate.Closed:
		return "it is not replaced while launches are blocked"
	case n.Protection() != "":
		return "it is not replaced while it is protected"
	}
	return fmt.Sprintf("it is not replaced yet: a run begins at most %d %s", n.nodes.MaxReplacementsPerRun,
		wording.Plural(n.nodes.MaxReplacementsPerRun, "replacement", "replacements"))
}
