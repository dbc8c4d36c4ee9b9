package decide

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// drained splits members that are to end into those that may now, and those whose
// nodes are to be emptied first. Where that can't be told, or the drain of a node timed
// out and it is kept, the member does not end, and the result says so. Nor does one whose
// node somebody has let take new pods again since it was drained.
func drained(v View, t Tally, list []Member, reason string) (now, drains []Member, r Result) {
	if v.Declaration.Nodes == nil {
		return list, nil, r
	}
	refused := endRefused(v, t)
	for _, m := range list {
		switch m.Match.Standing {
		case node.Unseen:
			r.shortf(spotpool.BecauseCluster, "the cluster was not seen: nothing is drained, replaced or ended")
			continue
		case node.Contested:
			r.shortf(spotpool.BecauseCluster, "%s is to end (%s), and whose node it is can't be told: %s", m.ID, reason, m.Match.Why)
			continue
		case node.Present:
			if m.State != spotpool.StateRunning && m.State != spotpool.StateServiceLiveMigrate {
				break // nothing runs there
			}
			if m.Drain.Rests(v.Now) && !v.overrides(m) {
				r.shortf(spotpool.BecauseDrain, "%s was kept at %s (%s): it is drained again an hour later", m.ID, wording.Instant(m.Drain.EndedAt),
					m.Drain.WhyKept())
				continue
			}
			if refused != "" && !m.Drain.Open() {
				r.shortf(spotpool.BecauseDrain, "%s is to end (%s), and its node is not drained for it: %s", m.ID, reason, refused)
				continue
			}
			if !m.Drain.Ends() || m.Drain.UID != m.Node.UID || !m.Node.Cordoned && !slices.Contains(v.SoFar.Drained, m.ID) {
				drains = append(drains, m)
				continue
			}
		}
		now = append(now, m)
	}
	return now, drains, r
}

// overrides reports whether a person has a node drained again before it has rested.
func (v View) overrides(m Member) bool {
	if m.Drain.Refused {
		return v.SoFar.Insists
	}
	return v.SoFar.Destroys && !slices.Contains(v.SoFar.Tried, m.ID)
}

// drain decides to empty the nodes of members that are to end, of which no drain was
// worked on in this run.
func drain(v View, list []Member, refresh bool, reason string) (r Result) {
	for _, m := range list {
		if slices.Contains(v.SoFar.Drained, m.ID) {
			r.shortf(spotpool.BecauseDrain, "%s is to end (%s), and its node is drained before: %s", m.ID, reason, m.Drain)
			continue
		}
		why := []string{reason, "chosen: " + describe(m)}
		if m.Drain.Phase == node.Draining {
			why = append(why, fmt.Sprintf("draining since %s, %d %s left", wording.Instant(m.Drain.Since), m.Drain.Left, wording.Plural(m.Drain.Left, "pod",
				"pods")))
		}
		d := onNode(v, spotpool.KindDrain, m.ID, m.Match.Node, why...)
		d.Refresh = refresh
		r.Decisions = append(r.Decisions, d)
	}
	return r
}

// onNode is a decision about the node of one instance.
func onNode(v View, kind spotpool.Kind, id string, n node.Node, reasons ...string) spotpool.Decision {
	return spotpool.Decision{Kind: kind, Object: v.Declaration.Object(), Count: 1, InstanceIDs: []string{id}, Node: &n, Reasons: reasons}
}

// endRefused says why no further node is drained: the cloud refused to end an instance
// whose node was drained for it, and may refuse the next. It is empty where it did not,
// or where a person asks again.
func endRefused(v View, t Tally) string {
	for _, m := range t.members {
		asksAgain := v.SoFar.Insists && !slices.Contains(v.SoFar.Refused, m.ID)
		if m.Drain.Refused && m.Drain.Rests(v.Now) && !asksAgain {
			return fmt.Sprintf("the cloud refused to end %s at %s, and is asked again an hour later, or by the next apply", m.ID,
				wording.Instant(m.Drain.EndedAt))
		}
	}
	return ""
}

// Chooses reports whether the plan chooses an instance to end, or a node to drain for
// that, which was not chosen before.
func (p Plan) Chooses() bool {
	return slices.ContainsFunc(p.Decisions, func(d spotpool.Decision) bool {
		return (d.Kind == spotpool.KindTerminate || d.Kind == spotpool.KindDrain) &&
			slices.ContainsFunc(d.InstanceIDs, func(id string) bool { return !p.Journal.DrainOf(id).Open() })
	})
}
