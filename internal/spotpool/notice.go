package spotpool

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// noticed notes which instances the cloud takes back soon, as their nodes say, and what
// is new of that for people. Their markets are avoided from then on, as after a reclaim.
// A notice counts as it was first seen, and until its time has passed by more than a
// while: a node that renews it changes nothing before it was seen without one. It is over
// as well where the instance ends, its node no longer says so, or was not seen; j must be
// a clone that has an entry for each instance found, in the same order.
func (j *Journal) noticed(d Declaration, found []ownInstance, of node.Matches, now time.Time) []string {
	var news []string
	for n, i := range found {
		k := &j.Known[n]
		k.TakenAt = time.Time{}
		match := of.Of(i.ID)
		if match.Standing == node.Present && match.Node.TakenAt.IsZero() {
			k.ToldTakenAt = time.Time{} // it was withdrawn
		}
		if d.Nodes == nil || match.Standing != node.Present || match.Node.TakenAt.IsZero() || !i.State.up() || i.ChargeType != Spot || k.Ended {
			continue
		}
		if !k.ToldTakenAt.IsZero() {
			k.TakenAt = node.ReclaimAt(k.ToldTakenAt, now)
			continue
		}
		k.TakenAt = node.ReclaimAt(match.Node.TakenAt, now)
		if k.TakenAt.IsZero() {
			continue
		}
		k.ToldTakenAt = k.TakenAt
		j.tell(j.about(now).Noticed(k.asNode(), k.TakenAt))
		*j = j.cool(Cooldown{Market: k.Market, Cause: CausedByReclaim, Detail: i.ID, Until: now.Add(time.Duration(d.Cooldown))})
		news = append(news, fmt.Sprintf("the cloud gave notice: it takes %s (%s) back at %s", i.ID, k.Market, instant(k.TakenAt)))
	}
	return news
}

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
	reason := cmp.Or(v.emptied, fmt.Sprintf("%d held is above maximum %d", held, v.Declaration.Maximum))
	return t, Result{Decisions: termination(v, now, false, reason)}
}

// drainDoomed decides to empty the nodes of members that the cloud takes back, after
// launches in their place: the pool ends only those above its maximum. A node that was kept before is
// drained as well, since it goes whatever is left on it.
func drainDoomed(v View, t Tally) (Tally, Result) {
	var r Result
	if missing := v.Declaration.Minimum - t.coming; len(v.doomed) > 0 && missing > 0 {
		r.shortf(BecauseReplacement, "%s, and others take %s place only later", taken(v.doomed), wording.Plural(len(v.doomed), "its", "their"))
	}
	for _, m := range v.doomed {
		spent := m.Drain.TakenAt.IsZero() || m.Drain.TakenAt.Equal(m.TakenAt)
		switch {
		case m.Drain.Over() && m.Drain.UID == m.Node.UID && m.Node.Cordoned && spent:
		case slices.Contains(v.SoFar.Drained, m.ID):
			r.shortf(BecauseDrain, "%s, and its node is drained: %s", taken([]Member{m}), m.Drain)
		default:
			r.Decisions = append(r.Decisions, Decision{
				Kind: KindDrain, Object: v.Declaration.Object(), Count: 1, InstanceIDs: []string{m.ID}, Node: &m.Match.Node, TakenAt: m.TakenAt,
				Reasons: []string{taken([]Member{m})},
			})
		}
	}
	return t, r
}

// taken says which members the cloud takes back, and when the first of them.
func taken(doomed []Member) string {
	first := slices.MinFunc(doomed, func(a, b Member) int { return a.TakenAt.Compare(b.TakenAt) })
	return fmt.Sprintf("the cloud takes %s back at %s", wording.Some(ids(doomed)), instant(first.TakenAt))
}
