package spotpool

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// explainSuspended notes that a refresh waits while replacing is suspended: too many nodes
// fail to tell whether replacements would work.
func (p *planner) explainSuspended() {
	if n := len(p.outdated()); n > 0 {
		p.short(BecauseReplacement, "%d to be replaced (outdated configuration) once replacing is no longer suspended: %s", n, p.plan.Nodes.ReplacingSuspended)
	}
}

// awaitsReady reports whether a swap ends nothing since too few nodes have been Ready for
// long enough, and notes for which it waits. One that was Ready, or should be by now, is
// a warning: waiting may not help.
func (p *planner) awaitsReady(s swap) bool {
	floor := p.Declaration.Minimum - s.unavailable
	if p.Declaration.Nodes == nil || !p.Observation.Cluster.Seen() || p.available > floor {
		return false
	}
	var coming, failing []string
	for _, m := range p.plan.Members {
		switch {
		case m.Available || m.Condition != Running || m.Ending || p.ending[m.ID]:
		case m.Health == node.Joining || m.Health == node.Healthy:
			coming = append(coming, m.ID)
		default:
			failing = append(failing, m.ID)
		}
	}
	waits := fmt.Sprintf("%d to be replaced (%s) once more than %d nodes have been Ready for %s, and %d %s", len(s.members), s.reason, floor,
		Duration(node.MinReady), p.available, hasHave(p.available))
	if len(failing) > 0 {
		p.warnf("%s: %s %s not Ready, or not known to be. Nothing that works is ended meanwhile; look at these nodes", waits, wording.Some(failing),
			isAre(len(failing)))
	}
	if len(coming) > 0 || len(failing) > 0 {
		p.short(BecauseReplacement, "%s", waits)
	}
	return len(coming) > 0 || len(failing) > 0
}
