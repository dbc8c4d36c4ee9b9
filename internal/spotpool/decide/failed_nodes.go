package decide

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// replaceFailed decides which instances are replaced because they never joined the cluster,
// or fail there. From then on they are not capacity, so that replacements are launched. It
// reverts that for instances that recover, and for all while replacing is suspended.
func replaceFailed(v View, t Tally) (_ Tally, r Result) {
	d := v.Declaration
	if d.Nodes == nil || v.drains() {
		return t, r
	}
	if !v.Observation.Cluster.Observed() {
		if len(t.members) > 0 {
			r.short(spotpool.BecauseCluster, reason.ClusterUnobserved())
		}
		return t, r
	}
	suspended := v.nodes.ReplacingSuspended
	switch pool := reason.Word(d.Key()); {
	case suspended.IsZero():
	case !v.Journal.FailingEarly(d).IsZero():
		r.warn(reason.ReplacingSuspendedEarly(suspended, pool))
	default:
		r.warn(reason.ReplacingSuspended(suspended, pool))
	}
	var changes []fleet.Replacement
	var cooldowns markets.Cooldowns // of the markets of failed nodes
	room := d.Nodes.MaxReplacementsPerRun - v.SoFar.Replaced
	for _, m := range t.members {
		switch {
		case m.Replaced() && (!suspended.IsZero() || !m.Health.Failed()):
			changes = append(changes, fleet.Replacement{InstanceID: m.ID})
		case m.Replaced(), !suspended.IsZero(), !m.Health.Failed(), m.Ending, m.Interrupted(), !m.counted() || !m.expendable() || !m.endable():
		case !v.nodes.ReplacingAwaits.IsZero():
			r.short(spotpool.BecauseReplacement, reason.ReplacingAwaits(reason.Word(m.ID), whyFailed(v, m), v.nodes.ReplacingAwaits))
		case !v.mayLaunch():
			r.short(spotpool.BecauseReplacement, reason.ReplacedOnceLaunchable(reason.Word(m.ID), whyFailed(v, m)))
		case room <= 0:
			r.short(spotpool.BecauseReplacement,
				reason.ReplacedByNextRun(reason.Word(m.ID), whyFailed(v, m), reason.Count(d.Nodes.MaxReplacementsPerRun)))
		default:
			room--
			why := whyFailed(v, m)
			changes = append(changes, fleet.Replacement{
				InstanceID: m.ID, Configuration: spotpool.UnknownConfigurationTag(d.Configuration), Since: v.Now, Why: why,
				Early: !m.Drifted && !v.proven(m),
			})
			cooldowns = append(cooldowns, markets.ForFailedNode(m.Market(), m.ID, v.Now.Add(time.Duration(d.Cooldown))))
			r.Replacing = append(r.Replacing, m.ID)
			r.Messages = append(r.Messages, reason.NeedsReplacement(reason.Word(m.ID), why))
		}
	}
	if len(changes) > 0 {
		r.Notes = append(r.Notes, func(j journal.Journal) journal.Journal { return j.Replace(changes, cooldowns) })
	}
	return t.replace(changes, cooldowns), r
}

// noteSuspension records in the view's journal since when replacing is suspended. The
// messages say that it resumed. Without an observation nothing changes.
func (v View) noteSuspension() (_ View, messages reason.Reasons) {
	switch {
	case v.nodes == nil:
		v.Journal.SuspendedSince = time.Time{}
	case v.nodes.Observed:
		j, ended := v.Journal.Suspend(v.nodes.ReplacingSuspended, v.Now)
		if v.Journal = j; !ended.IsZero() {
			messages = append(messages, reason.ReplacingResumed(reason.Instant{Time: ended}))
		}
	}
	return v, messages
}

// proven reports whether a member's node has proved to work.
func (v View) proven(m Member) bool {
	known, _ := v.Journal.Of(m.ID)
	return known.Node.Proven
}

// replace counts members as being replaced, or as capacity again.
func (t Tally) replace(changes []fleet.Replacement, cooldowns markets.Cooldowns) Tally {
	if len(changes) == 0 {
		return t
	}
	t.members = slices.Clone(t.members)
	for _, c := range cooldowns {
		t.cooldowns = t.cooldowns.Add(c)
	}
	for _, c := range changes {
		m := &t.members[slices.IndexFunc(t.members, func(m Member) bool { return m.ID == c.InstanceID })]
		before := m.capacity()
		m.ReplacedSince = c.Since
		switch after := m.capacity(); {
		case before && !after:
			t.coming--
			t.capacity--
		case after && !before:
			t.coming++
			t.capacity++
		}
	}
	return t
}

// endReplaced terminates replaced members once the pool has its minimum without them. It
// does so earlier if maximum has no room for their replacements, which could be launched
// then.
func endReplaced(v View, t Tally) (_ Tally, r Result) {
	replaced := choose(v, t, func(m Member) bool { return m.Replaced() && replaceable(m) })
	if len(replaced) == 0 {
		return t, r
	}
	d := v.Declaration
	list := pickTerminations(t, replaced, len(replaced))
	if t.running < d.Minimum {
		// The replacement first, if there is room.
		blocked := d.Minimum - t.coming - max(0, d.Maximum-t.total-t.launched)
		n := 0
		for n < min(blocked, len(list)) {
			if missing, _ := missingReplacements(v, t, list[:n+1], n+1); missing > 0 {
				break
			}
			n++
		}
		list = list[:n]
	}
	if len(list) == 0 {
		r.short(spotpool.BecauseReplacement, reason.TerminatedOnceReplaced(ids(replaced)))
		return t, r
	}
	return terminate(v, t, list, false, reason.Replaced(whyFailed(v, list[0])))
}

func whyFailed(v View, m Member) reason.Reason {
	name := m.Node.Name
	if k, known := v.Journal.Of(m.ID); known && name == "" { // its Node is gone
		name = k.Node.Name
	}
	return failure(*v.Declaration.Nodes, m.Health, name)
}

// failure says why an instance in this health is replaced.
func failure(n spotpool.Nodes, h node.Health, name string) reason.Reason {
	if h == node.Late {
		return reason.NeverJoined(reason.Duration(n.JoinTimeout))
	}
	return reason.NodeUnready(reason.Node(name), reason.Duration(n.UnhealthyTimeout))
}

// nodeCount counts the pool's nodes, and those of them that fail, or may soon. Instances that
// never joined are not nodes; see [node.Streak] for them.
func nodeCount(list []Member) node.Count {
	var c node.Count
	for _, m := range list {
		if m.Health == node.Unknown || m.Ending || m.Interrupted() {
			continue
		}
		c.Nodes++
		switch m.Health {
		case node.Unhealthy:
			c.Failed++
		case node.Unready:
			c.Unready++
		}
	}
	return c
}
