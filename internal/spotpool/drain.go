package spotpool

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// drained splits members that are to end into those that may now, and those whose
// nodes are to be emptied first: it decides that. Where that can't be told, or the
// drain of a node timed out and it is kept, the member does not end. Nor does one whose
// node somebody has let take new pods again since it was drained. It returns what ends,
// and all that is on its way out.
func (p *planner) drained(list []Member, refresh bool, reason string) (now, going []Member) {
	d := p.Declaration
	if d.Nodes == nil {
		return list, list
	}
	var drains []Member
	for _, m := range list {
		switch m.Match.Standing {
		case node.Unseen:
			p.short(BecauseCluster, "the cluster was not seen: nothing is drained, replaced or ended")
			continue
		case node.Contested:
			p.short(BecauseCluster, "%s is to end (%s), and whose node it is can't be told: %s", m.ID, reason, m.Match.Why)
			continue
		case node.Present:
			if m.State != StateRunning && m.State != StateServiceLiveMigrate {
				break // nothing runs there
			}
			if m.Drain.Rests(p.Now) && (!m.Drain.Refused || !p.SoFar.Insists) {
				p.short(BecauseDrain, "%s was kept at %s (%s): it is drained again an hour later", m.ID, instant(m.Drain.EndedAt), m.Drain.WhyKept())
				continue
			}
			if why := p.endsRefused(); why != "" && !m.Drain.Open() {
				p.short(BecauseDrain, "%s is to end (%s), and its node is not drained for it: %s", m.ID, reason, why)
				continue
			}
			if !m.Drain.Ends() || m.Drain.UID != m.Node.UID || !m.Node.Cordoned && !slices.Contains(p.SoFar.Drained, m.ID) {
				drains = append(drains, m)
				continue
			}
		}
		now = append(now, m)
	}
	for _, m := range drains {
		p.wanted[m.ID] = true
		if slices.Contains(p.SoFar.Drained, m.ID) {
			p.short(BecauseDrain, "%s is to end (%s), and its node is drained before: %s", m.ID, reason, m.Drain)
			continue
		}
		why := []string{reason, "chosen: " + describe(m)}
		if m.Drain.Phase == node.Draining {
			why = append(why, fmt.Sprintf("draining since %s, %d %s left", instant(m.Drain.Since), m.Drain.Left, wording.Plural(m.Drain.Left, "pod", "pods")))
		}
		p.plan.Decisions = append(p.plan.Decisions, Decision{
			Kind: KindDrain, Object: d.Object(), Count: 1, InstanceIDs: []string{m.ID}, Refresh: refresh, Node: &m.Match.Node, Reasons: why,
		})
	}
	return now, append(now[:len(now):len(now)], drains...)
}

// endsRefused says why no further node is drained: the cloud refused to end an instance
// whose node was drained for it, and may refuse the next. It is empty where it did not,
// or where a person asks again.
func (p *planner) endsRefused() string {
	for _, m := range p.plan.Members {
		asksAgain := p.SoFar.Insists && !slices.Contains(p.SoFar.Refused, m.ID)
		if m.Drain.Refused && m.Drain.Rests(p.Now) && !asksAgain {
			return fmt.Sprintf("the cloud refused to end %s at %s, and is asked again an hour later, or by the next apply", m.ID, instant(m.Drain.EndedAt))
		}
	}
	return ""
}

// undo decides to make nodes usable again that the pool cordoned for an end which is
// not wanted any more, or that were kept. What somebody else cordoned is theirs. Where
// a step of this run left the rest for later, the ends of replacements are wanted
// still.
func (p *planner) undo() {
	for _, n := range p.Observation.Cluster.Nodes {
		if n.CordonedBy == "" || n.CordonedBy != p.Declaration.UID {
			continue
		}
		m, found := p.memberOf(n)
		why := "its end is not wanted any more"
		switch {
		case slices.Contains(p.SoFar.Uncordoned, n.Name):
			p.plan.StillCordoned = append(p.plan.StillCordoned, n.Name)
			continue
		case !found:
			if m.ID = node.ParseProviderID(n.ProviderID).InstanceID; p.gone(n) {
				continue
			}
			why = "its instance is not the pool's any more"
		case p.ends(m):
			continue
		case m.Drain.Phase == node.Kept:
			why = m.Drain.WhyKept()
		}
		p.plan.Decisions = append(p.plan.Decisions, Decision{
			Kind: KindUncordon, Object: p.Declaration.Object(), Count: 1, InstanceIDs: []string{m.ID}, Node: &n, Reasons: []string{why},
		})
	}
}

// ends reports whether a member is on its way out, or is to be once its node is empty.
func (p *planner) ends(m Member) bool {
	return m.Ending || m.State.Ending() || p.ending[m.ID] || p.wanted[m.ID] || p.paused && m.Drain.Refresh && m.Drain.Open()
}

// forgetUnbegun forgets drains that are not wanted any more, and that came to nothing
// that could be undone.
func (p *planner) forgetUnbegun() {
	if !p.Observation.Cluster.Seen() {
		return
	}
	for n := range p.plan.Members {
		m := &p.plan.Members[n]
		cordoned := slices.ContainsFunc(p.Observation.Cluster.Nodes, func(n node.Node) bool {
			return n.UID == m.Drain.UID && n.CordonedBy == p.Declaration.UID
		})
		if m.Drain.Holds() && !cordoned && !p.ends(*m) {
			p.plan.Journal = p.plan.Journal.Uncordoned(m.ID, p.Now)
			m.Drain = p.plan.Journal.DrainOf(m.ID)
		}
	}
}

// gone reports whether a node's instance is gone, as far as was seen: nothing will run
// on it any more.
func (p *planner) gone(n node.Node) bool {
	return slices.ContainsFunc(p.plan.Journal.Past, func(past Past) bool { return past.Node.UID == n.UID && !past.AbsentSince.IsZero() })
}

// memberOf is the member that a node is, or was when its drain began.
func (p *planner) memberOf(n node.Node) (Member, bool) {
	at := slices.IndexFunc(p.plan.Members, func(m Member) bool {
		return m.Drain.UID == n.UID || m.Match.Standing == node.Present && m.Node.UID == n.UID
	})
	if at < 0 {
		return Member{}, false
	}
	return p.plan.Members[at], true
}

// Chooses reports whether the plan chooses an instance to end, or a node to drain for
// that, which was not chosen before.
func (p Plan) Chooses() bool {
	return slices.ContainsFunc(p.Decisions, func(d Decision) bool {
		return (d.Kind == KindTerminate || d.Kind == KindDrain) &&
			slices.ContainsFunc(d.InstanceIDs, func(id string) bool { return !p.Journal.DrainOf(id).Open() })
	})
}
