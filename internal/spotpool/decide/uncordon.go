package decide

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// uncordon uncordons nodes that the pool cordoned, if their instances are no longer to be terminated, or were kept. It
// also uncordons those that another machine uses after their instances are gone. It ignores nodes that another actor
// cordoned. If the run takes further steps of a refresh later, their drains stay.
func uncordon(v View, t Tally) (_ Tally, r Result) {
	for _, n := range v.Observation.Cluster.Nodes {
		if n.CordonedBy == "" || n.CordonedBy != v.Declaration.UID {
			continue
		}
		m, found := memberOf(t.members, n)
		why := reason.NotTerminated()
		switch {
		case slices.Contains(v.SoFar.Uncordoned, n.Name):
			r.StillCordoned = append(r.StillCordoned, n.Name)
			continue
		case !found:
			m.ID = node.ParseProviderID(n.ProviderID).InstanceID
			past, gone := instanceGone(v.Journal, n)
			if gone && !v.inUse(past, n) {
				continue
			}
			if why = reason.NotOfPool(); gone {
				why = reason.UsedByOther()
			}
		case t.ends(m):
			continue
		case m.Drain.Phase == node.Kept:
			why = m.Drain.WhyKept()
		}
		r.Decisions = append(r.Decisions, onNode(v, spotpool.KindUncordon, m.ID, n, why))
	}
	return t, r
}

// memberOf returns the member of a node, by its match or its drain.
func memberOf(list []Member, n node.Node) (Member, bool) {
	at := slices.IndexFunc(list, func(m Member) bool {
		return m.Drain.UID == n.UID || m.Match.Standing == node.Present && m.Node.UID == n.UID
	})
	if at < 0 {
		return Member{}, false
	}
	return list[at], true
}

// forgetDrains forgets drains that are no longer needed, and that left no cordon.
func forgetDrains(v View, t Tally) (_ Tally, r Result) {
	if !v.Observation.Cluster.Observed() {
		return t, r
	}
	for _, m := range t.members {
		cordoned := slices.ContainsFunc(v.Observation.Cluster.Nodes, func(n node.Node) bool {
			return n.UID == m.Drain.UID && n.CordonedBy == v.Declaration.UID
		})
		if m.Drain.Holds() && !cordoned && !t.ends(m) {
			r.Notes = append(r.Notes, func(j journal.Journal) journal.Journal { return j.RecordUncordon(m.ID, v.Now) })
		}
	}
	return t, r
}

// instanceGone returns a node's instance that was observed to be gone; false if there is none.
func instanceGone(j journal.Journal, n node.Node) (fleet.Past, bool) {
	at := slices.IndexFunc(j.Past, func(past fleet.Past) bool { return past.Node.UID == n.UID && !past.AbsentSince.IsZero() })
	if at < 0 {
		return fleet.Past{}, false
	}
	return j.Past[at], true
}
