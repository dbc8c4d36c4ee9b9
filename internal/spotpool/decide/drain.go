package decide

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// splitDrained splits members that are to be terminated into those that can be now, and
// those whose nodes must be drained first. A member of neither is kept, and the result says
// why: the cluster is unknown, its node is ambiguous, or its drain timed out. A node that was
// uncordoned since its drain is drained again.
func splitDrained(v View, t Tally, list []Member, because reason.Reason) (now, drains []Member, r Result) {
	if v.Declaration.Nodes == nil {
		return list, nil, r
	}
	refused := endRefused(v, t)
	for _, m := range list {
		switch m.Match.Standing {
		case node.Unseen:
			r.short(spotpool.BecauseCluster, reason.ClusterUnobserved())
			continue
		case node.Contested:
			r.short(spotpool.BecauseCluster, reason.NodeAmbiguous(reason.Word(m.ID), because, m.Match.Why))
			continue
		case node.Present:
			if m.State != spotpool.StateRunning && m.State != spotpool.StateServiceLiveMigrate {
				break // nothing runs there
			}
			if m.Drain.Rests(v.Now) && !v.overrides(m) {
				r.short(spotpool.BecauseDrain, reason.NodeKept(reason.Word(m.ID), reason.Instant{Time: m.Drain.EndedAt}, m.Drain.WhyKept()))
				continue
			}
			if !refused.IsZero() && !m.Drain.Open() {
				r.short(spotpool.BecauseDrain, reason.NodeNotDrained(reason.Word(m.ID), because, refused))
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

// overrides reports whether an operator has a kept node drained again at once.
func (v View) overrides(m Member) bool {
	if m.Drain.Refused {
		return v.SoFar.Insists
	}
	return v.SoFar.Destroys && !slices.Contains(v.SoFar.Tried, m.ID)
}

// drain drains the nodes of members that are to be terminated, each once in a run.
func drain(v View, list []Member, refresh bool, because reason.Reason) (r Result) {
	for _, m := range list {
		if slices.Contains(v.SoFar.Drained, m.ID) {
			r.short(spotpool.BecauseDrain, reason.NodeDraining(reason.Word(m.ID), because, m.Drain.Progress()))
			continue
		}
		why := reason.Reasons{because, reason.Chosen(reason.Some{describe(m)})}
		if m.Drain.Phase == node.Draining {
			why = append(why, reason.DrainingSince(reason.Instant{Time: m.Drain.Since}, reason.Count(m.Drain.Left)))
		}
		d := onNode(v, spotpool.KindDrain, m.ID, m.Match.Node, why...)
		d.Refresh = refresh
		r.Decisions = append(r.Decisions, d)
	}
	return r
}

// onNode returns a decision about the node of one instance.
func onNode(v View, kind spotpool.Kind, id string, n node.Node, reasons ...reason.Reason) spotpool.Decision {
	return spotpool.Decision{Kind: kind, Object: v.Declaration.Object(), Count: 1, InstanceIDs: []string{id}, Node: &n, Reasons: reasons}
}

// endRefused says why no further node is drained: Tencent Cloud refused to terminate an
// instance after its drain, and may refuse the next. It is zero if an operator retries.
func endRefused(v View, t Tally) reason.Reason {
	for _, m := range t.members {
		asksAgain := v.SoFar.Insists && !slices.Contains(v.SoFar.Refused, m.ID)
		if m.Drain.Refused && m.Drain.Rests(v.Now) && !asksAgain {
			return reason.EndRefused(reason.Word(m.ID), reason.Instant{Time: m.Drain.EndedAt})
		}
	}
	return reason.Reason{}
}

// Chooses reports whether the plan terminates an instance, or drains a node, that was not
// chosen before.
func (p Plan) Chooses() bool {
	return slices.ContainsFunc(p.Decisions, func(d spotpool.Decision) bool {
		return (d.Kind == spotpool.KindTerminate || d.Kind == spotpool.KindDrain) &&
			slices.ContainsFunc(d.InstanceIDs, func(id string) bool { return !p.Journal.DrainOf(id).Open() })
	})
}
