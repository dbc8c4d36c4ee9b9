package fleet

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// updateNodes records what was observed of the instances as nodes. If the pool has no nodes,
// it keeps only drains to undo, and nodes that were observed with the pool's mark.
func (u *Update) updateNodes(d spotpool.Declaration) {
	for n, i := range u.evidence.Found {
		k := &u.Fleet.Known[n]
		if d.Nodes == nil {
			k.ReplacedSince = time.Time{}
			if match := u.evidence.Nodes.Of(i.ID); match.Standing != node.Present || match.Node.Pool != d.UID {
				k.Node = node.Status{}
			}
			if !k.Drain.Holds() {
				k.Drain = node.Drain{}
			}
			continue
		}
		before, match := k.Node, u.evidence.Nodes.Of(i.ID)
		k.Node = k.Node.After(match, i.State == spotpool.StateRunning, d.Nodes.Timeouts(), u.about.At)
		if match.Standing != node.Present {
			k.Drain = k.Drain.Missed()
		}
		if before.JoinedAt.IsZero() && !k.Node.JoinedAt.IsZero() {
			u.report(u.about.Joined(k.node()))
		}
		if !before.Proven && k.Node.Proven {
			u.Proven = append(u.Proven, Proven{i.ConfigurationTag, k.Node.JoinedAt})
		}
	}
}

// updateNotices records the interruption notices of nodes. The markets of their instances are
// avoided from then on, as after a loss.
//
// A notice counts with its first time, and until a while after it: a node that renews it
// changes nothing. It is over if the instance disappears, or its node has no notice or is not
// observed.
func (u *Update) updateNotices(d spotpool.Declaration) {
	now := u.about.At
	for n, i := range u.evidence.Found {
		k := &u.Fleet.Known[n]
		k.TakenAt = time.Time{}
		match := u.evidence.Nodes.Of(i.ID)
		present := match.Standing == node.Present
		if present && match.Node.TakenAt.IsZero() && k.noticed() {
			u.report(u.about.Noticed(history.Withdrawn, k.node(), k.ReportedTakenAt))
			k.ReportedTakenAt, k.Reach = time.Time{}, node.Reach{}
		}
		if d.Nodes == nil || !present || match.Node.TakenAt.IsZero() || !i.State.Up() || i.ChargeType != spotpool.Spot || k.Ended {
			continue
		}
		k.Reach = match.Node.Reach
		if !k.ReportedTakenAt.IsZero() {
			k.TakenAt = node.ReclaimAt(k.ReportedTakenAt, now)
			continue
		}
		k.TakenAt = node.ReclaimAt(match.Node.TakenAt, now)
		if k.TakenAt.IsZero() {
			continue
		}
		k.ReportedTakenAt = k.TakenAt
		u.report(u.about.Noticed(history.Notice, k.node(), k.TakenAt))
		u.Endings = append(u.Endings, Ending{
			Market: k.Market, IDs: []string{i.ID},
			notice: reason.InterruptionNotice(reason.Word(i.ID), reason.Word(k.Market.String()), reason.Instant{Time: k.TakenAt}),
		})
	}
}

// confirmAfter is how long after the first observation without an instance a second one must
// confirm that.
const confirmAfter = time.Minute

// updatePast records which former instances are certainly gone, which of their Nodes were
// deleted, and which another machine uses.
func (u *Update) updatePast(o spotpool.Observation) {
	for n, p := range u.Fleet.Past {
		p = p.absent(slices.Contains(o.Absent, p.InstanceID), u.about.At)
		seen, found := o.Cluster.Node(p.Node.UID)
		if o.Cluster.Observed() && !p.NodeDeletedAt.IsZero() && !found {
			u.report(because(u.about, reason.InstanceIsGone()).NodeDeleted(history.Node{InstanceID: p.InstanceID, Name: p.Node.Name, UID: p.Node.UID}))
			p.Node, p.NodeDeletedAt = node.Status{}, time.Time{}
		}
		// A kubelet that finds a Node of its host name registers as that Node, which keeps
		// the provider ID of the former instance.
		if p.Confirmed && !p.NodeInUse {
			p.NodeInUse = found && !seen.Silent() && (seen.ReadySince.After(p.AbsentSince) || u.evidence.Nodes.Contests(seen))
		}
		u.Fleet.Past[n] = p
	}
}

// absent records what an observation showed of a former instance.
func (p Past) absent(shown bool, now time.Time) Past {
	switch {
	case !shown || p.Node.UID == "":
	case p.AbsentSince.IsZero():
		p.AbsentSince = now
	case now.Sub(p.AbsentSince) >= confirmAfter:
		p.Confirmed = true
	}
	return p
}
