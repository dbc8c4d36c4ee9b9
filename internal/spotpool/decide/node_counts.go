package decide

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// PoolNodes is the health of a pool's instances as nodes.
type PoolNodes struct {
	// Whether the cluster could be observed.
	Observed bool `json:"observed"`
	// Absent if the cluster could not be observed.
	*NodeStates
	// Why failing nodes are not replaced. Absent if they are.
	ReplacingSuspended reason.Reason `json:"replacing_suspended,omitzero"`
	// ReplacingAwaits is why no replacement begins while it is unknown whether replacing must
	// be suspended.
	ReplacingAwaits reason.Reason `json:"-"`
	// Drains in progress, and kept nodes.
	Drains []DrainReport `json:"drains,omitempty"`
	// Instances with an interruption notice.
	Notices []NoticeReport `json:"notices,omitempty"`
}

// NoticeReport is an interruption notice.
type NoticeReport struct {
	// The instance.
	InstanceID string `json:"instance_id"`
	// The name of its node.
	Node string `json:"node"`
	// When Tencent Cloud reclaims it.
	TakenAt time.Time `json:"taken_at"`
	// How many pods of its node are deleted before that. Absent until the node's agent deletes them.
	Reach node.Reach `json:"reach,omitzero"`
}

// Reason says when Tencent Cloud reclaims the instance, and what the agent on its node reached.
func (r NoticeReport) Reason() reason.Reason {
	at, on := reason.Instant{Time: r.TakenAt}, reason.Node(r.Node)
	if r.Reach.At.IsZero() {
		return reason.NoticeAnnounced(at, on)
	}
	return reason.NoticeAnnouncedReach(at, on, r.Reach.Reason())
}

// For returns the health as a reader of the pool may see it.
func (n *PoolNodes) For(reader reason.Renderer) *PoolNodes {
	if n == nil {
		return nil
	}
	seen := *n
	seen.ReplacingSuspended, seen.ReplacingAwaits = reader.Redact(n.ReplacingSuspended), reader.Redact(n.ReplacingAwaits)
	seen.Drains = reason.Each(n.Drains, reader)
	return &seen
}

// NodeStates counts instances by their health as nodes. Each counts once, and draining ones
// again in Draining.
type NodeStates struct {
	// Instances that are Ready nodes.
	Ready int `json:"ready"`
	// Instances that have not joined yet.
	Joining int `json:"joining"`
	// Nodes that are not Ready, for less than `unhealthy_timeout`.
	Unready int `json:"unready"`
	// Instances that exceeded a timeout and will be replaced.
	Failing int `json:"failing"`
	// Instances whose node is not known.
	Unknown int `json:"unknown"`
	// Nodes that are draining, in addition to one of the counts above.
	Draining int `json:"draining"`
}

// All returns how many instances are nodes, or should be.
func (s NodeStates) All() int { return s.Ready + s.Joining + s.Unready + s.Failing + s.Unknown }

func (s NodeStates) String() string {
	parts := []string{fmt.Sprintf("%d ready", s.Ready)}
	for _, other := range []struct {
		n    int
		word string
	}{{s.Joining, "joining"}, {s.Unready, "not ready"}, {s.Failing, "failing"}, {s.Unknown, "ambiguous"}} {
		if other.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", other.n, other.word))
		}
	}
	text := strings.Join(parts, ", ")
	if s.Draining > 0 {
		text += fmt.Sprintf("; %d draining", s.Draining)
	}
	return text
}

// DrainReport is a drain, and what happens after it.
type DrainReport struct {
	node.Drain
	// When the drain times out, or when a kept node may be drained again. Absent while no time
	// counts.
	Until time.Time `json:"until,omitzero"`
	// The action for the instance on a timeout. Absent if Tencent Cloud reclaims it.
	OnTimeout node.OnTimeout `json:"on_timeout,omitempty"`
	// Whether the interruption notice for which the node is drained was withdrawn. The next
	// run uncordons the node.
	Withdrawn bool `json:"notice_withdrawn,omitempty"`
}

// Reason says what happens to the instance and when, what blocks the drain, and how far it is.
func (r DrainReport) Reason() reason.Reason {
	on, ended := reason.Node(r.Node), reason.Instant{Time: r.EndedAt}
	switch {
	case r.Withdrawn:
		return reason.NoticeWithdrawn(on)
	case r.Phase == node.Asked:
		return reason.DrainAsked(on, reason.Instant{Time: r.AskedAt}, r.Why)
	case r.Phase == node.Draining:
		return reason.DrainProceeds(r.then(), r.left(), on, reason.Instant{Time: r.Since}, r.Why)
	case r.Phase != node.Kept && !r.TakenAt.IsZero():
		return reason.DrainBeforeReclaim(reason.Instant{Time: r.TakenAt}, on, r.left(), ended)
	case r.Phase == node.Done:
		return reason.DrainDone(on, ended, r.Why)
	case r.Phase == node.TimedOut:
		return reason.DrainTimedOut(on, ended, r.left(), r.Why)
	}
	return reason.DrainKept(reason.Instant{Time: r.Until}, on, ended, r.left())
}

func (r DrainReport) left() reason.Reason {
	if len(r.Blocked) > 0 {
		return reason.PodsRemainBlocked(reason.Count(r.Left), reason.NewForeign(strings.Join(r.Blocked, ", ")))
	}
	return reason.PodsRemain(reason.Count(r.Left))
}

// then says what happens to the instance when the drain times out.
func (r DrainReport) then() reason.Reason {
	at := reason.Instant{Time: r.Until}
	switch {
	case !r.TakenAt.IsZero():
		return reason.DrainEndsByReclaim(at)
	case r.Until.IsZero():
		return reason.DrainTimeoutAwaits()
	case r.OnTimeout == node.Keep:
		return reason.DrainTimeoutKeeps(at)
	}
	return reason.DrainTimeoutEnds(at)
}

// For returns the drain as a reader of the pool may see it.
func (r DrainReport) For(reader reason.Renderer) DrainReport {
	r.Drain = r.Drain.For(reader)
	return r
}

// drainOf reports a member's drain; ok is false if there is none, or it is complete.
func drainOf(v View, m Member) (r DrainReport, ok bool) {
	r = DrainReport{Drain: m.Drain, Withdrawn: m.NoticeWithdrawn()}
	switch how := v.Declaration.Nodes.Drain; {
	case m.Drain.Rests(v.Now):
		r.Until = m.Drain.EndedAt.Add(node.KeptFor)
	case !m.Drain.Open():
		return r, false
	case m.Drain.Phase != node.Draining:
	case !m.Drain.TakenAt.IsZero():
		r.Until = m.Drain.TakenAt
	case m.Drain.Observed.Runs():
		r.Until, r.OnTimeout = m.Drain.Observed.Until(time.Duration(how.Timeout), v.Now), how.OnTimeout
	}
	return r, true
}

// poolNodes returns the health of the members as nodes; nil if the pool has no nodes.
func poolNodes(v View, list []Member) *PoolNodes {
	if v.Declaration.Nodes == nil {
		return nil
	}
	r := &PoolNodes{}
	if r.Observed = v.Observation.Cluster.Observed(); r.Observed {
		r.NodeStates = &NodeStates{}
		own := nodeCount(list)
		r.ReplacingSuspended = node.Suspended(v.Journal.EarlyFailures, own, own.Plus(v.OtherNodes))
		r.ReplacingAwaits = node.Awaited(own, own.Plus(v.OtherNodes))
	}
	for _, m := range list {
		if drain, ok := drainOf(v, m); ok {
			r.Drains = append(r.Drains, drain)
		}
		if !r.Observed || !m.counted() {
			continue
		}
		r.count(m)
		if m.Interrupted() {
			r.Notices = append(r.Notices, NoticeReport{InstanceID: m.ID, Node: m.Node.Name, TakenAt: m.TakenAt, Reach: m.Node.Reach})
		}
	}
	return r
}

func (s *NodeStates) count(m Member) {
	if m.Drain.Open() {
		s.Draining++
	}
	switch {
	case m.Match.Standing == node.Contested:
		s.Unknown++
	case m.Health == node.Healthy:
		s.Ready++
	case m.Health == node.Joining:
		s.Joining++
	case m.Health == node.Unready:
		s.Unready++
	case m.Health.Failed():
		s.Failing++
	}
}
