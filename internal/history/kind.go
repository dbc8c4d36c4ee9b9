package history

import "slices"

// Kind is what an event tells.
type Kind string

// The kinds of events. The list is closed: who adds one adds it to Kinds, too.
const (
	Launch     Kind = "launch"      // the cloud took a launch
	Refused    Kind = "refused"     // the cloud refused a launch
	Begin      Kind = "begin"       // an instance came
	Reclaim    Kind = "reclaim"     // the cloud took an instance back
	End        Kind = "end"         // an instance ended otherwise
	Terminate  Kind = "terminate"   // instances were asked to end
	Adopt      Kind = "adopt"       // instances were taken into a pool
	Create     Kind = "create"      // a pool or a budget was declared
	Update     Kind = "update"      // its declaration changed
	Destroy    Kind = "destroy"     // it was destroyed
	Freeze     Kind = "freeze"      // that new pods are kept out was requested
	Frozen     Kind = "frozen"      // they are, as was observed
	Unfreeze   Kind = "unfreeze"    // they are let in again
	Pause      Kind = "pause"       // that a workload stops was requested
	Paused     Kind = "paused"      // it did, or not in time
	Resume     Kind = "resume"      // it was started again
	Evict      Kind = "evict"       // a pod's eviction was requested
	Evicted    Kind = "evicted"     // the pod ends, or not in time
	Threshold  Kind = "threshold"   // a budget's use reached a percentage that is told of
	Exceeded   Kind = "exceeded"    // a budget was used up
	Recovered  Kind = "recovered"   // its use fell below the limit
	GateClosed Kind = "gate_closed" // a pool may not launch, because of its budget
	GateOpened Kind = "gate_opened" // it may again
	Suspend    Kind = "suspend"     // a pool replaces none of its nodes that fail, since many do
	Unsuspend  Kind = "unsuspend"   // it does again
	Price      Kind = "price"       // an offering in use costs something else
	Failed     Kind = "failed"      // something about a pool or a budget failed
	RunFailed  Kind = "run_failed"  // a whole run failed
	Grant      Kind = "grant"       // a person added hours to a budget for a while
	Hold       Kind = "hold"        // a person keeps a pool from launching and ending
	Release    Kind = "release"     // a grant or a hold ended, by itself or early
	Loss       Kind = "loss"        // a document of the ledger could not be read
	Join       Kind = "join"        // an instance became a Ready node
	Replace    Kind = "replace"     // another instance is to take the place of one that fails as a node
	Notice     Kind = "notice"      // the cloud said that it takes an instance back
	Drain      Kind = "drain"       // a node is to be emptied before its instance ends
	Drained    Kind = "drained"     // that ended: it is empty, or the time was up
	Uncordon   Kind = "uncordon"    // that was undone: the node takes new pods again
	DeleteNode Kind = "delete_node" // the Node of an instance that is gone was deleted
	Mend       Kind = "mend"        // what somebody changed of a stock pool was undone
	Scale      Kind = "scale"       // a stock pool got another number of pods
)

// Kinds returns all kinds of events.
func Kinds() []Kind {
	return []Kind{
		Launch, Refused, Begin, Reclaim, End, Terminate, Adopt, Create, Update, Destroy, Freeze, Frozen, Unfreeze, Pause, Paused, Resume,
		Evict, Evicted,
		Threshold, Exceeded, Recovered, GateClosed, GateOpened, Price, Failed, RunFailed, Grant, Hold, Release, Loss,
		Join, Replace, Suspend, Unsuspend, Notice, Drain, Drained, Uncordon, DeleteNode,
		Mend, Scale,
	}
}

// ranks order the kinds by what may follow from what: a pool that lost an instance
// launches, and what it launched begins.
var ranks = func() map[Kind]int {
	ranks := map[Kind]int{}
	for n, k := range []Kind{
		Create, Update, Adopt, Grant, Hold, Price, Loss, Notice, Reclaim, Threshold, Exceeded, Recovered, GateClosed, GateOpened,
		Paused, Evicted, Suspend, Unsuspend, Freeze, Frozen, Pause, Replace, Drain, Evict, Drained, Uncordon, Unfreeze, Resume, Mend, Scale, Terminate,
		End, DeleteNode, Release, Launch, Refused, Begin, Join, Destroy, Failed, RunFailed,
	} {
		ranks[k] = n + 1
	}
	return ranks
}()

// Rank orders the events of one second as they follow from each other.
func (k Kind) Rank() int { return ranks[k] }

// Known says whether this gpupool tells events of the kind.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Requested is the outcome of an event of what was requested, and Done that of one of what
// was observed of it.
const (
	Requested = "requested"
	Done      = "done"
)

// request says whether the kind tells that something was requested, of which another kind
// tells how it ended.
func (k Kind) request() bool { return k == Freeze || k == Pause || k == Evict || k == Drain }

// Trouble says whether the kind tells of what did not work, and is told again for as
// long as it doesn't.
func (k Kind) Trouble() bool { return k == Refused || k == Failed || k == RunFailed }
