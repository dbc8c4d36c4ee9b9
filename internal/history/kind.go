package history

import "slices"

// Kind is the kind of an event.
type Kind string

// The kinds of events. Add a new one to Kinds, too.
const (
	Launch     Kind = "launch"      // Tencent Cloud accepted a launch
	Refused    Kind = "refused"     // Tencent Cloud refused a launch
	Begin      Kind = "started"     // an instance appeared
	Reclaim    Kind = "reclaim"     // Tencent Cloud reclaimed an instance, as an interruption notice announced
	Lost       Kind = "lost"        // an instance was reclaimed without a notice, or terminated or untagged by hand
	End        Kind = "terminated"  // an instance that the pool terminated is gone, or its launch failed
	Detach     Kind = "detach"      // an instance left its pool and keeps running
	Terminate  Kind = "terminate"   // the termination of instances was requested
	Adopt      Kind = "adopt"       // instances were adopted
	Create     Kind = "create"      // a pool or a budget was declared
	Update     Kind = "update"      // its declaration changed
	Delete     Kind = "delete"      // its deletion was begun
	Destroy    Kind = "destroy"     // it was destroyed
	Freeze     Kind = "freeze"      // blocking new pods was requested
	Frozen     Kind = "frozen"      // new pods are blocked, as observed
	Unfreeze   Kind = "unfreeze"    // new pods are no longer blocked
	Pause      Kind = "pause"       // pausing a workload was requested
	Paused     Kind = "paused"      // it is paused, or not in time
	Resume     Kind = "resume"      // it was resumed
	Evict      Kind = "evict"       // a pod's eviction was requested
	Evicted    Kind = "evicted"     // the pod terminates, or not in time
	Threshold  Kind = "threshold"   // a budget's usage reached an alert threshold
	Exceeded   Kind = "exceeded"    // a budget was exceeded
	Recovered  Kind = "recovered"   // its usage fell below the limit
	GateClosed Kind = "gate_closed" // a pool's launches are blocked by its budget
	GateOpened Kind = "gate_opened" // they are no longer blocked
	Suspend    Kind = "suspend"     // a pool replaces no failing nodes, since many fail
	Unsuspend  Kind = "unsuspend"   // it does again
	Price      Kind = "price"       // the price of an offering in use changed
	Failed     Kind = "failed"      // something about a pool or a budget failed
	RunFailed  Kind = "run_failed"  // a whole run failed
	Grant      Kind = "grant"       // a person added hours to a budget for a while
	Hold       Kind = "hold"        // an operator paused the reconciliation of a pool
	Release    Kind = "release"     // a grant or a hold expired or was released
	Loss       Kind = "loss"        // a document of the ledger could not be read
	Join       Kind = "join"        // an instance became a Ready node
	Replace    Kind = "replace"     // a failing node gets a replacement
	Notice     Kind = "notice"      // Tencent Cloud announced the interruption of an instance
	Withdrawn  Kind = "withdrawn"   // Tencent Cloud withdrew an interruption notice
	Drain      Kind = "drain"       // a drain was requested
	Drained    Kind = "drained"     // it is complete, or timed out
	Uncordon   Kind = "uncordon"    // it was undone
	DeleteNode Kind = "delete_node" // the Node of a terminated instance was deleted
	Revert     Kind = "revert"      // drift of a stock pool was reverted
	Scale      Kind = "scale"       // a stock pool was scaled
)

// Kinds returns all kinds of events.
func Kinds() []Kind {
	return []Kind{
		Launch, Refused, Begin, Reclaim, Lost, End, Terminate, Adopt, Detach, Create, Update, Delete, Destroy, Freeze, Frozen, Unfreeze, Pause, Paused, Resume,
		Evict, Evicted,
		Threshold, Exceeded, Recovered, GateClosed, GateOpened, Price, Failed, RunFailed, Grant, Hold, Release, Loss,
		Join, Replace, Suspend, Unsuspend, Notice, Withdrawn, Drain, Drained, Uncordon, DeleteNode,
		Revert, Scale,
	}
}

// ranks order the kinds by consequence: a pool that lost an instance launches, and the launched
// instance begins.
var ranks = func() map[Kind]int {
	ranks := map[Kind]int{}
	for n, k := range []Kind{
		Create, Update, Delete, Adopt, Grant, Hold, Price, Loss, Notice, Withdrawn, Reclaim, Lost, Threshold, Exceeded, Recovered, GateClosed, GateOpened,
		Paused, Evicted, Suspend, Unsuspend, Freeze, Frozen, Pause, Replace, Drain, Evict, Drained, Uncordon, Unfreeze, Resume, Revert, Scale, Terminate,
		End, Detach, DeleteNode, Release, Launch, Refused, Begin, Join, Destroy, Failed, RunFailed,
	} {
		ranks[k] = n + 1
	}
	return ranks
}()

// Rank orders the events of one second by consequence.
func (k Kind) Rank() int { return ranks[k] }

// Known reports whether this gpupool has events of the kind.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Requested is the outcome of an event of a request, and Done that of one of its observed effect.
const (
	Requested = "requested"
	Done      = "done"
)

func (k Kind) request() bool { return k == Freeze || k == Pause || k == Evict || k == Drain }

// Trouble reports whether the kind is a failure, which is reported again as long as it persists.
func (k Kind) Trouble() bool { return k == Refused || k == Failed || k == RunFailed }
