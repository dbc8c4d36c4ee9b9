package decide

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// letDoomedLeave counts members that the cloud takes back soon as on their way out: they
// leave by themselves.
func letDoomedLeave(v View, t Tally) (Tally, Result) { return t.leave(v.doomed), Result{} }

// endDoomed decides to terminate members that the cloud takes back, where the pool holds
// more than its maximum and their nodes are drained already: so that a node cannot keep an
// instance by a notice.
func endDoomed(v View, t Tally) (Tally, Result) {
	held := t.total - v.unseen
	surplus := held - v.Declaration.Maximum
	var now []Member
	for _, m := range v.doomed {
		drained := m.Drain.Phase == node.Done && m.Drain.UID == m.Node.UID && m.Node.Cordoned
		if drained && len(now) < surplus && replaceable(m) && !slices.Contains(v.SoFar.Refused, m.ID) {
			now = append(now, m)
		}
	}
	reason := cmp.Or(v.emptied, aboveMaximum(v, held))
	return t, Result{Decisions: termination(v, now, false, reason)}
}

// drainDoomed decides to empty the nodes of members that the cloud takes back, after
// launches in their place: the pool ends only those above its maximum. A node that was kept before is
// drained as well, since it goes whatever is left on it.
func drainDoomed(v View, t Tally) (_ Tally, r Result) {
	if missing := v.Declaration.Minimum - t.coming; len(v.doomed) > 0 && missing > 0 {
		r.shortf(spotpool.BecauseReplacement, "%s, and others take %s place only later", taken(v.doomed), wording.Plural(len(v.doomed), "its", "their"))
	}
	for _, m := range v.doomed {
		spent := m.Drain.TakenAt.IsZero() || m.Drain.TakenAt.Equal(m.TakenAt)
		switch {
		case m.Drain.Over() && m.Drain.UID == m.Node.UID && m.Node.Cordoned && spent:
		case slices.Contains(v.SoFar.Drained, m.ID):
			r.shortf(spotpool.BecauseDrain, "%s, and its node is drained: %s", taken([]Member{m}), m.Drain)
		default:
			d := onNode(v, spotpool.KindDrain, m.ID, m.Match.Node, taken([]Member{m}))
			d.TakenAt = m.TakenAt
			r.Decisions = append(r.Decisions, d)
		}
	}
	return t, r
}

// taken says which members the cloud takes back, and when the first of them.
func taken(doomed []Member) string {
	first := slices.MinFunc(doomed, func(a, b Member) int { return a.TakenAt.Compare(b.TakenAt) })
	return fmt.Sprintf("the cloud takes %s back at %s", wording.Some(ids(doomed)), wording.Instant(first.TakenAt))
}
