package decide

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
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

func (r NoticeReport) String() string {
	text := fmt.Sprintf("%s: Tencent Cloud reclaims it at %s; its node is %s", r.InstanceID, wording.Instant(r.TakenAt), r.Node)
	if !r.Reach.At.IsZero() {
		text += "; " + r.Reach.String()
	}
	return text
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

// String says what happens to the instance and when, what blocks the drain, and how far it is.
func (r DrainReport) String() string {
	if r.Withdrawn {
		return fmt.Sprintf("its interruption notice was withdrawn: the next run uncordons its node %s", r.Node)
	}
	switch r.Phase {
	case node.Asked:
		return fmt.Sprintf("its node %s will be drained, as requested at %s (%s)", r.Node, wording.Instant(r.AskedAt), r.Why)
	case node.Draining:
		return fmt.Sprintf("%s; %s; its node %s has been draining since %s (%s)", r.timeoutAction(), r.left(), r.Node, wording.Instant(r.Since), r.Why)
	case node.Done, node.TimedOut:
		if !r.TakenAt.IsZero() {
			return fmt.Sprintf("at %s Tencent Cloud reclaims it; its node %s has had %s since %s", wording.Instant(r.TakenAt), r.Node, r.left(),
				wording.Instant(r.EndedAt))
		}
	}
	switch r.Phase {
	case node.Done:
		return fmt.Sprintf("the next run terminates it: its node %s was drained at %s (%s)", r.Node, wording.Instant(r.EndedAt), r.Why)
	case node.TimedOut:
		return fmt.Sprintf("the next run terminates it: the drain of its node %s timed out at %s with %s (%s)", r.Node, wording.Instant(r.EndedAt), r.left(),
			r.Why)
	case node.Kept:
		return fmt.Sprintf("drain.on_timeout keeps it: it is not drained again before %s; the drain of its node %s timed out at %s with %s",
			wording.Instant(r.Until), r.Node, wording.Instant(r.EndedAt), r.left())
	}
	return ""
}

func (r DrainReport) left() string {
	text := fmt.Sprintf("%d %s left", r.Left, wording.Plural(r.Left, "pod", "pods"))
	if len(r.Blocked) > 0 {
		text += " (" + strings.Join(r.Blocked, ", ") + ")"
	}
	return text
}

// timeoutAction says what happens to the instance when the drain times out.
func (r DrainReport) timeoutAction() string {
	at := "at " + wording.Instant(r.Until)
	switch {
	case !r.TakenAt.IsZero():
		return at + " Tencent Cloud reclaims it"
	case r.Until.IsZero():
		return "its timeout starts once a run can request all evictions and list the remaining pods"
	case r.OnTimeout == node.Keep:
		return at + " it is kept with its pods"
	}
	return at + " it is terminated with its pods"
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
