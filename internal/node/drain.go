package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Phase is the phase of a drain.
type Phase string

// The phases. The zero value is that of no drain.
//
//	asked ──cordoned──► draining ──nothing left──► done ──────► its instance may terminate
//	  │                    │
//	  │                    └──timeout──► timed_out ──terminate──► its instance may terminate
//	  │                         │
//	  │                         └──keep──► kept, for KeptFor
//	  └── no longer desired, in any phase ──► undone: uncordoned, and forgotten
//
// A drain for a notice is never kept, and terminates nothing: its time is up when Tencent Cloud reclaims the
// instance.
const (
	NoDrain  Phase = ""          // no drain
	Asked    Phase = "asked"     // requested, and not observed cordoned yet
	Draining Phase = "draining"  // cordoned: pods are evicted
	Done     Phase = "done"      // no pods are left
	TimedOut Phase = "timed_out" // timed out: the instance is terminated
	Kept     Phase = "kept"      // timed out: the node is kept for an hour
)

// KeptFor is the time before a node that was kept after a timeout of its drain is drained
// again.
const KeptFor = time.Hour

// OnTimeout says what becomes of an instance whose drain timed out.
type OnTimeout string

// The values of on_timeout.
const (
	Terminate OnTimeout = "terminate"
	Keep      OnTimeout = "keep"
)

// Drain is the drain of one node.
type Drain struct {
	// The instance that will be terminated after the drain.
	InstanceID string `json:"instance_id"`
	// The node's name.
	Node string `json:"node"`
	// The node's UID.
	UID string `json:"node_uid"`
	// Why it is drained.
	Why reason.Reason `json:"why"`
	// Whether the instance works and is replaced by a better one.
	Refresh bool `json:"refresh,omitempty"`
	// The phase of the drain.
	Phase Phase `json:"phase"`
	// When the drain was requested.
	AskedAt time.Time `json:"asked_at"`
	// When the node was first observed cordoned.
	Since time.Time `json:"draining_since,omitzero"`
	// How long it was observed cordoned. The timeout limits this time.
	Observed Elapsed `json:"observed,omitzero"`
	// The number of pods that are left.
	Left int `json:"pods_left,omitempty"`
	// Why they are left.
	Blocked []string `json:"blocked,omitempty"`
	// Whether the node was kept because Tencent Cloud refused to terminate the instance.
	Refused bool `json:"refused,omitempty"`
	// Whether a kept node takes new pods again.
	Uncordoned bool `json:"uncordoned,omitempty"`
	// When the drain was complete, timed out, or the node was kept.
	EndedAt time.Time `json:"ended_at,omitzero"`
	// When Tencent Cloud reclaims the instance. The drain lasts until then at most.
	TakenAt time.Time `json:"taken_at,omitzero"`
}

// Progress is the result of one attempt at a drain. The zero value is no result.
type Progress struct {
	Cordoned bool // seen so, with the pool's mark, by this attempt
	Observed bool // all of the node's pods were, after it was cordoned
	Left     int
	Blocked  []string
	// Untried says that some evictions could not be asked for: pods were not given their
	// time to go.
	Untried bool
	// Stuck says that all pods that are left were deleted, and that the node's kubelet does
	// not report.
	Stuck bool
}

// For returns the drain as a reader of the pool may see it.
func (d Drain) For(reader reason.Renderer) Drain {
	d.Why, d.Blocked = reader.Redact(d.Why), slices.Clone(d.Blocked)
	for n, why := range d.Blocked {
		d.Blocked[n] = reader.Hide(why)
	}
	return d
}

// After returns the drain after an attempt. Only an observation of a cordoned node completes it or lets it
// time out. An attempt without an observation changes nothing, and the time around it does not count. A node
// is not kept for stuck pods.
func (d Drain) After(p Progress, timeout time.Duration, on OnTimeout, now time.Time) Drain {
	if d.Phase == Asked && p.Cordoned {
		d.Phase, d.Since, d.Observed = Draining, now, newElapsed(now)
	}
	if d.Phase != Draining {
		return d
	}
	if !p.Observed || !p.Cordoned {
		return d.Missed()
	}
	d.Left, d.Blocked = p.Left, few(p.Blocked)
	if p.Untried && p.Left > 0 && d.TakenAt.IsZero() {
		d.Observed = Elapsed{} // also what passes until an attempt can ask for them
		return d
	}
	taken := !d.TakenAt.IsZero()
	d.Observed = d.Observed.Continue(now, timeout)
	late := d.Observed.For(now) >= timeout || taken && !now.Before(d.TakenAt)
	switch {
	case p.Left == 0:
		d.Phase, d.EndedAt = Done, now
	case late && on == Keep && !taken && !p.Stuck:
		d.Phase, d.EndedAt = Kept, now
	case late:
		d.Phase, d.EndedAt = TimedOut, now
	}
	return d
}

// Again is a drain from its beginning, after an observation of what is on its node now.
func (d Drain) Again(p Progress, now time.Time) Drain {
	return Drain{
		InstanceID: d.InstanceID, Node: d.Node, UID: d.UID, Why: d.Why, Refresh: d.Refresh, TakenAt: d.TakenAt,
		Phase: Asked, AskedAt: now, Left: p.Left, Blocked: few(p.Blocked),
	}
}

// Undoing returns the drain of a node that is about to be uncordoned. If a drain is requested again, it
// starts from its beginning, under its original time.
func (d Drain) Undoing() Drain {
	if !d.Open() {
		return d
	}
	again := d.Again(Progress{Left: d.Left}, d.AskedAt)
	again.Blocked = d.Blocked
	return again
}

// Missed is the drain after an observation without its node, or an attempt that failed.
func (d Drain) Missed() Drain {
	if d.Phase == Draining {
		d.Observed = d.Observed.Missed()
	}
	return d
}

// blockedAtMost bounds how many reasons are stored why pods are still there.
const blockedAtMost = 5

// few are the first of many texts, and how many more there are.
func few(texts []string) []string {
	if len(texts) <= blockedAtMost {
		return texts
	}
	return append(slices.Clone(texts[:blockedAtMost]), fmt.Sprintf("%d more", len(texts)-blockedAtMost))
}

// Ends reports whether the instance may terminate now.
func (d Drain) Ends() bool { return d.TakenAt.IsZero() && d.Over() }

// Over reports whether nothing more is evicted for it.
func (d Drain) Over() bool { return d.Phase == Done || d.Phase == TimedOut }

// Open reports whether the drain keeps new pods off its node. It must be undone if it is
// no longer desired.
func (d Drain) Open() bool {
	switch d.Phase {
	case Asked, Draining, Done, TimedOut:
		return true
	}
	return false
}

// Holds reports whether there may be something to undo on its node.
func (d Drain) Holds() bool { return d.Open() || d.Phase == Kept && !d.Uncordoned }

// WhyKept returns why a node was kept.
func (d Drain) WhyKept() reason.Reason {
	if d.Refused {
		return reason.KeptEndRefused()
	}
	return reason.KeptTimedOut()
}

// Rests reports whether the node was kept recently, and is not to be drained again
// yet.
func (d Drain) Rests(now time.Time) bool { return d.Phase == Kept && now.Sub(d.EndedAt) < KeptFor }

// Progress returns its phase, and the pods that are left.
func (d Drain) Progress() reason.Reason {
	if d.Left > 0 {
		return reason.DrainLeft(reason.Node(d.Node), reason.Word(d.Phase), reason.Count(d.Left))
	}
	return reason.DrainPhase(reason.Node(d.Node), reason.Word(d.Phase))
}
