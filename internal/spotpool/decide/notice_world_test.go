package decide_test

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// giveNotice marks a machine's node as reclaimed in two minutes, which may not happen. The
// notice may be withdrawn then.
func (w *world) giveNotice(t *rapid.T, id string) string {
	n := w.cluster.nodes[id]
	at := slices.IndexFunc(w.machines, func(m *machine) bool { return m.ID == id })
	if n == nil || w.machines[at].State != spotpool.StateRunning {
		return "nothing: no node to give notice to"
	}
	if !n.TakenAt.IsZero() && w.machines[at].endsAt.IsZero() && rapid.Bool().Draw(t, "taken off") {
		n.TakenAt = time.Time{}
		return "the notice of " + id + " is taken off"
	}
	n.TakenAt = w.now.Add(node.NoticeAhead)
	comesTrue := rapid.Bool().Draw(t, "comes true")
	if comesTrue {
		w.machines[at].endsAt = n.TakenAt
	}
	return fmt.Sprintf("notice to %s, which comes true: %t", id, comesTrue)
}

// brokenNotice says what a plan does wrong about interruption notices.
func brokenNotice(s decide.Situation, p decide.Plan) string {
	interrupted := map[string]bool{}
	for _, m := range p.Members {
		interrupted[m.ID] = m.Interrupted()
		if m.Interrupted() && (m.ChargeType != spotpool.Spot || m.Match.Standing != node.Present || s.Now.Sub(m.Node.TakenAt) >= 5*time.Minute) {
			return m.ID + " is counted as interrupted"
		}
	}
	launches, drained, refreshed := 0, false, false
	for _, d := range p.Decisions {
		refreshed = refreshed || d.Refresh // what takes the place of that is launched last
		switch {
		case s.Hold != nil && d.Kind != spotpool.KindUncordon && d.Kind != spotpool.KindDeleteNode:
			return "on hold: " + d.Summary()
		case d.Kind == spotpool.KindLaunch && drained && !refreshed:
			return "a drain for a notice comes before a launch"
		case d.Kind == spotpool.KindLaunch && !d.Resume && !d.Refresh:
			launches += d.Count
		case d.Kind == spotpool.KindDrain && interrupted[d.InstanceIDs[0]] == d.TakenAt.IsZero():
			return fmt.Sprintf("%s until %s", d.Summary(), d.TakenAt)
		case d.Kind == spotpool.KindDrain:
			drained = drained || !d.TakenAt.IsZero()
		case s.Hold == nil && slices.ContainsFunc(d.InstanceIDs, func(id string) bool {
			return interrupted[id] && (d.Kind != spotpool.KindTerminate || p.Total <= s.Declaration.Maximum && p.Wanted == nil ||
				p.Journal.DrainOf(id).Phase != node.Done)
		}):
			return d.Summary() + ", which Tencent Cloud reclaims"
		}
	}
	if !slices.ContainsFunc(p.Members, decide.Member.Interrupted) || s.Gate.Closed || s.Hold != nil || !p.Journal.LostAt.IsZero() {
		return ""
	}
	for _, r := range p.Short {
		if r.Offering != nil {
			return "" // the market does not allow it
		}
	}
	d := s.Declaration
	missing, room := d.Minimum-p.Capacity-p.Journal.Missing(), min(d.Maximum-p.Total, d.MaxLaunchesPerRun-s.SoFar.Launched)
	if launches < min(missing, room) {
		return fmt.Sprintf("%d launched, and %d are missing with room for %d", launches, missing, room)
	}
	return ""
}
