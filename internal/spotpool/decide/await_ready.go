package decide

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// waitForReady reports whether a swap terminates nothing because too few nodes have been
// Ready for long enough, and says for which it waits. A node that was Ready, or should be by
// now, is a warning: waiting may not help.
func waitForReady(v View, t Tally, s swap) (r Result, awaited bool) {
	floor := v.Declaration.Minimum - s.unavailable
	if v.Declaration.Nodes == nil || !v.Observation.Cluster.Observed() || t.available > floor {
		return r, false
	}
	var coming, failing reason.Names
	for _, m := range t.members {
		switch {
		case m.Available || m.Condition != Running || m.Ending || t.leaving[m.ID]:
		case m.Health == node.Joining || m.Health == node.Healthy:
			coming = append(coming, m.ID)
		default:
			failing = append(failing, m.ID)
		}
	}
	waits := reason.ReplacedOnceReady(reason.Count(len(s.members)), s.why, reason.Count(floor), reason.Duration(node.MinReady),
		reason.Count(t.available))
	if len(failing) > 0 {
		r.warn(reason.NotReady(waits, failing))
	}
	if len(coming) > 0 || len(failing) > 0 {
		r.short(spotpool.BecauseReplacement, waits)
	}
	return r, len(r.Short) > 0
}
