package decide

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// Condition is the meaning of an instance's state to its pool. Running and launching instances
// count toward the minimum. All but failed and terminating ones count toward the maximum.
type Condition string

// The conditions. Running and launching instances are capacity. All but failed and
// terminating ones are counted in the total.
const (
	Running     Condition = "running"     // it runs
	Launching   Condition = "launching"   // it starts
	Stuck       Condition = "stuck"       // it has been starting for longer than `launch_timeout`
	Restricted  Condition = "restricted"  // it runs, but is expired or isolated
	Stopped     Condition = "stopped"     // it is stopped
	Isolated    Condition = "isolated"    // it is in the recycle bin
	Failed      Condition = "failed"      // its launch failed
	Terminating Condition = "terminating" // it terminates
	Unusable    Condition = "unusable"    // any other state
)

// Member is an instance of a spot pool.
type Member struct {
	spotpool.Instance
	// The meaning of the state to the pool.
	Condition Condition `json:"condition"`
	// Whether its configuration differs from the declared one.
	Drifted bool `json:"drifted"`
	// Its hourly price.
	Price spotpool.Price `json:"hourly_price"`
	// The currency of the price. Absent if unknown.
	Currency spotpool.Currency `json:"currency,omitempty"`
	// Whether its termination was requested and is not visible yet.
	Ending bool `json:"ending,omitempty"`
	// Whether it is known only by its ID, because its tags have not arrived.
	Untagged bool `json:"untagged,omitempty"`
	// Until when an instance that no listing shows yet counts as launching. Then it counts as
	// lost. Absent once it is listed.
	UnlistedUntil time.Time `json:"unlisted_until,omitzero"`
	// The health of its node. Absent if unknown.
	Health node.Health `json:"node_health,omitempty"`
	// Its node.
	Node node.Node `json:"node,omitzero"`
	// The number of pods with GPUs on its node. Absent if they were not counted.
	GPUPods *int `json:"gpu_pods,omitempty"`
	// The drain of its node.
	Drain node.Drain `json:"drain,omitzero"`
	// Since when another instance is to replace it.
	ReplacedSince time.Time `json:"replaced_since,omitzero"`
	// When Tencent Cloud reclaims it, according to its interruption notice.
	TakenAt time.Time `json:"taken_at,omitzero"`

	// Available says that it runs and, if its pool has nodes, has been a Ready node for
	// node.MinReady. A refresh counts on it.
	Available bool `json:"-"`

	// Match is what is known of its node. Idle says that it has no pods with GPUs for
	// certain.
	Match node.Match `json:"-"`
	Idle  bool       `json:"-"`
}

// For returns the member as a reader of the pool may see it.
func (m Member) For(reader reason.Renderer) Member {
	m.Drain, m.OperationError = m.Drain.For(reader), reader.Hide(m.OperationError)
	return m
}

// Replaced reports whether it is being replaced.
func (m Member) Replaced() bool { return !m.ReplacedSince.IsZero() }

// Interrupted reports whether an interruption notice of the instance is in force.
func (m Member) Interrupted() bool { return !m.TakenAt.IsZero() }

// NoticeWithdrawn reports whether its node is drained for an interruption notice that was
// withdrawn: a run uncordons the node.
func (m Member) NoticeWithdrawn() bool {
	return m.Drain.Open() && !m.Drain.TakenAt.IsZero() && m.Match.Standing == node.Present && m.Node.TakenAt.IsZero()
}

// contested reports whether it is ambiguous which node the instance is: nothing is done to it.
func (m Member) contested() bool { return m.Match.Standing == node.Contested }

func (m Member) counted() bool { return m.Condition != Failed && m.Condition != Terminating }
func (m Member) capacity() bool {
	return (m.Condition == Running || m.Condition == Launching) && !m.Replaced() && !m.Interrupted()
}

// runs reports whether the instance runs and works, as far as is known, and its termination
// was not requested.
func (m Member) runs() bool {
	works := m.Health == node.Unknown || m.Health == node.Healthy || m.Health == node.Unready
	return m.Condition == Running && !m.Ending && works && !m.Replaced() && !m.Interrupted()
}

// works reports whether the instance is capacity, and its termination was not requested.
func (m Member) works() bool { return m.capacity() && !m.Ending }

// expendable reports whether the pool may choose the instance for termination, now or once
// its state allows it. An instance without the pool's tags is never chosen.
func (m Member) expendable() bool {
	return m.Protection() == "" && !m.Untagged && (m.endable() || m.Condition == Launching || m.State == spotpool.StateStopping)
}

// Cost returns the member's hourly price.
func (m Member) Cost() spotpool.Cost { return spotpool.Cost{Price: m.Price, Currency: m.Currency} }

// endable reports whether Tencent Cloud terminates instances in this state. It refuses those
// between two states (CVM, TerminateInstances, UnsupportedOperation.InstanceState…). Nothing
// is done in unknown states.
func (m Member) endable() bool {
	switch m.State {
	case spotpool.StateRunning, spotpool.StateStopped, spotpool.StateShutdown, spotpool.StateRescueMode, spotpool.StateServiceLiveMigrate:
		return true
	}
	return false
}

// members returns the pool's own instances.
func members(s Situation, u journal.Update, offers map[spotpool.Market]spotpool.Offer) []Member {
	configs := spotpool.NewConfigurations(s.Declaration, u.Journal.AcceptedConfigurations)
	list := make([]Member, len(u.Found))
	for n, i := range u.Found {
		k := u.Journal.Known[n]
		list[n] = Member{
			Instance:  i.Instance,
			Condition: condition(i.Instance, k.UnsettledSince, s.Declaration.LaunchTimeout, s.Now),
			Drifted:   configs.Drifted(i.ConfigurationTag),
			Price:     offers[i.Market()].Price,
			Currency:  s.Declaration.Currency,
			Untagged:  i.Untagged,
		}
		if i.Unlisted {
			list[n].UnlistedUntil = k.RecordedAt.Add(fleet.ListingLag)
		}
		match := u.Nodes.Of(i.ID)
		list[n].Match, list[n].Node, list[n].Drain = match, match.Node, k.Drain
		list[n].Idle = s.Observation.Cluster.Pods && match.Idle()
		if s.Observation.Cluster.Pods && match.Standing == node.Present {
			list[n].GPUPods = &match.Node.GPUPods
		}
		if s.Declaration.Nodes != nil {
			list[n].ReplacedSince, list[n].TakenAt = k.ReplacedSince, k.TakenAt
			list[n].Health = k.Node.Health(match, s.Declaration.Nodes.Timeouts(), s.Now)
		}
		list[n].Ending = k.Ended && list[n].counted() && list[n].Condition != Isolated
		list[n].Available = list[n].runs() && (s.Declaration.Nodes == nil || !list[n].contested() && k.Node.Available(s.Now))
	}
	return list
}

func condition(i spotpool.Instance, unsettledSince time.Time, timeout spotpool.Duration, now time.Time) Condition {
	since := unsettledSince
	switch i.State {
	case spotpool.StateRunning:
		if i.Restricted {
			return Restricted
		}
		return Running
	case spotpool.StatePending:
		if !i.LaunchedAt.IsZero() {
			since = i.LaunchedAt
		}
		fallthrough
	case spotpool.StateStarting, spotpool.StateRebooting:
		if now.Sub(since) >= time.Duration(timeout) {
			return Stuck
		}
		return Launching
	case spotpool.StateLaunchFailed:
		return Failed
	case spotpool.StateTerminating:
		return Terminating
	case spotpool.StateShutdown:
		return Isolated
	case spotpool.StateStopped, spotpool.StateStopping:
		return Stopped
	}
	return Unusable
}

// count counts the members, and the instances of pending launches that were not found yet.
func count(of spotpool.Bounds, list []Member, unseen int) spotpool.Counts {
	c := spotpool.Counts{Total: unseen}
	for _, m := range list {
		if !m.counted() {
			continue
		}
		c.Total++
		c.HourlyPrice += m.Price
		if m.capacity() {
			c.Capacity++
		}
		if m.Drifted {
			c.Drifted++
		}
	}
	c.Shortfall = of.Missing(c)
	return c
}

// Releasable returns the members whose tags can be removed for good. Tencent Cloud may still
// tag an instance that was not listed yet, or whose tags have not arrived within TagLag.
func (p Plan) Releasable(now time.Time) []string {
	var ids []string
	for _, m := range p.Members {
		k, known := p.Journal.Of(m.ID)
		if known && k.Seen && (k.Tagged || now.Sub(k.RecordedAt) > spotpool.TagLag) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
