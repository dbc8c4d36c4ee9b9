package spotpool

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// replaceFailed decides which instances are replaced since they never joined the
// cluster, or fail there: from then on they are no capacity, so that others are
// launched in their place. It takes that back of those that recover, and of all while
// replacing is suspended.
func (p *planner) replaceFailed() {
	d := p.Declaration
	if d.Nodes == nil {
		return
	}
	if !p.Observation.Cluster.Seen() {
		if len(p.plan.Members) > 0 {
			p.short(BecauseCluster, "the cluster was not seen: nothing is drained, replaced or ended")
		}
		return
	}
	suspended := p.plan.Nodes.ReplacingSuspended
	if suspended != "" {
		ends := "it goes on by itself once fewer fail"
		if p.plan.Journal.NeverJoining(d) != "" {
			ends = "it goes on once a node joins, the configuration changes, or somebody says gpupool release " + d.Key()
		}
		p.warnf("replacing is suspended: %s. Look at the nodes; %s", suspended, ends)
	}
	room := d.Nodes.MaxReplacementsPerRun - p.SoFar.Replaced
	for n := range p.plan.Members {
		m := &p.plan.Members[n]
		switch {
		case m.Replaced() && (suspended != "" || !m.Health.Failed()):
			p.setReplaced(m, time.Time{})
		case m.Replaced(), suspended != "", !m.Health.Failed(), m.Ending, m.Doomed(), !m.held() || !m.expendable() || !m.endable():
		case !p.mayLaunch():
			p.short(BecauseReplacement, "%s is to be replaced (%s) once something may be launched", m.ID, p.whyFailed(*m))
		case room <= 0:
			p.short(BecauseReplacement, "%s is to be replaced (%s) by the next run: max_replacements_per_run is %d", m.ID, p.whyFailed(*m),
				d.Nodes.MaxReplacementsPerRun)
		default:
			room--
			p.setReplaced(m, p.Now)
			p.plan.Journal.replaced(m.ID, p.whyFailed(*m), p.Now)
			p.plan.Replacing = append(p.plan.Replacing, m.ID)
			p.plan.Notices = append(p.plan.Notices, fmt.Sprintf("%s is replaced: %s", m.ID, p.whyFailed(*m)))
			if m.Health == node.Late {
				p.plan.Journal.NeverJoined = p.plan.Journal.NeverJoined.Late(m.ConfigurationTag, m.ID)
			}
		}
	}
}

// setReplaced notes since when a member is being replaced, and counts it accordingly.
func (p *planner) setReplaced(m *Member, since time.Time) {
	before := m.capacity()
	m.ReplacedSince = since
	if i, known := p.plan.Journal.find(m.ID); known {
		p.plan.Journal.Known[i].ReplacedSince = since
	}
	switch after := m.capacity(); {
	case before && !after:
		p.coming--
		p.plan.Capacity--
	case after && !before:
		p.coming++
		p.plan.Capacity++
	}
	p.plan.Shortfall = p.plan.missing()
}

// endReplaced ends what is replaced, once the pool has its minimum without it, or
// where maximum has no room for its replacement and that could be launched then.
func (p *planner) endReplaced() {
	replaced := p.choose(func(m Member) bool { return m.Replaced() && replaceable(m) })
	if len(replaced) == 0 {
		return
	}
	d := p.Declaration
	list := p.firstToEnd(replaced, len(replaced))
	if p.running < d.Minimum {
		// The replacement first, where it has room.
		blocked := d.Minimum - p.coming - max(0, d.Maximum-p.plan.Held-p.launched)
		n := 0
		for n < min(blocked, len(list)) {
			if missing, _ := p.missingAfter(list[:n+1], n+1); missing > 0 {
				break
			}
			n++
		}
		list = list[:n]
	}
	if len(list) == 0 {
		p.short(BecauseReplacement, "%s %s once others work in %s place", wording.Some(ids(replaced)), wording.Plural(len(replaced), "ends", "end"),
			wording.Plural(len(replaced), "its", "their"))
		return
	}
	p.terminate(list, false, "replaced: "+p.whyFailed(list[0]))
}

// whyFailed says why a member is replaced.
func (p *planner) whyFailed(m Member) string {
	name := m.Node.Name
	if i, known := p.plan.Journal.find(m.ID); known && name == "" { // its Node is gone
		name = p.plan.Journal.Known[i].Node.Name
	}
	return p.Declaration.Nodes.whyFailed(m.Health, name)
}

// whyFailed says why an instance in this health is replaced.
func (n Nodes) whyFailed(h node.Health, name string) string {
	if h == node.Late {
		return fmt.Sprintf("it never became a Ready node within the %s of join_timeout", n.JoinTimeout)
	}
	return fmt.Sprintf("its node %s has not been Ready for longer than the %s of unhealthy_timeout", name, n.UnhealthyTimeout)
}

// nodeCount counts the pool's nodes, and those of them that fail. An instance that never
// joined was never a node: how many of those are too many, their streak says, which a
// person can end.
func (p *planner) nodeCount() node.Count {
	var c node.Count
	for _, m := range p.plan.Members {
		if m.Health == node.Unknown || m.Ending || m.Doomed() {
			continue
		}
		c.Nodes++
		if m.Health == node.Unhealthy {
			c.Failed++
		}
	}
	return c
}
