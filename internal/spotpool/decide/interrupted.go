package decide

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// countReclaims counts members that Tencent Cloud reclaims soon as leaving.
func countReclaims(v View, t Tally) (Tally, Result) { return t.leave(v.interrupted), Result{} }

// endInterrupted terminates members that Tencent Cloud reclaims, if the pool is above its maximum
// and their nodes are drained. So a node cannot keep an instance by a false notice.
func endInterrupted(v View, t Tally) (Tally, Result) {
	total := t.total - v.unseen
	surplus := total - v.Declaration.Maximum
	why := v.drainReason
	if !v.drains() {
		why = aboveMaximum(v, total)
	}
	var now []Member
	for _, m := range v.interrupted {
		drained := m.Drain.Phase == node.Done && m.Drain.UID == m.Node.UID && m.Node.Cordoned
		if drained && len(now) < surplus && replaceable(m) && !slices.Contains(v.SoFar.Refused, m.ID) {
			now = append(now, m)
		}
	}
	return t, Result{Decisions: termination(v, now, false, why)}
}

// drainInterrupted drains the nodes of members that Tencent Cloud reclaims, after the launch of
// their replacements. It also drains a node that was kept, since its instance disappears
// anyway.
func drainInterrupted(v View, t Tally) (_ Tally, r Result) {
	if missing := v.Declaration.Minimum - t.coming; len(v.interrupted) > 0 && missing > 0 {
		r.short(spotpool.BecauseReplacement, reason.ReplacedLater(reclaimed(v.interrupted), reason.Count(len(v.interrupted))))
	}
	for _, m := range v.interrupted {
		spent := m.Drain.TakenAt.IsZero() || m.Drain.TakenAt.Equal(m.TakenAt)
		switch {
		case m.Drain.Over() && m.Drain.UID == m.Node.UID && m.Node.Cordoned && spent:
		case slices.Contains(v.SoFar.Drained, m.ID):
			r.short(spotpool.BecauseDrain, reason.ReclaimedDraining(reclaimed([]Member{m}), m.Drain.Progress()))
		default:
			d := onNode(v, spotpool.KindDrain, m.ID, m.Match.Node, reclaimed([]Member{m}))
			d.TakenAt = m.TakenAt
			r.Decisions = append(r.Decisions, d)
		}
	}
	return t, r
}

// reclaimed says which members Tencent Cloud reclaims, and when the first of them.
func reclaimed(interrupted []Member) reason.Reason {
	first := slices.MinFunc(interrupted, func(a, b Member) int { return a.TakenAt.Compare(b.TakenAt) })
	return reason.Reclaimed(ids(interrupted), reason.Instant{Time: first.TakenAt})
}
