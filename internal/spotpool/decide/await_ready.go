package decide

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// waitForReady reports whether a swap terminates nothing because too few nodes have been
// Ready for long enough, and says for which it waits. A node that was Ready, or should be by
// now, is a warning: waiting may not help.
func waitForReady(v View, t Tally, s swap) (r Result, awaited bool) {
	floor := v.Declaration.Minimum - s.unavailable
	if v.Declaration.Nodes == nil || !v.Observation.Cluster.Observed() || t.available > floor {
		return r, false
	}
	var coming, failing []string
	for _, m := range t.members {
		switch {
		case m.Available || m.Condition != Running || m.Ending || t.leaving[m.ID]:
		case m.Health == node.Joining || m.Health == node.Healthy:
			coming = append(coming, m.ID)
		default:
			failing = append(failing, m.ID)
		}
	}
	waits := fmt.Sprintf("%d to be replaced (%s) once more than %s %s been Ready for %s, and %d %s", len(s.members), s.reason,
		wording.Count(floor, "node"), wording.Have(floor), spotpool.Duration(node.MinReady), t.available, wording.Have(t.available))
	if len(failing) > 0 {
		r.warnf("%s: %s %s not Ready, or not known to be. No working instance is terminated meanwhile; check these nodes", waits, wording.Some(failing),
			wording.Are(len(failing)))
	}
	if len(coming) > 0 || len(failing) > 0 {
		r.shortf(spotpool.BecauseReplacement, "%s", waits)
	}
	return r, len(r.Short) > 0
}
